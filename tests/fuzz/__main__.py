"""``python -m tests.fuzz [class …] [--cases N]`` runs attacks and prints their table."""

import argparse
import json
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path

from . import calls, damaged, force, labelled, processes, saved, spellings
from .harness import OUTCOMES, Attack, in_processes, spread, worker

ATTACKS = {
    "damaged files": Attack(damaged.COUNT, damaged.run),
    "crafted files, known labels": Attack(len(labelled.NAMES), labelled.run),
    "other spellings": Attack(spellings.COUNT, spellings.run),
    "forged results": Attack(saved.COUNT, saved.run),
    "wrong values": Attack(len(calls.calls()), calls.run),
    "outputs over files of users": Attack(force.COUNT, force.run),
    "kills and resumes": Attack(40, processes.kill),
    "interrupts": Attack(120, processes.interrupt),
    "full disks": Attack(150, processes.full_disk),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("classes", nargs="*", metavar="class", help=", ".join(ATTACKS))
    parser.add_argument("--cases", type=int, help="at most so many cases of each class")
    parser.add_argument("--worker", metavar="class", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        with tempfile.TemporaryDirectory() as place, chdir(place):
            worker(ATTACKS[given.worker], json.load(sys.stdin), Path(place))
        return 0
    print("| class | cases |", " | ".join(OUTCOMES), "| s |")
    print("|---|--:|" + "--:|" * len(OUTCOMES) + "--:|")
    failures: list[str] = []
    for name in given.classes or ATTACKS:
        start = time.perf_counter()
        numbers = spread(ATTACKS[name].count, given.cases)
        found, bad = in_processes(name, numbers)
        seconds = time.perf_counter() - start
        counts = " | ".join(f"{found[outcome]:,}" for outcome in OUTCOMES)
        print(f"| {name} | {len(numbers):,} | {counts} | {seconds:.0f} |", flush=True)
        failures += bad
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
