"""Compile kernels before they are needed: small runs that reach them.

``partita warmup`` does all of it. The demo compiles the search while its
chains run, which halves its first run: Numba compiles one function at a time
in a process, so the second core would be idle; a process of its own compiles
into Numba's cache, from which this one loads.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita.partitions.draws import Draws


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
    from partita.kernels.search import moves

    cache = getattr(getattr(moves._sweep, "_cache", None), "cache_path", None)
    return cache is None or any(Path(cache).glob("moves._sweep-*.nbi"))


def compile_search() -> None:
    """Summarize draws that are small, but reach every kernel that a demo's draws reach."""
    from partita.summary.summarize import summarize

    summarize(_small_draws())


def compile_losses() -> None:
    """Estimate under every loss that the command line names."""
    from partita.losses.registry import LOSSES
    from partita.search.estimate import estimate

    for loss in LOSSES:
        estimate(_small_draws(), loss=loss)


def compile_samplers() -> None:
    """Sample with every family of kernels that a table of data can need."""
    import numpy as np

    from partita.samplers.bernoulli import BetaBernoulli
    from partita.samplers.categorical import DirichletCategorical
    from partita.samplers.kernel import Kernel
    from partita.samplers.normal import NormalInverseGamma
    from partita.samplers.poisson import GammaPoisson
    from partita.samplers.sample import sample
    from partita.samplers.wishart import NormalInverseWishart

    numbers = np.random.default_rng(0).normal(size=(20, 2))
    counts = np.abs(numbers * 3).round()
    wishart = NormalInverseWishart(mean=0.0, precision=0.5, degrees=4, scale=1.0)
    runs: list[tuple[Kernel, np.ndarray]] = [
        (NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1), numbers),
        (wishart, numbers),
        (BetaBernoulli(a=1, b=1), numbers > 0),
        (DirichletCategorical(weight=1), counts),
        (GammaPoisson(shape=1, rate=1), counts),
    ]
    for kernel, data in runs:
        fit = sample(data, kernel=kernel, draws=5, burn_in=1, chains=2, rng=0, progress=False)
        fit.cluster_parameters(fit.draws.labels[-1])


PARTS = {
    "summarize": compile_search,
    "losses": compile_losses,
    "fit": compile_samplers,
}
"""What can be compiled ahead, by the name of the command or choice that needs it."""


def _small_draws() -> Draws:
    import numpy as np

    from partita.partitions.draws import Draws

    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 10)
    noise = rng.integers(0, 6, (400, truth.size))
    labels = np.where(rng.random(noise.shape) < 0.3, noise, truth)
    return Draws(labels, chain=np.repeat(np.arange(4), 100))
