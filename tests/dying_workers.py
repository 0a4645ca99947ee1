"""``python -m tests.dying_workers``: a worker process that dies in the middle of a pass.

Dask makes its labels again from the source and does its work again. Not among the tests: how
soon a worker is back is Dask's affair, and a pass waits for it.
"""

from __future__ import annotations

import faulthandler
import os
import tempfile
from functools import partial
from pathlib import Path

import dask.array as da
import distributed
import numpy as np

import partita as pt
from partita.partitions import passes, pieces

SECONDS = 120
LABELS = np.random.default_rng(5).integers(0, 4, (66, 12))


def die_once(block: passes.Block, *, mark: Path) -> tuple[np.ndarray]:
    """Ends its worker process the first time."""
    if block.start == 20 and not mark.exists():
        mark.touch()
        os._exit(1)
    return (block.counts @ block.rows,)


def main() -> None:
    """One worker dies during sums, another during results by block."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    pieces._MOST_DRAWS, pieces._GROUPS = 4, 8
    ways = {"sums": passes.sum_blocks, "blocks": lambda *a: list(passes.map_blocks(*a))}
    for name, work in ways.items():
        with (
            tempfile.TemporaryDirectory() as place,
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster),
        ):
            once = partial(die_once, mark=Path(place) / "died")
            remote = pt.as_draws(da.from_array(LABELS, chunks=(17, 5)))
            found, wanted = work(once, remote), work(once, pt.as_draws(LABELS))
            assert (Path(place) / "died").exists()
            assert all(map(np.array_equal, found, wanted))
            print(f"{name}: the same with a worker that died")


if __name__ == "__main__":
    main()
