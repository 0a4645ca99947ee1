"""Compile while something else runs.

The demo compiles the search while its chains run, which halves its first run:
Numba compiles one function at a time in a process, so the second core would be
idle; a process of its own compiles into Numba's cache, from which this one loads.
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
    code = "import partita; partita.warmup('summarize')"
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
    from partita.kernels.search import moves

    cache = getattr(getattr(moves._sweep, "_cache", None), "cache_path", None)
    return cache is None or any(Path(cache).glob("moves._sweep-*.nbi"))
