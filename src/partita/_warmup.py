"""Compile kernels before they are needed: small runs that reach them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from partita._validate import choice

if TYPE_CHECKING:
    from partita.draws import Draws


def warmup(*parts: str) -> None:
    """Compile for this machine ahead of the first call, which then answers at once.

    Parameters
    ----------
    *parts : str
        "summarize", "losses" (every loss, not only VI and Binder's), "fit" (every kernel of
        :func:`sample`), "core", "representatives" (with modes and p-values), "path" (prices and
        numbers of clusters). All of them by default.

    Notes
    -----
    It costs up to a few minutes, once; what is compiled already is only loaded. Numba keeps the
    compiled code beside the package, or in ``NUMBA_CACHE_DIR``. ``partita warmup`` does the same
    on the command line.

    Examples
    --------
    >>> import partita as pt
    >>> pt.warmup("summarize")
    """
    wanted = [choice(part, "parts", tuple(PARTS)) for part in parts]
    for part in wanted or PARTS:
        PARTS[part]()


def _summarize() -> None:
    """Summarize draws that are small, but reach every kernel that a demo's draws reach."""
    from partita.summary.summarize import summarize

    summarize(_small_draws())


def _losses() -> None:
    """Estimate under every loss that the command line names."""
    from partita.losses import LOSSES
    from partita.search.estimate import estimate

    for loss in LOSSES:
        estimate(_small_draws(), loss=loss)


def _fit() -> None:
    """Sample with every family of kernels that a table of data can need."""
    from partita.samplers.base import Kernel
    from partita.samplers.discrete import BetaBernoulli, DirichletCategorical, GammaPoisson
    from partita.samplers.normal import NormalInverseGamma, NormalInverseWishart
    from partita.samplers.sample import sample

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


def _core() -> None:
    """Search a core, bound its size, and complete it."""
    from partita.credible.core import credible_core

    credible_core(_small_draws()).completed()


def _representatives() -> None:
    """Choose representatives and bound them, find modes, and rank a hypothesis."""
    from partita.representative.conformal import p_value
    from partita.representative.modes import modes
    from partita.representative.representatives import representatives

    draws = _small_draws()
    representatives(draws)
    modes(draws)
    p_value(draws, draws.labels[0])


def _path() -> None:
    """Follow the price of splitting, and the number of clusters."""
    from partita.search.clusters_curve import clusters_curve
    from partita.search.price_path import price_path

    draws = _small_draws()
    price_path(draws)
    clusters_curve(draws, k=range(3, 6))


PARTS: dict[str, Callable[[], None]] = {
    "summarize": _summarize,
    "losses": _losses,
    "fit": _fit,
    "core": _core,
    "representatives": _representatives,
    "path": _path,
}
"""Functions that compile kernels ahead, by the name of the command or choice."""


def _small_draws() -> Draws:
    from partita.draws import Draws

    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 10)
    noise = rng.integers(0, 6, (400, truth.size))
    labels = np.where(rng.random(noise.shape) < 0.3, noise, truth)
    return Draws(labels, chain=np.repeat(np.arange(4), 100))
