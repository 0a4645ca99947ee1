"""``python -m benchmarks.size``: files, lines of code and lines of imports, by package.

A line of code is not blank, not a comment, not part of a docstring (nor of a string that
describes the name above it) and not part of an import.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def count(path: Path) -> Counter[str]:
    """Lines of a file by kind: code, imports, strings that describe, and all."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind = "imports"
        elif isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            kind = "docstrings"
        else:
            continue
        kinds.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), kind))
    code = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in SILENT:
                code.update(range(token.start[0], token.end[0] + 1))
    found = Counter(kinds.get(line, "code") for line in code)
    found["files"] = 1
    found["lines"] = len(path.read_text(encoding="utf-8").splitlines())
    return found


SILENT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
SILENT |= {tokenize.INDENT, tokenize.DEDENT}

COLUMNS = ("files", "lines", "code", "docstrings", "imports")


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "partita"
    packages: dict[str, Counter[str]] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).parts
        package = parts[0] if len(parts) > 1 else "(root)"
        packages.setdefault(package, Counter()).update(count(path))
    packages["all"] = sum(packages.values(), Counter())
    tests = [count(path) for path in (ROOT / "tests").rglob("*.py")]
    packages["tests"] = sum(tests, Counter())
    print(f"{'':>16}" + "".join(f"{name:>12}" for name in COLUMNS))
    for package, found in packages.items():
        print(f"{package:>16}" + "".join(f"{found[name]:>12,}" for name in COLUMNS))


if __name__ == "__main__":
    main()
