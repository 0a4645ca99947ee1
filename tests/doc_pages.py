"""The code of a Markdown page, as a reader would run it from top to bottom."""

import doctest
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n)?(?:<!-- needs: (?P<needs>\w+) -->\n)?"
    r"```(?P<language>python|pycon|sh)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    code: str
    line: int
    needs: str | None = None


def page_names() -> list[str]:
    """Every page that is written by hand."""
    made = ("_build", "generated", "gallery", "tools")
    paths = (p.relative_to(DOCS) for p in DOCS.rglob("*.md"))
    return sorted(str(p) for p in paths if p.parts[0] not in made)


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks that run; one under a comment "not run: why" does not."""
    for found in FENCE.finditer(text):
        if not found["skip"]:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(found["language"], found["code"], line, found["needs"])


StandIns = Mapping[str, Callable[[], dict[str, object]]]


def run_page(text: str, name: str, stand_ins: StandIns | None = None) -> list[str]:
    """Run the blocks of a page in one namespace; what went wrong.

    A block that needs a library is replaced by that library's stand-in, where there are any.
    """
    space: dict[str, object] = {"__name__": "__main__"}
    wrong: list[str] = []
    for block in blocks_of(text):
        if block.needs is not None and stand_ins is not None:
            space.update(stand_ins[block.needs]())
        elif block.language == "python":
            exec(compile("\n" * block.line + block.code, name, "exec"), space)
        elif block.language == "pycon":
            wrong += run_examples(block, space, name)
        else:
            wrong += run_commands(block.code)
    return wrong


def run_examples(block: Block, space: dict[str, object], name: str) -> list[str]:
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(block.code, space, name, name, block.line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(test, out=said.append, clear_globs=False)
    space.update(test.globs)
    return said


def run_commands(code: str) -> list[str]:
    """Run the lines that call partita; pip and make are not the page's to run."""
    from click.testing import CliRunner

    from partita.cli.options import cli

    wrong = []
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.partition(" > ")[0], comments=True)
        if words[:1] == ["partita"]:
            done = CliRunner().invoke(cli, words[1:])
            if done.exit_code != 0:
                wrong.append(f"{line}: exit {done.exit_code}\n{done.output}")
    return wrong
