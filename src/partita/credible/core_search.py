"""The search for cores: greedy growth of sets of items on whose grouping draws agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._resources import run
from partita._tolerance import MASS
from partita.kernels.arrays import Bools, Ints
from partita.kernels.credible_core import (
    Agreement,
    agreeing,
    branch_and_bound,
    colour_classes,
    grow,
    pack_pairs,
)
from partita.kernels.labels import hash_rows
from partita.labels import Labels, relabel
from partita.posterior import Posterior
from partita.similarity_matrix import similarity

_WORK = 1.5e9
"""Labels that the growth from seeds may read by default: some seconds."""

_BATCH = 16
"""Seeds between two looks at the clock."""

_SHARE = 0.25
"""Largest share of the items of a core that one round takes out."""

_PAIR_BYTES = 1 << 27
"""Memory that the bits of all pairs may take; more items are bounded by colouring alone."""

_COLOURED = 4_000
"""Items up to which the graph of pairs is coloured."""

_READ, _READ_PER_SECOND = 4e10, 2e9
"""Labels that the pairs of that graph may read, in all and in each second of a time limit."""


@dataclass(frozen=True, eq=False)
class WeightedDraws:
    """Distinct draws as the kernels read them, with how often each was drawn, or its weight."""

    rows: Labels
    weights: NDArray[np.float64]
    total: float

    @cached_property
    def tolerance(self) -> float:
        """A weight this little short of a threshold reaches it."""
        return MASS * self.total


@dataclass(frozen=True, eq=False)
class Path:
    """Items in the order in which they came in, their clusters, and the weight after each."""

    order: NDArray[np.int64]
    place: NDArray[np.int32]
    mass: NDArray[np.float64]

    def partial(self, size: int, n_items: int) -> Labels:
        """Labels of the first items of the path, −1 for all others."""
        labels = np.full(n_items, -1, np.int32)
        labels[self.order[:size]] = self.place[:size]
        return labels


@dataclass(frozen=True, eq=False)
class Growth:
    """The best of the paths from seeds: for each size the largest weight, and its path."""

    table: WeightedDraws
    best: NDArray[np.float64]
    path_of: NDArray[np.int64]
    paths: tuple[Path, ...]
    n_starts: int
    n_seeds: int

    def partial(self, prob: float) -> Labels:
        """The largest set found whose weight reaches the probability."""
        floor = prob * self.table.total - self.table.tolerance
        size = int(np.flatnonzero(self.best >= floor)[-1]) + 1
        path = self.paths[int(self.path_of[size - 1])]
        return path.partial(size, int(self.table.rows.shape[1]))


def prepare(posterior: Posterior, some: Bools | None = None) -> WeightedDraws:
    """The distinct draws, of all or of some; unweighted draws keep whole numbers as weights."""
    merged, index, weights = posterior.distinct, posterior.index, posterior.draws.weights
    rows = merged.rows(0, merged.n_draws)
    if some is not None:
        kept, index = np.unique(index[some], return_inverse=True)
        rows, weights = rows[kept], None if weights is None else weights[some]
    mass = np.bincount(index, weights).astype(np.float64)
    return WeightedDraws(rows, mass, float(mass.sum()))


def grow_from(
    table: WeightedDraws,
    seeds: list[int],
    stop: Bools,
    waiting: Bools | None = None,
    target: Labels | None = None,
) -> list[Path]:
    """The path from each seed to all items, the seed included."""
    n = table.rows.shape[1]
    waiting = np.zeros(n, np.bool_) if waiting is None else waiting
    target = np.empty(0, np.int32) if target is None else target
    partial = np.full((len(seeds), n), -1, np.int32)
    partial[np.arange(len(seeds)), seeds] = 0
    thresholds = 0.0, table.tolerance
    grown = [
        grow(table.rows, table.weights, row, *thresholds, waiting=waiting, target=target, stop=stop)
        for row in partial
    ]
    orders = [
        np.concatenate([[seed], order]) for seed, (order, _) in zip(seeds, grown, strict=True)
    ]
    return [
        Path(order, row[order], mass)
        for order, row, (_, mass) in zip(orders, partial, grown, strict=True)
    ]


def work_of_growth(shape: tuple[int, ...], n_clusters: int) -> float:
    """Labels and cells that the growth from one seed to all items reads, about."""
    m, n = shape
    return n * (3.0 * m + float(n_clusters) * min(m, n_clusters))


def grow_from_seeds(
    table: WeightedDraws,
    n_starts: int | None,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    stop: Bools,
) -> Growth:
    """Grow a set from each seed to all items, and keep the best of each size."""
    n = table.rows.shape[1]
    seeds = _distinct_columns(table.rows)
    wanted = n_starts
    if wanted is None:
        wanted = max(1, int(_WORK / work_of_growth(table.rows.shape, table.rows.max() + 1)))
    if wanted < seeds.size:
        tried = np.sort(np.random.default_rng(seed).permutation(seeds)[:wanted])
    else:
        tried = seeds
    best = np.full(n, -1.0)
    path_of = np.zeros(n, np.int64)
    kept: list[Path] = []
    done = 0
    with Status("growing cores from first items") as status:
        while done < tried.size and (done == 0 or not stop[0]):
            batch = tried[done : done + _BATCH].tolist()
            for (path,) in run(lambda one: grow_from(table, [one], stop), batch, n_jobs):
                better = path.mass > best[: path.mass.size]
                if better.any():
                    best[: path.mass.size][better] = path.mass[better]
                    path_of[: path.mass.size][better] = len(kept)
                    kept.append(path)
            done += len(batch)
            status.say(f"{done:,} of {tried.size:,}")
    return Growth(table, best, path_of, tuple(kept), done, seeds.size)


def _distinct_columns(rows: Labels) -> Ints:
    """One of each group of items that are together in every draw."""
    # Labels are canonical, so items are together in every draw when their columns are equal.
    hashes = hash_rows(np.ascontiguousarray(rows.T))
    return np.sort(np.unique(hashes, return_index=True)[1]).astype(np.int64)


def improve(
    table: WeightedDraws,
    partial: Labels,
    prob: float,
    *,
    patience: int,
    rng: np.random.Generator,
    stop: Bools,
) -> tuple[Labels, int]:
    """Take a few items out and grow again, until ``patience`` rounds bring nothing; rounds made.

    Half of the items taken out, at random, have to wait until nothing else fits.
    """
    floor, anywhere = prob * table.total, np.empty(0, np.int32)
    best = partial.copy()
    best_key = (int((best >= 0).sum()), agreeing_weight(table, best))
    idle = rounds = 0
    # A small core has few subsets to take out.
    while idle < min(patience, 8 + 4 * best_key[0]) and best_key[0] < best.size and not stop[0]:
        rounds += 1
        idle += 1
        inside = np.flatnonzero(best >= 0)
        waiting = np.zeros(best.size, np.bool_)
        if inside.size == 1:
            trial = np.full(best.size, -1, np.int32)
            trial[rng.integers(best.size)] = 0
        else:
            most = max(1, min(inside.size - 1, int(_SHARE * inside.size) + 1))
            out = rng.choice(inside, int(rng.integers(1, most + 1)), replace=False)
            waiting[out] = rng.random(out.size) < 0.5
            trial = best.copy()
            trial[out] = -1
            left = np.flatnonzero(trial >= 0)
            _, first, place = np.unique(trial[left], return_index=True, return_inverse=True)
            trial[left] = first.argsort().argsort()[place]  # numbered by first appearance
        _, mass = grow(
            *(table.rows, table.weights, trial, floor, table.tolerance),
            waiting=waiting,
            target=anywhere,
            stop=stop,
        )
        key = (int((trial >= 0).sum()), float(mass[-1]))
        if key > (best_key[0], best_key[1] + table.tolerance):
            idle = 0
        if key >= best_key:
            best, best_key = trial, key
    return best, rounds


def agreeing_weight(table: WeightedDraws, partial: Labels) -> float:
    """Weight of the draws that group the items as the partial labels do."""
    return float(table.weights[agreeing(table.rows, partial)].sum())


def renumber_partial(partial: Labels) -> Labels:
    """Partial labels numbered 0, 1, … in order of first appearance."""
    labels = np.full(partial.size, -1, np.int32)
    inside = np.flatnonzero(partial >= 0)
    labels[inside] = relabel(partial[inside])
    return labels


def nested_path(table: WeightedDraws, partial: Labels, stop: Bools) -> Path:
    """An order in which the items of a set come in one by one, then all others.

    It begins with the item of the set from which the growth keeps most, among a few evenly
    spread over the set.
    """
    inside = np.flatnonzero(partial >= 0)
    seeds = inside[:: max(1, inside.size // 8)].tolist()
    paths = grow_from(table, seeds, stop, partial < 0, partial)
    best = max(paths, key=lambda path: (path.mass.size, path.mass.sum()))
    left = np.setdiff1d(np.concatenate([inside, np.flatnonzero(partial < 0)]), best.order)
    if not left.size:
        return best
    # Stopped early: the rest of the set, then every other item, in a cluster of its own.
    labels = renumber_partial(np.where(partial >= 0, partial, -1))
    order = np.concatenate([inside, np.flatnonzero(labels < 0)])
    place = np.concatenate(
        [labels[inside], labels.max() + 1 + np.arange(order.size - inside.size)]
    ).astype(np.int32)
    mass = np.zeros(order.size)
    mass[: inside.size] = agreeing_weight(table, labels)
    return Path(order, place, mass)


def bound_size(
    posterior: Posterior, prob: float, found: int, work: float, stop: Bools, seconds_left: float
) -> tuple[int, Labels | None]:
    """The most items that can reach a share in these draws, and a larger set if one was met.

    Two items of such a set are together in draws of weight at least ``prob``, or apart in
    draws of that weight. So its items are pairwise joined in the graph of such pairs, and
    there are no more of them than colours.
    """
    draws, n = posterior.draws, posterior.draws.n_items
    if found == n or stop[0]:
        return n, None
    table = prepare(posterior)
    # Unmerged, the weight of a bit set is the number of its bits.
    if draws.weights is None:
        rows, weights = draws.rows(0, draws.n_draws), np.empty(0)
    else:
        rows, weights = table.rows, table.weights
    words_of_bits = -(-rows.shape[0] // 64)
    floor = prob * table.total - table.tolerance
    if n * n * words_of_bits * 8 <= _PAIR_BYTES:
        together = np.empty((n, n, words_of_bits), np.uint64)
        pack_pairs(np.ascontiguousarray(rows.T), together)
        best = np.full(n, -1, np.int64)
        places = max(1, int(table.total / floor))
        agreement, each = Agreement(together, weights, floor), work / words_of_bits
        size, bound, _ = branch_and_bound(
            agreement, together[0, 0], places, each, best, found, stop
        )
        larger = renumber_partial(best.astype(np.int32)) if size > found else None
        return int(bound), larger
    if n <= _COLOURED and float(n) * n * table.rows.shape[0] <= min(
        _READ, _READ_PER_SECOND * seconds_left
    ):
        pairs = similarity(draws)
        joined = np.maximum(pairs, 1.0 - pairs) >= prob - MASS
        np.fill_diagonal(joined, False)
        colours = colour_classes(joined, n, np.empty(n, np.int64), np.empty(n, np.int64))
        return max(found, int(colours)), None
    return n, None
