"""One attack: numbered cases, each with an outcome; the same number is the same case.

Cases run in a process of their own, which prints one line per case. Where it
dies, the case after the last line is a crash, and a new process goes on behind it.
"""

import faulthandler
import json
import os
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.errors import PartitaError

RIGHT = "right"
REFUSED = "typed refusal"
FOREIGN = "raw foreign error"
WRONG = "silent wrong"
CRASH = "crash or hang"
LOST = "lost file"
OUTCOMES = (RIGHT, REFUSED, FOREIGN, WRONG, CRASH, LOST)
BAD = (FOREIGN, WRONG, CRASH, LOST)

PATIENCE = 120.0
"""Seconds for one case; a process that takes longer is ended and counts as a crash."""
MEMORY = 8 << 30
"""Bytes that the process of an attack may take: whoever trusts a declared size fails here."""


@dataclass(frozen=True)
class Verdict:
    """What came of a case."""

    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class Attack:
    """A class of attack: how many cases it has, and how to run one by number."""

    count: int
    run: Callable[[int, Path], Verdict]


def judged(work: Callable[[], Verdict | None]) -> Verdict:
    """The verdict of ``work``; its errors are ours or foreign. None means right."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work() or Verdict(RIGHT)
    except PartitaError as error:
        return Verdict(REFUSED, f"{type(error).__name__}: {error}")
    except Exception as error:
        return Verdict(FOREIGN, f"{type(error).__name__}: {str(error)[:200]}")


def spread(count: int, wanted: int | None) -> list[int]:
    """Numbers of the cases to run: all, or so many evenly spread."""
    if wanted is None or wanted >= count:
        return list(range(count))
    return [i * count // wanted for i in range(wanted)]


def in_processes(name: str, numbers: Sequence[int]) -> tuple[Counter[str], list[str]]:
    """Outcomes of an attack's cases, run apart, and what was bad."""
    found: Counter[str] = Counter()
    bad: list[str] = []
    left = list(numbers)
    while left:
        done = _process(name, left)
        for number, outcome, detail in done:
            found[outcome] += 1
            if outcome in BAD:
                bad.append(f"{name}, case {number}: {outcome}: {detail}")
        if len(done) < len(left):
            found[CRASH] += 1
            bad.append(f"{name}, case {left[len(done)]}: {CRASH}")
        left = left[len(done) + 1 :]
    return found, bad


def _process(name: str, numbers: list[int]) -> list[tuple[int, str, str]]:
    command = [sys.executable, "-m", "tests.fuzz", "--worker", name]
    work = subprocess.run(
        command, input=json.dumps(numbers), stdout=subprocess.PIPE, text=True, check=False
    )
    return [tuple(json.loads(line)) for line in work.stdout.splitlines() if line[:1] == "["]


def worker(attack: Attack, numbers: Iterable[int], place: Path) -> None:
    """Run cases here, one line each."""
    _limit_memory()
    complaints: list[str] = []
    sys.unraisablehook = lambda raised: complaints.append(repr(raised.exc_value))
    threading.excepthook = lambda raised: complaints.append(repr(raised.exc_value))
    for number in numbers:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        verdict = attack.run(number, place)
        faulthandler.cancel_dump_traceback_later()
        if complaints:  # what Python would print on the terminal
            verdict = Verdict(FOREIGN, f"{verdict.detail}; printed: {complaints.pop()}")
        print(json.dumps([number, verdict.outcome, verdict.detail]), flush=True)


def _limit_memory() -> None:
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
