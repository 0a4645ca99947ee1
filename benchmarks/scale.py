"""``python -m benchmarks.scale [words …]``: how time and memory grow, 10⁴ to 10⁶ items.

Takes long and needs gigabytes at the end, so it is no part of the usual table. Each
row is a process of its own, because only its end tells how much memory it took.
Words select rows, such as ``200`` or ``1,000,000``; ``--summary`` adds the ball,
the summary and the report, ``--files`` times reading instead, ``--workers 2`` takes
10⁸ labels that are made on the workers of a local Dask cluster, and never seen whole.

Seconds are those of the clock and of the processor: on a busy machine only the
second can be compared. Memory is the peak beyond that of an idle process and of
the labels themselves, in bytes per label.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

SIZES = ((10_000, 200), (100_000, 200), (1_000_000, 200), (10_000, 1_000), (100_000, 1_000))
LARGEST = (1_000_000, 1_000)
CLUSTERS, NOISE = 50, 0.3


def planted(n_items: int, n_draws: int, k: int = CLUSTERS) -> Any:
    """Groups of equal size, a share of the labels of each draw redrawn among two more."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n_items).astype(np.uint8)
    labels = np.empty((n_draws, n_items), np.uint8)
    for row in labels:
        anew = rng.random(n_items, dtype=np.float32) < NOISE
        row[:] = np.where(anew, rng.integers(0, k + 2, n_items, dtype=np.uint8), truth)
    return labels


class Clock:
    """Steps of one process, with what each took."""

    def __init__(self) -> None:
        self.steps: dict[str, tuple[float, float]] = {}

    def time(self, name: str, call: Callable[[], Any]) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        result = call()
        took = time.perf_counter() - wall, time.process_time() - processor
        self.steps[name] = (round(took[0], 2), round(took[1], 2))
        return result


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _row(n_items: int, n_draws: int, *, summary: bool) -> dict[str, Any]:
    """One row, in a process of its own."""
    small = pt.summarize(planted(300, 20, 5), progress=False)
    if summary:
        small.to_html(Path(tempfile.mkdtemp()) / "small.html")
    clock, before = Clock(), _peak()
    labels = planted(n_items, n_draws)
    draws = clock.time("as_draws", lambda: pt.as_draws(labels))
    found = clock.time("estimate", lambda: pt.estimate(draws))
    size = float(labels.size)
    more = (_peak() - before - 2 * size) / size  # the labels twice: as made, and as draws
    row = {
        "items": n_items,
        "draws": n_draws,
        "loss": found.expected_loss,
        "clusters": found.n_clusters,
        "gap": found.gap,
        "bytes per label": round(more, 2),
        "peak GB": round(_peak() / 1e9, 2),
    }
    if summary:
        clock.time("ball", lambda: pt.credible_ball(draws, found))
        whole = clock.time("summarize", lambda: pt.summarize(draws))
        page = Path(tempfile.mkdtemp()) / "report.html"
        clock.time("report", lambda: whole.to_html(page))
        row["report MB"] = round(page.stat().st_size / 1e6, 2)
        row["peak GB"] = round(_peak() / 1e9, 2)
    return row | {"steps": clock.steps}


def _on_workers(n_workers: int, n_items: int, n_draws: int) -> dict[str, Any]:
    """Labels on the worker processes of a cluster of this machine; memory is the driver's."""
    import dask.array as da
    import distributed

    pt.summarize(planted(300, 20, 5), progress=False)
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        clock, before = Clock(), _peak()
        rows = np.arange(n_draws)[:, None]
        source = da.from_array(rows, chunks=(10, 1)).map_blocks(
            _planted_rows, n_items=n_items, dtype=np.uint8, chunks=(10, n_items)
        )
        draws = clock.time("as_draws", lambda: pt.as_draws(source))
        row = draws[0]
        clock.time("expected_loss", lambda: pt.expected_loss(row, draws))
        clock.time("ball", lambda: pt.credible_ball(draws, row))
        found = clock.time("estimate", lambda: pt.estimate(draws))
    return {
        "workers": n_workers,
        "items": n_items,
        "draws": n_draws,
        "clusters": found.n_clusters,
        "settled": found.search.settled,
        "driver GB": round((_peak() - before) / 1e9, 2),
        "steps": clock.steps,
    }


def _planted_rows(numbers: Any, *, n_items: int) -> Any:
    """Draws by their numbers, as a worker makes them."""
    truth = np.random.default_rng(0).integers(0, CLUSTERS, n_items).astype(np.uint8)
    out = np.empty((len(numbers), n_items), np.uint8)
    for row, number in zip(out, numbers[:, 0].tolist(), strict=True):
        rng = np.random.default_rng(number + 1)
        anew = rng.random(n_items, dtype=np.float32) < NOISE
        row[:] = np.where(anew, rng.integers(0, CLUSTERS + 2, n_items, dtype=np.uint8), truth)
    return out


def _file(kind: str, n_items: int, n_draws: int) -> dict[str, Any]:
    """Reading one kind of file, in a process of its own; it is written by another."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"draws{kind}"
        made = "from benchmarks.scale import write; write({!r}, {}, {})"
        code = made.format(os.fspath(path), n_items, n_draws)
        subprocess.run([sys.executable, "-c", code], check=True)
        clock, before = Clock(), _peak()
        draws = clock.time("read_draws", lambda: pt.read_draws(path, transpose=kind == ".parquet"))
    more = (_peak() - before - draws.labels.nbytes) / draws.labels.size
    return {
        "file": kind,
        "items": n_items,
        "draws": n_draws,
        "bytes per label": round(more, 2),
        "steps": clock.steps,
    }


def write(path: str, n_items: int, n_draws: int) -> None:
    """A file of draws, as others write it."""
    labels = planted(n_items, n_draws)
    if path.endswith(".npy"):
        np.save(path, labels)
    elif path.endswith(".csv"):
        with open(path, "w") as file:
            for row in labels:
                file.write(",".join(map(str, row.tolist())) + "\n")
    elif path.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        # A column for each draw: parquet is not made for a million columns.
        pq.write_table(pa.table({f"draw{m}": row for m, row in enumerate(labels)}), path)
    else:
        import zarr

        zarr.save_array(path, labels)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("words", nargs="*", help="only rows whose sizes contain one of these")
    parser.add_argument("--summary", action="store_true", help="ball, summary and report, too")
    parser.add_argument("--files", action="store_true", help="reading files instead")
    parser.add_argument("--workers", type=int, help="10⁸ labels on so many processes instead")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        call = json.loads(options.one)
        print(json.dumps(_file(*call) if isinstance(call[0], str) else _one(call)))
        return
    if options.workers:
        print(json.dumps(_on_workers(options.workers, 100_000, 1_000)))
        return
    rows: list[Any] = [[n, m, options.summary] for n, m in (*SIZES, LARGEST)]
    if options.files:
        rows = [[kind, 1_000_000, 200] for kind in (".npy", ".csv", ".parquet", ".zarr")]
    for row in rows:
        name = " × ".join(f"{part:,}" if isinstance(part, int) else part for part in row[:2])
        if options.words and not any(word in name for word in options.words):
            continue
        command = [sys.executable, "-m", "benchmarks.scale", "--one", json.dumps(row)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout.strip() or f"{name}: {done.stderr.strip()[-300:]}", flush=True)


def _one(call: list[Any]) -> dict[str, Any]:
    n_items, n_draws, summary = call
    return _row(n_items, n_draws, summary=summary)


if __name__ == "__main__":
    main()
