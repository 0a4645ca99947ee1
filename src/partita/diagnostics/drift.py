"""Whether a chain changed its mind: its halves and quarters against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from partita._parallel import count_jobs, run
from partita._validate import Rng, generator
from partita.diagnostics.agreement import (
    MAX_PAIRS,
    RARE,
    choose_pairs,
    counts_in,
    independent_pairs,
    inflation_of_pairs,
    quarters_of,
    spread_out,
    times_mean,
)
from partita.draws import Draws
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import canonical
from partita.scan import chains_of

SEEN = 16
"""Draws of each quarter whose clusters are matched."""

MATCHED_ITEMS = 200
"""Items, at most, whose clusters are compared; a random subset when there are more."""

SHUFFLES = 99
"""Times that draws are dealt to the parts at random."""

FAR_OUT = 3.1
"""Standard deviations that a normal variable exceeds once in a thousand times."""

FORGOTTEN = 3.0
"""Autocorrelation times after which a chain that mixes has forgotten where it was."""

ENOUGH = 10.0
"""Effective draws of a quarter below which differences between quarters say nothing."""


BEGINNINGS = (50, 20, 10)
"""The first 1/50, 1/20 and 1/10 of each chain are compared with what follows the first tenth."""

NOTICEABLE = 0.5
"""Standard deviations by which a beginning must differ to be warned about."""


class Start(NamedTuple):
    """A beginning of the chains that differs from the rest."""

    name: str
    n_draws: int
    shift: float


def first_tenth(functionals: Mapping[str, Floats]) -> Start | None:
    """The functional, of shape (n_chains, n_draws), whose beginning differs most from the rest.

    The mean of the first draws is compared with the means of as many consecutive draws later in
    the same chain, whose spread has all the autocorrelation that there is. Chains may begin on
    different sides, so squares are added: an F test, for all functionals and beginnings looked at.
    """
    from scipy.special import fdtri

    found, most = None, 1.0
    for name, chains in functionals.items():
        n_chains, n = chains.shape
        later = chains[:, n // 10 :]
        sd = float(later.std(axis=1).mean())
        for part in BEGINNINGS:
            size = n // part
            if size < 5 or sd == 0.0:
                continue
            n_windows = later.shape[1] // size
            means = later[:, : n_windows * size].reshape(n_chains, n_windows, size).mean(axis=2)
            centre = means.mean(axis=1)
            freedom = n_chains * (n_windows - 1)
            spread = float(means.var(axis=1, ddof=1).mean()) * (1.0 + 1.0 / n_windows)
            shift = float(np.sqrt(np.square(chains[:, :size].mean(axis=1) - centre).mean()))
            # Means of few draws are not normal: far less often than once in a thousand times.
            chance = 0.01 * RARE / (len(BEGINNINGS) * len(functionals))
            limit = float(fdtri(n_chains, freedom, 1.0 - chance)) * spread
            times = shift**2 / limit if limit > 0.0 else np.inf
            if times > most and shift > NOTICEABLE * sd:
                found, most = Start(name, size, shift / sd), times
    return found


class Drift(NamedTuple):
    """How much the parts of a chain differ, beyond chance; of the chain that differs most."""

    average_sd: float
    maximal_sd: float
    moved: float


def drift(
    draws: Draws, *, inflation: float, rng: Rng | None = 0, n_jobs: int | None = None
) -> Drift:
    """How much the halves and quarters of a chain differ in which items are together.

    A chain that changes from one mode to another of the same shape changes no functional, but
    which items are together. The first two numbers are of pair probabilities, the third of
    matched clusters. Each draw counts as 1/``inflation`` independent ones.
    """
    if draws.n_items < 2:
        return Drift(0.0, 0.0, 0.0)
    part = quarters_of(chains_of(draws)[1])
    first, second, _ = choose_pairs(draws.n_items, MAX_PAIRS, rng)
    items = np.arange(draws.n_items)
    if draws.n_items > MATCHED_ITEMS:
        items = np.sort(generator(rng).choice(draws.n_items, MATCHED_ITEMS, replace=False))
    # Within quarters, where a change from one to the next does not pass for autocorrelation.
    local = inflation_of_pairs(draws._with(chain=part), rng, n_jobs)
    # Side by side: each has a kernel that takes as long as all the rest.
    questions: list[Callable[[], tuple[float, ...]]] = [
        partial(_of_pairs, draws, part, max(inflation, local), first, second, n_jobs),
        partial(_of_clusters, draws, part, inflation, items),
    ]
    pairs, moved = run(lambda question: question(), questions, count_jobs(n_jobs))
    return Drift(*pairs, *moved)


def _of_pairs(
    draws: Draws, part: Ints, inflation: float, first: Ints, second: Ints, n_jobs: int | None
) -> tuple[float, float]:
    """Standard deviations over the parts of the pair probabilities: their average and largest.

    Of the chain and the division with the largest, beyond what the number of draws in a part
    explains: a probability p from L draws has variance inflation · p(1 − p)/L. From the largest,
    sixteen times that is taken off, because it is the largest of many; from the average, as many
    times as pairs that move together can make it.
    """
    counts, sizes = counts_in(draws, part, first, second, n_jobs)
    together = counts / sizes[:, None]
    average = largest = 0.0
    for chain, (quarters, length) in enumerate(
        zip(together.reshape(-1, 4, first.size), sizes.reshape(-1, 4), strict=True)
    ):
        p = quarters.mean(axis=0)
        seen = [spread_out(np.flatnonzero(part == 4 * chain + q), SEEN) for q in range(4)]
        rows = draws.labels_at(np.concatenate(seen))
        apart = (rows[:, first] == rows[:, second]) - np.repeat(
            quarters, [s.size for s in seen], axis=0
        )
        independent = independent_pairs(apart)
        for parts in (quarters, quarters.reshape(2, 2, -1).mean(axis=1)):
            draws_each = length.sum() / len(parts)
            # The fewer effective draws a part has, the less is known of the autocorrelation.
            unsure = 1.0 + 20.0 * inflation / draws_each
            noise = unsure * inflation * p * (1.0 - p) / draws_each
            spread = parts.var(axis=0, ddof=1)
            usual = times_mean((len(parts) - 1) * independent, RARE)
            average = max(average, float((spread - usual * noise).mean()))
            largest = max(largest, float((spread - 16.0 * noise).max()))
    return average**0.5, largest**0.5


def _of_clusters(draws: Draws, part: Ints, inflation: float, items: Ints) -> tuple[float]:
    """Share of the items that change clusters between two parts, beyond the share within them.

    Clusters of two draws are matched one to one with the largest overlap, and the items outside
    it are counted. Of the chain and the two quarters or halves that differ most, and beyond what
    the same draws show when they are dealt to the parts at random, the most of many times. A chain
    that moves to and fro has parts alike: there draws that follow each other are compared.
    """
    if draws.n_draws / inflation < 4.0 * ENOUGH * draws.n_chains:
        return (0.0,)
    largest = 0.0
    shuffle = np.random.default_rng(0)
    for quarter in range(0, int(part.max()) + 1, 4):
        seen = [spread_out(np.flatnonzero(part == quarter + q), SEEN) for q in range(4)]
        rows = canonical(draws.labels_at(np.concatenate(seen))[:, items])
        apart = _mismatches(rows)
        quarters = np.repeat(np.arange(4), [s.size for s in seen])
        for parts in (quarters, quarters // 2):
            dealt = np.stack([parts, *(shuffle.permutation(parts) for _ in range(SHUFFLES))])
            beyond = _beyond(apart, dealt)
            largest = max(largest, float(beyond[0] - beyond[1:].max()))
        # Draws far enough from each other for a chain that mixes to have forgotten.
        step = int(np.ceil(FORGOTTEN * inflation * len(apart) / sum(part // 4 == quarter // 4)))
        if len(apart) >= step * SEEN:
            largest = max(largest, _nearer_to_the_next(apart[::step, ::step], shuffle))
    return (largest,)


def _nearer_to_the_next(apart: Floats, shuffle: np.random.Generator) -> float:
    """By how much nearer draws are to the next one seen than to any; 0 where that is chance."""
    n = len(apart)
    orders = np.stack([np.arange(n), *(shuffle.permutation(n) for _ in range(SHUFFLES))])
    steps = apart[orders[:, :-1], orders[:, 1:]].mean(axis=1)
    any_two = float(steps[1:].mean())
    nearer = any_two - float(steps[0])
    return nearer if nearer > FAR_OUT * float(steps[1:].std()) else 0.0


def _mismatches(rows: Int32s) -> Floats:
    """Share of the items outside the largest overlap of matched clusters, for all pairs of rows."""
    from partita.kernels.uncertainty import align_rows

    clusters = rows.max(axis=1).astype(np.int64) + 1
    apart = np.zeros((len(rows), len(rows)))
    for r in range(len(rows) - 1):
        aligned = np.empty_like(rows[r + 1 :])
        align_rows(rows[r], int(clusters[r]), rows[r + 1 :], clusters[r + 1 :], aligned)
        apart[r, r + 1 :] = apart[r + 1 :, r] = (aligned != rows[r]).mean(axis=1)
    return apart


def _beyond(apart: Floats, parts: Ints) -> Floats:
    """For each row of parts, the largest excess of the mean between two over that within them."""
    n_parts = int(parts.max()) + 1
    members = (parts[:, :, None] == np.arange(n_parts)).astype(np.float64)
    count = members.sum(axis=1)
    total = members.transpose(0, 2, 1) @ apart @ members
    within = np.diagonal(total, axis1=1, axis2=2) / (count * np.maximum(1.0, count - 1.0))
    between = total / (count[:, :, None] * count[:, None, :])
    excess = between - (within[:, :, None] + within[:, None, :]) / 2.0
    return np.asarray(excess[:, ~np.eye(n_parts, dtype=np.bool_)].max(axis=1))
