"""Examples that need a library beyond the extras: run where it is there, else shown with a word.

Such a script has a line ``# needs: pymc``.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

NEEDS = re.compile(r"^# needs: (.+)$", re.MULTILINE)


def needs(script: Path) -> list[str]:
    """Libraries that a script names, by the names under which they are imported."""
    found = NEEDS.search(script.read_text(encoding="utf-8"))
    return found[1].split() if found else []


def not_run(folder: Path) -> dict[str, list[str]]:
    """Scripts that cannot run here, as section/name, with what is missing."""
    lacking = {
        f"{script.parent.name}/{script.stem}": [
            name for name in needs(script) if importlib.util.find_spec(name) is None
        ]
        for script in sorted(folder.glob("*/*.py"))
    }
    return {script: missing for script, missing in lacking.items() if missing}


def pattern(scripts: dict[str, list[str]]) -> str:
    """What the path of a script that is run matches, for Sphinx-Gallery."""
    names = "|".join(re.escape(script.rpartition("/")[2]) for script in scripts)
    return rf"/(?!(?:{names})\.py$)[^/]*\.py$" if names else r"\.py$"


def with_note(page: str, missing: list[str]) -> str:
    """The page of a script with a note below its title."""
    title = re.search(r"^(.+)\n(=+)\n", page, re.MULTILINE)
    assert title is not None
    names = " and ".join(missing) + (" was" if len(missing) == 1 else " were")
    note = (
        f"\n.. note::\n   Shown without its output: {names} not installed where these pages "
        f"were built. ``pip install {' '.join(missing)}``, and the script runs as it is.\n"
    )
    return page[: title.end()] + note + page[title.end() :]
