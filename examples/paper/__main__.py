"""``python -m examples.paper``: the paper's digits, or its tables on draws of our own."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from .digits import check_digits
from .draws import MISSING, find_draws
from .own_draws import FULL, QUICK, sections


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.paper", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("digits", "tables"), default="digits")
    parser.add_argument("--draws", type=Path, help="directory of the paper's draws")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="tables from few draws")
    parser.add_argument("--figures", type=Path, help="directory of the figures of `tables`")
    given = parser.parse_args(arguments)
    if given.what == "tables":
        for section in sections(
            replace(QUICK if given.quick else FULL, seed=given.seed), given.figures
        ):
            print(section, flush=True)
        return 0
    folder = given.draws or find_draws()
    if folder is None:
        print(f"skipped: {MISSING}.")
        return 0
    checks = []
    for check in check_digits(folder, seed=given.seed):
        print(check)
        checks.append(check.same)
    print(f"{sum(checks)} of {len(checks)} agree with the paper")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
