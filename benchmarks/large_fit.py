"""``python -m benchmarks.large_fit 1000000 10``: one command, from a large table to its report.

Makes a table of 20 normal clusters, runs ``partita fit`` on it as a process of its own and
prints seconds of the clock and of the processor, the peak of memory, and the adjusted Rand index
beside that of the Bayes rule. ``--parts FILE`` writes there, as each part ends, its seconds of the
clock and of the processor and the peak of memory so far. ``--file npy`` writes an npy file in place
of a parquet file. Further arguments go to the command.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

PARTS = {
    "reading": "cli.reading.interpret_table",
    "choice of the kernel": "cli.fit._kernel",
    "starts": "samplers.sample.chain_states",
    "sweeps": "samplers.chains.advance_all",
    "sampling, with starts": "samplers.sample.sample",
    "writing the fit": "cli.outputs.write_fit",
    "estimates": "search.estimate.estimate",
    "ball": "credible.ball.credible_ball",
    "items and clusters": "summary.summarize._uncertainty",
    "profiles": "summary.summarize._profiles",
    "diagnostics": "summary.summarize._diagnostics",
    "estimates for comparison": "summary.summarize._for_comparison",
    "representatives": "summary.summarize._representatives",
    "summary, all of it": "summary.summarize.summarize",
    "writing the summary": "cli.outputs.write_summary",
    "report": "cli.outputs.write_report",
}
"""Parts of the command, by the function that is one. Some contain others."""


def run_with_parts(path: str, arguments: list[str]) -> None:
    """The command in this process; a line of the file at the end of each part."""
    import importlib

    from partita.cli import main

    began = time.perf_counter()
    wrapped = {}
    for part, where in PARTS.items():
        module, name = f"partita.{where}".rsplit(".", 1)
        function = getattr(importlib.import_module(module), name)
        wrapped[id(function)] = _timed(part, function, Path(path), began)
    for module in [m for name, m in sys.modules.items() if name.startswith("partita")]:
        for name, value in list(vars(module).items()):
            if id(value) in wrapped:
                setattr(module, name, wrapped[id(value)])
    sys.argv[1:] = arguments
    main()


def _timed(part: str, function: Any, path: Path, began: float) -> Any:
    def timed(*args: Any, **options: Any) -> Any:
        clock, processor = time.perf_counter(), time.process_time()
        try:
            return function(*args, **options)
        finally:
            now, used = time.perf_counter(), time.process_time() - processor
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
            with path.open("a") as file:
                file.write(
                    f"{part:<28}{now - clock:8.1f} s of the clock{used:8.1f} s of "
                    f"the processor, peak {peak:5.2f} GB, at {now - began:.0f} s\n"
                )

    return timed


def make_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[Any, Any, float]:
    """Rows of 20 normals, their clusters, and the index that the Bayes rule reaches."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(20, 3.0))
    centres = rng.normal(0, 1.4, (20, n_columns))
    sd = rng.uniform(0.7, 1.3, 20)
    truth = rng.choice(20, n_rows, p=weights).astype(np.uint8)
    data = rng.normal(size=(n_rows, n_columns))
    data *= sd[truth][:, None]
    data += centres[truth]
    some = slice(0, min(n_rows, 100_000))
    logs = np.stack(
        [
            np.log(w) - n_columns * np.log(s) - ((data[some] - c) ** 2).sum(1) / (2 * s**2)
            for w, c, s in zip(weights, centres, sd, strict=True)
        ]
    )
    return data, truth, rand_index(logs.argmax(axis=0), truth[some])


def rand_index(a: Any, b: Any) -> float:
    """The adjusted Rand index of two label vectors."""
    table = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (a, b), 1.0)

    def pairs(counts: Any) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, first, second = pairs(table), pairs(table.sum(0)), pairs(table.sum(1))
    expected = first * second / pairs(np.array([a.size]))
    return (both - expected) / ((first + second) / 2 - expected)


def write(data: Any, path: Path) -> None:
    """The table as a file."""
    if path.suffix == ".npy":
        np.save(path, data)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{j + 1}": np.ascontiguousarray(data[:, j]) for j in range(data.shape[1])}
    pq.write_table(pa.table(columns), path)


def run(command: list[str], **places: Any) -> tuple[float, float, float, int]:
    """Seconds of the clock and of the processor, peak gigabytes, and the exit code."""
    began = time.perf_counter()
    process = subprocess.Popen(command, **places)
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.perf_counter() - began
    return clock, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2, status


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_fit", description=__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("--file", choices=("parquet", "npy"), default="parquet")
    parser.add_argument("--parts", metavar="FILE", help="where each part's time is written")
    parser.add_argument("--folder", help="where the files go; a temporary one by default")
    options, others = parser.parse_known_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        source = folder / f"big.{options.file}"
        data, truth, best = make_table(options.rows, options.columns)
        write(data, source)
        del data
        code = "import sys; from benchmarks.large_fit import run_with_parts as run"
        code += "; run(sys.argv[1], sys.argv[2:])"
        started = ["-c", code, options.parts] if options.parts else ["-m", "partita"]
        command = [sys.executable, *started, "fit", str(source)]
        command += ["--out", str(folder / "out"), *others]
        clock, processor, peak, status = run(command)
        if status:
            raise SystemExit("partita fit failed")
        with (folder / "out" / "labels.csv").open() as file:
            rows = csv.reader(file)
            next(rows)
            labels = np.fromiter((int(row[1]) for row in rows), np.int64, options.rows)
    print(
        f"{options.rows:,} × {options.columns}, {options.file}: {clock:.0f} s of the clock, ",
        end="",
    )
    print(f"{processor:.0f} s of the processor, {peak:.2f} GB")
    index = rand_index(labels, truth)
    print(f"adjusted Rand index {index:.3f} (Bayes rule {best:.3f}), {labels.max() + 1} clusters")


if __name__ == "__main__":
    main()
