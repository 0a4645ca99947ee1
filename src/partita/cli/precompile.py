"""Compile the search while the chains run: the first demo then takes half the time.

Numba compiles one function at a time in a process, so the second core would be
idle. A process of its own compiles the search into Numba's cache, from which
this one loads it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """In the background of the block, compile what summaries need; done when the block ends."""
    from partita._parallel import count_jobs

    if count_jobs(None) < 2 or _is_compiled():
        yield
        return
    quiet = subprocess.DEVNULL
    code = "from partita.cli.precompile import compile_search; compile_search()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet
    ) as process:
        try:
            yield
            process.wait()
        except BaseException:
            process.kill()
            raise


def _is_compiled() -> bool:
    """Whether the cache has the slowest kernel; True also where there is no cache to fill."""
    from partita.kernels.search.moves import sweep

    cache = getattr(getattr(sweep, "_cache", None), "cache_path", None)
    return cache is None or any(Path(cache).glob("moves.sweep-*.nbi"))


def compile_search() -> None:
    """Summarize draws that are small, but reach every kernel that a demo's draws reach."""
    import numpy as np

    from partita.partitions.draws import Draws
    from partita.summary.summarize import summarize

    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 10)
    noise = rng.integers(0, 6, (400, truth.size))
    labels = np.where(rng.random(noise.shape) < 0.3, noise, truth)
    summarize(Draws(labels, chain=np.repeat(np.arange(4), 100)))
