"""``python -m benchmarks [words …]``: time the jobs, print one table.

With ``--check`` each job is compared with ``stored.json``, in yardstick units, and the run fails
if one takes more than ``SLOWER`` times as long, three times in a row. ``--store`` writes that file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.job import Job
from benchmarks.measure import Measurement, measure
from benchmarks.yardstick import Yardstick

PEERS = Path(__file__).with_name("peers.toml")
STORED = Path(__file__).with_name("stored.json")

SLOWER = 1.6
"""The same job varies by up to half between runs on a shared machine."""

CHECKED = 60.0
"""Units up to which a job is quick enough to be checked unless it is named."""


def find_jobs(words: list[str]) -> Iterator[Job]:
    """Jobs of every module whose own or whose module's name contains one of the words."""
    for found in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda m: m.name):
        if found.name == "__main__":
            continue
        module = importlib.import_module(f"benchmarks.{found.name}")
        for job in getattr(module, "JOBS", []):
            text = f"{found.name} {job.name}".lower()
            if not words or any(word.lower() in text for word in words):
                yield job


def peers_of(job: Job, peers: dict[str, list[dict[str, object]]]) -> str:
    """The peers' units, one line each."""
    if job.peer is None:
        return ""
    lines = []
    for peer in peers[job.peer]:
        value = f" → {peer['value']}" if "value" in peer else ""
        units = f"{peer['u']} u" if "u" in peer else "–"
        lines.append(f"{peer['tool']}: {units}{value}")
    return "\n".join(lines)


def add_row(table: Table, found: Measurement, peers: dict[str, list[dict[str, object]]]) -> None:
    target = found.target_units
    table.add_row(
        found.job.name,
        f"{found.seconds:.4f}",
        f"{found.units:.2f}",
        "" if target is None else f"{target:.3g}",
        "" if target is None else ("yes" if found.units <= target else "[bold red]no[/]"),
        "" if found.job.show is None else found.job.show(found.result),
        peers_of(found.job, peers),
    )


def check(jobs: list[Job], stored: dict[str, float], yardstick: Yardstick) -> list[str]:
    """Names of the jobs that have become slower."""
    slower = []
    for job in jobs:
        for _ in range(3):
            ratio = measure(job, yardstick).units / max(stored[job.name], 1.0)  # less is noise
            if ratio <= SLOWER:
                break
        else:
            slower.append(job.name)
        print(f"{ratio:6.2f}  {'slower' if ratio > SLOWER else 'ok':6}  {job.name}", flush=True)
    return slower


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", help="only jobs whose name contains one of these")
    parser.add_argument("--list", action="store_true", help="print the names of the jobs only")
    parser.add_argument("--check", action="store_true", help="fail if a job became slower")
    parser.add_argument("--store", action="store_true", help="store the units of these jobs")
    options = parser.parse_args()
    jobs = list(find_jobs(options.words))
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    if options.check:
        known = [job for job in jobs if job.name in stored]
        quick = [job for job in known if options.words or stored[job.name] <= CHECKED]
        slower = check(quick, stored, Yardstick())
        sys.exit(f"{len(slower)} of {len(quick)} jobs became slower" if slower else 0)
    peers = tomllib.loads(PEERS.read_text(encoding="utf-8"))
    unknown = [job.peer for job in jobs if job.peer is not None and job.peer not in peers]
    if unknown:
        parser.error(f"no peer {unknown[0]!r} in {PEERS.name}")
    # The table must not be folded to 80 columns when it goes into a file.
    console = Console() if Console().is_terminal else Console(width=160)
    if not jobs or options.list:
        console.print("\n".join(job.name for job in jobs) or "no job of that name")
        return
    table = Table(title="1 u = one run of benchmarks/yardstick.py on this machine, now")
    for column in ("job", "seconds", "u", "target u", "met", "reached", "peers"):
        right = column in ("seconds", "u", "target u")
        table.add_column(column, justify="right" if right else "left", no_wrap=right)
    yardstick = Yardstick()
    for job in jobs:
        with console.status(job.name):
            found = measure(job, yardstick)
            stored[job.name] = round(found.units, 2)
            add_row(table, found, peers)
    console.print(table)
    if options.store:
        STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    console.print(f"1 u = {yardstick.seconds():.5f} s at the end")


if __name__ == "__main__":
    main()
