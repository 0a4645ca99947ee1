"""The search for large sets of items on whose grouping draws agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita._progress import Status
from partita.kernels.arrays import Bools, Floats, Ints
from partita.losses.posterior import Posterior
from partita.partitions.labels import Labels, as_labels

_WORK = 1.5e9
"""Labels that the runs from first items may read by default, some seconds."""

_BATCH = 16
"""Runs between two looks at the clock."""

_SHARE = 0.25
"""Most of the items in a core that one round takes out."""


@dataclass(frozen=True, eq=False)
class WeightedDraws:
    """The distinct draws, as the kernels see them.

    Attributes
    ----------
    rows : ndarray of int32, shape (n_distinct, n_items)
    weights : ndarray of float, shape (n_distinct,)
        How often each was drawn, or its weight.
    total : float
        Sum of the weights.
    """

    rows: Labels
    weights: NDArray[np.float64]
    total: float

    @property
    def tolerance(self) -> float:
        """A weight this little short of a threshold reaches it."""
        return 1e-9 * self.total


@dataclass(frozen=True, eq=False)
class Path:
    """Items in the order in which they came in.

    Attributes
    ----------
    order : ndarray of int64, shape (n_added,)
    place : ndarray of int32, shape (n_added,)
        Cluster each was put into.
    mass : ndarray of float, shape (n_added,)
        Weight of the draws that agree after each.
    """

    order: NDArray[np.int64]
    place: NDArray[np.int32]
    mass: NDArray[np.float64]

    def partial(self, size: int, n_items: int) -> Labels:
        """Labels of the first items of the path, −1 for all others."""
        labels = np.full(n_items, -1, np.int32)
        labels[self.order[:size]] = self.place[:size]
        return labels


@dataclass(frozen=True, eq=False)
class Runs:
    """What the runs from first items found.

    Attributes
    ----------
    posterior : WeightedDraws
    best : ndarray of float, shape (n_items,)
        Largest weight found for sets of 1, 2, … items.
    path_of : ndarray of int64, shape (n_items,)
        Number of the path that has it.
    paths : tuple of Path
    n_starts : int
        First items tried.
    n_firsts : int
        First items there are, items that are together in every draw counted once.
    """

    posterior: WeightedDraws
    best: NDArray[np.float64]
    path_of: NDArray[np.int64]
    paths: tuple[Path, ...]
    n_starts: int
    n_firsts: int

    def partial(self, prob: float) -> Labels:
        """The largest set found whose weight reaches the probability."""
        posterior = self.posterior
        floor = prob * posterior.total - posterior.tolerance
        size = int(np.flatnonzero(self.best >= floor)[-1]) + 1
        path = self.paths[int(self.path_of[size - 1])]
        return path.partial(size, int(posterior.rows.shape[1]))


def prepare(posterior: Posterior) -> WeightedDraws:
    """The distinct draws; unweighted draws keep whole numbers as weights."""
    merged = posterior.distinct
    if posterior.draws.weights is None:
        mass = np.bincount(posterior.index).astype(np.float64)
    else:
        mass = np.array(merged.probabilities)  # a read-only array would compile again
    return WeightedDraws(merged.rows(0, merged.n_draws), mass, float(mass.sum()))


def grow_path(
    posterior: WeightedDraws,
    partial: Labels,
    waiting: Bools | None = None,
    floor: float = 0.0,
) -> Path:
    """Grow a partial partition greedily; ``partial`` receives the labels."""
    return grown(posterior, partial, waiting, floor)[0]


def grown(
    posterior: WeightedDraws, partial: Labels, waiting: Bools | None = None, floor: float = 0.0
) -> tuple[Path, Floats]:
    """The path of :func:`grow_path`, and the weight that each item outside reached last."""
    from partita.kernels.credible.growth import grow

    n = partial.size
    order, mass = np.empty(n, np.int64), np.empty(n)
    alive, reach = np.empty(posterior.rows.shape[0], np.bool_), np.zeros(n)
    waiting = np.zeros(n, np.bool_) if waiting is None else waiting
    rows, weights, tolerance = posterior.rows, posterior.weights, posterior.tolerance
    added = grow(rows, weights, partial, waiting, floor, tolerance, order, mass, alive, reach)
    return Path(order[:added], partial[order[:added]], mass[:added]), reach


def run_from_firsts(
    posterior: WeightedDraws,
    *,
    n_starts: int | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    stop: Callable[[], bool],
) -> Runs:
    """Grow a set from each first item to all items, and keep the best of each size."""
    n = posterior.rows.shape[1]
    firsts = _distinct_columns(posterior.rows)
    wanted = n_starts
    if wanted is None:
        wanted = max(1, int(_WORK / (3.0 * posterior.rows.size)))
    tried = firsts if wanted >= firsts.size else np.sort(rng.permutation(firsts)[:wanted])

    def from_first(first: int) -> Path:
        partial = np.full(n, -1, np.int32)
        partial[first] = 0
        path = grow_path(posterior, partial)
        return Path(
            np.concatenate([[first], path.order]),
            np.concatenate([np.zeros(1, np.int32), path.place]),
            np.concatenate([[posterior.total], path.mass]),
        )

    best = np.full(n, -1.0)
    path_of = np.zeros(n, np.int64)
    kept: list[Path] = []
    done = 0
    with Status("growing cores from first items") as status:
        while done < tried.size and (done == 0 or not stop()):
            batch = tried[done : done + _BATCH].tolist()
            for path in run(from_first, batch, n_jobs):
                better = path.mass > best
                if better.any():
                    best[better] = path.mass[better]
                    path_of[better] = len(kept)
                    kept.append(path)
            done += len(batch)
            status.say(f"{done:,} of {tried.size:,}")
    return Runs(posterior, best, path_of, tuple(kept), done, firsts.size)


def _distinct_columns(rows: Labels) -> Ints:
    """One of each group of items that are together in every draw."""
    from partita.kernels.partitions.labels import hash_rows

    # Labels are canonical, so items are together in every draw when their columns are equal.
    hashes = hash_rows(np.ascontiguousarray(rows.T))
    return np.sort(np.unique(hashes, return_index=True)[1]).astype(np.int64)


def improve(
    posterior: WeightedDraws,
    partial: Labels,
    prob: float,
    *,
    patience: int,
    rng: np.random.Generator,
    stop: Callable[[], bool],
) -> tuple[Labels, int]:
    """Take a few items out and grow again, until ``patience`` rounds bring nothing; rounds made.

    Half of the items taken out, by chance, have to wait until nothing else fits.
    """
    floor = prob * posterior.total
    best = partial.copy()
    best_key = (int((best >= 0).sum()), agreeing_weight(posterior, best))
    idle = rounds = 0
    # A small core has few subsets to take out.
    while idle < min(patience, 8 + 4 * best_key[0]) and best_key[0] < best.size and not stop():
        rounds += 1
        idle += 1
        inside = np.flatnonzero(best >= 0)
        if inside.size == 1:
            trial = np.full(best.size, -1, np.int32)
            trial[rng.integers(best.size)] = 0
            waiting = np.zeros(best.size, np.bool_)
        else:
            most = max(1, min(inside.size - 1, int(_SHARE * inside.size) + 1))
            out = rng.choice(inside, int(rng.integers(1, most + 1)), replace=False)
            waiting = np.zeros(best.size, np.bool_)
            waiting[out] = rng.random(out.size) < 0.5
            trial = best.copy()
            trial[out] = -1
            trial = without_gaps(trial)
        path = grow_path(posterior, trial, waiting, floor)
        size = int((trial >= 0).sum())
        mass = float(path.mass[-1]) if path.mass.size else agreeing_weight(posterior, trial)
        if (size, mass) > (best_key[0], best_key[1] + posterior.tolerance):
            idle = 0
        if (size, mass) >= best_key:
            best, best_key = trial, (size, mass)
    return best, rounds


def agreeing_weight(posterior: WeightedDraws, partial: Labels) -> float:
    """Weight of the draws that group the items as the partial labels do."""
    from partita.kernels.credible.growth import agreeing

    return float(posterior.weights[agreeing(posterior.rows, partial)].sum())


def without_gaps(partial: Labels) -> Labels:
    """Partial labels numbered 0, 1, … in order of first appearance."""
    labels = np.full(partial.size, -1, np.int32)
    inside = np.flatnonzero(partial >= 0)
    labels[inside] = as_labels(partial[inside])
    return labels
