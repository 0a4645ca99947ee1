"""Whether a chain changed its mind: its halves and quarters against each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from partita._parallel import count_jobs, run
from partita._validate import Rng, generator
from partita.diagnostics.agreement import MAX_PAIRS, choose_pairs, together_in
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.partitions.draws import Draws
from partita.partitions.functionals import chains_of
from partita.partitions.labels import canonical

SEEN = 16
"""Draws of each quarter whose clusters are matched."""

MATCHED_ITEMS = 200
"""Items, at most, whose clusters are compared; a random subset when there are more."""

SHUFFLES = 99
"""Times that draws are dealt to the parts at random."""

RARE = 3.1
"""Standard deviations that a normal variable exceeds once in a thousand times."""

ENOUGH = 10.0
"""Effective draws of a quarter below which differences between quarters say nothing."""


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
    names, number = chains_of(draws)
    part = np.empty(draws.n_draws, np.int64)
    for chain in range(names.size):
        rows = np.flatnonzero(number == chain)
        part[rows] = 4 * chain + 4 * np.arange(rows.size) // rows.size
    first, second, _ = choose_pairs(draws.n_items, MAX_PAIRS, rng)
    items = np.arange(draws.n_items)
    if draws.n_items > MATCHED_ITEMS:
        items = np.sort(generator(rng).choice(draws.n_items, MATCHED_ITEMS, replace=False))
    # Side by side: each has a kernel that takes as long as all the rest.
    questions: list[Callable[[], tuple[float, ...]]] = [
        partial(_of_pairs, draws, part, inflation, first, second, n_jobs),
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
    together, sizes = together_in(draws, part, first, second, n_jobs)
    average = largest = 0.0
    for chain, (quarters, length) in enumerate(
        zip(together.reshape(-1, 4, first.size), sizes.reshape(-1, 4), strict=True)
    ):
        p = quarters.mean(axis=0)
        seen = [_spread_out(np.flatnonzero(part == 4 * chain + q)) for q in range(4)]
        rows = draws.labels_at(np.concatenate(seen))
        apart = (rows[:, first] == rows[:, second]) - np.repeat(
            quarters, [s.size for s in seen], axis=0
        )
        independent = _independent(apart)
        for parts in (quarters, quarters.reshape(2, 2, -1).mean(axis=1)):
            draws_each = length.sum() / len(parts)
            noise = inflation * p * (1.0 - p) / draws_each
            spread = parts.var(axis=0, ddof=1)
            usual = _most_times((len(parts) - 1) * independent)
            average = max(average, float((spread - usual * noise).mean()))
            largest = max(largest, float((spread - 16.0 * noise).max()))
    return average**0.5, largest**0.5


def _independent(apart: Floats) -> float:
    """How many independent pairs vary as much as these, (tr C)²/tr C² of their covariances C.

    One where all pairs change with the mode that a draw is in. Rows are draws, centred.
    """
    products = apart @ apart.T
    own = products.diagonal().mean()
    others = products[~np.eye(len(products), dtype=np.bool_)]
    squared = float((others**2).mean()) if others.size else 0.0
    return max(1.0, float(own) ** 2 / squared) if squared > 0.0 else float(apart.shape[1])


def _most_times(freedom: float) -> float:
    """How many times its mean a χ² variable is, once in a thousand times (Wilson and Hilferty)."""
    part = 2.0 / (9.0 * freedom)
    return float((1.0 - part + RARE * part**0.5) ** 3)


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
        seen = [_spread_out(np.flatnonzero(part == quarter + q)) for q in range(4)]
        rows = canonical(draws.labels_at(np.concatenate(seen))[:, items])
        apart = _mismatches(rows)
        quarters = np.repeat(np.arange(4), [s.size for s in seen])
        for parts in (quarters, quarters // 2):
            dealt = np.stack([parts, *(shuffle.permutation(parts) for _ in range(SHUFFLES))])
            beyond = _beyond(apart, dealt)
            largest = max(largest, float(beyond[0] - beyond[1:].max()))
        largest = max(largest, _nearer_to_the_next(apart, shuffle))
    return (largest,)


def _nearer_to_the_next(apart: Floats, shuffle: np.random.Generator) -> float:
    """By how much less draws differ from the next one seen than from any; 0 where that is chance.

    The draws are seen at equal distances, far enough for a chain that mixes to have forgotten.
    """
    n = len(apart)
    orders = np.stack([np.arange(n), *(shuffle.permutation(n) for _ in range(SHUFFLES))])
    steps = apart[orders[:, :-1], orders[:, 1:]].mean(axis=1)
    any_two = float(steps[1:].mean())
    nearer = any_two - float(steps[0])
    return nearer if nearer > RARE * float(steps[1:].std()) else 0.0


def _spread_out(rows: Ints) -> Ints:
    return rows[np.unique(np.linspace(0, rows.size - 1, SEEN).astype(np.int64))]


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
