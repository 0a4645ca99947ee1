"""``python -m benchmarks [words …]``: time the jobs, print one table."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument("words", nargs="*", help="only jobs whose name contains one of these")
    parser.add_argument("--list", action="store_true", help="print the names of the jobs only")
    options = parser.parse_args()
    jobs = list(find_jobs(options.words))
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
            add_row(table, measure(job, yardstick), peers)
    console.print(table)
    console.print(f"1 u = {yardstick.seconds():.5f} s at the end")


if __name__ == "__main__":
    main()
