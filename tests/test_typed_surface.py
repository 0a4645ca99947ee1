"""To a type checker partita is what its documentation says it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import partita as pt

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "user_scripts"


def test_a_users_script_is_checked_in_every_line():
    """``good.py`` passes mypy --strict; ``bad.py`` fails in the lines that say so, and no other."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(SCRIPTS.glob("*.py")))],
        capture_output=True,
        text=True,
        cwd=ROOT,  # with the project's settings, whose cache `make types` has filled
        env={**os.environ, "MYPYPATH": str(Path(pt.__file__).parents[1])},
        timeout=300,
        check=False,
    )
    found = {
        (Path(match[1]).name, int(match[2]), match[3])
        for match in re.finditer(r"^(\S+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    }
    wanted = {
        (path.name, number, line.rpartition("# wrong: ")[2])
        for path in SCRIPTS.glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "# wrong: " in line
    }
    assert found == wanted, done.stdout + done.stderr
    assert len(wanted) == 12


def test_the_mark_that_types_are_meant_for_others_ships():
    assert (Path(pt.__file__).parent / "py.typed").exists()


def test_no_annotation_says_anything_goes():
    """``X | Any`` is ``Any``: a checker would take everything."""
    source = Path(pt.__file__).parent
    loose = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in sorted(source.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\w\]? \| Any\b|\bAny \| (?!None)", line)
    ]
    assert loose == []
