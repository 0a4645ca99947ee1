"""To a type checker partita is what its documentation says it is."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import partita as pt

ROOT = Path(__file__).parents[1]
SUBMODULES = ("anndata", "arviz", "datasets", "lattice", "plots", "results", "sklearn", "testing")
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
    assert len(wanted) == 24


def test_the_mark_that_types_are_meant_for_others_ships():
    assert (Path(pt.__file__).parent / "py.typed").exists()


IGNORED = {"BayesianMixture.fit(y)", "BayesianMixture.score(y)", "PartitionConsensus.fit(y)"}
"""What scikit-learn hands to every estimator and these do not look at."""


def test_no_public_parameter_takes_anything():
    """Keywords that are handed on (``**params``) are checked where they arrive."""
    loose = {
        f"{where}({parameter.name})"
        for where, function in public_callables()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
        and str(parameter.annotation).removeprefix("typing.") in ("Any", "Any | None", "object")
    }
    assert loose == IGNORED


def public_callables():
    """Functions, and methods of classes with those they inherit from partita."""
    for module in (pt, *(getattr(pt, name) for name in SUBMODULES)):
        for name in getattr(module, "__all__", [n for n in dir(module) if not n.startswith("_")]):
            thing = getattr(module, name)
            if not getattr(thing, "__module__", "").startswith("partita"):
                continue
            if inspect.isfunction(thing):
                yield name, thing
            for cls in thing.__mro__ if inspect.isclass(thing) else ():
                for method, found in vars(cls).items() if "partita" in cls.__module__ else ():
                    function = getattr(found, "__func__", found)
                    shown = not method.startswith("_") or method in ("__init__", "__call__")
                    if shown and inspect.isfunction(function):
                        yield f"{cls.__name__}.{method}", function
