"""Fewer draws that may pass for exchangeable, and what was done to get them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita._text import words
from partita.diagnostics.functionals import functionals
from partita.draws import Draws, systematic
from partita.mcmc import ess_mean
from partita.posterior import as_posterior
from partita.scan import by_chain

_MIN_DRAWS = 8
"""Draws per chain below which correlation cannot be estimated."""


@dataclass(frozen=True, eq=False)
class Thinned:
    """Draws thinned to about their effective number.

    Attributes
    ----------
    draws : Draws
        Unweighted.
    said : str
        What was done, in one sentence.
    """

    draws: Draws
    said: str


def thinned(
    draws: Draws, max_draws: int, *, min_draws: int = 1, each_chain: bool = False
) -> Thinned:
    """About as many draws as the given ones are worth: at most ``max_draws``.

    At least ``min_draws`` are kept, where there are as many, whatever they are worth. With
    ``each_chain`` a chain is worth what it is by itself, also where chains disagree.

    Chains are thinned by the least effective number of three functionals
    (number of clusters, entropy, largest cluster); weighted draws are taken by
    a systematic sample of Kish's effective number.
    """
    own = words(draws.kind).draws
    if draws.weights is not None:
        size = max(1, min(max_draws, round(draws.n_effective)))
        rows = systematic(draws.weights, size, np.random.default_rng(0))
        said = f"{size:,} of {draws.n_draws:,} weighted {own}, a systematic sample"
        return Thinned(draws._with(weights=None)._take(rows), said)
    effective = max(
        effective_draws(draws, each_chain=each_chain), float(min(min_draws, draws.n_draws))
    )
    by_correlation = round(draws.n_draws / effective)
    step = max(1, by_correlation, -(-draws.n_draws // max_draws))
    if step == 1:
        return Thinned(draws, f"all {draws.n_draws:,} {own}")
    kept = draws.thin(step)
    reason = "their effective number" if step == by_correlation else f"max_draws={max_draws:,}"
    said = f"every {_ordinal(step)} of {draws.n_draws:,} {own} ({kept.n_draws:,}), for {reason}"
    return Thinned(kept, said)


def effective_draws(draws: Draws, *, each_chain: bool = False) -> float:
    """The least effective number of draws over label-invariant functionals, at most all of them."""
    least = float(draws.n_draws)
    if draws.kind == "ensemble":  # runs have no order in which they could depend on each other
        return least
    for column in functionals(as_posterior(draws)).values():
        chains = by_chain(draws, column)
        if chains.shape[1] < _MIN_DRAWS or np.ptp(column) == 0.0:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            found = sum(ess_mean(c[None]) for c in chains) if each_chain else ess_mean(chains)
            found *= draws.n_draws / chains.size
        if np.isfinite(found):
            least = min(least, found)
    return max(1.0, least)


def _ordinal(number: int) -> str:
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"
