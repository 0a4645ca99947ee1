"""Every partition a search has seen, with its distances to the draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.labels import Labels
from partita.losses.base import Loss

GAIN = 1e-12
"""A set of partitions that is better by less than this is not better."""

Set = tuple[int, ...]
"""Numbers of the partitions of one set in its pool."""


class Pool:
    """Partitions, numbered as they come, and the distance of each to every draw.

    Memory: 8 bytes per partition and draw.
    """

    def __init__(self, draws: Draws, loss: Loss, n_jobs: int | None = 1) -> None:
        self.draws = draws
        self.loss = loss
        self.weights = np.array(draws.probabilities)
        self.rows: list[Labels] = []
        self._n_jobs = n_jobs
        self._distances: list[NDArray[np.float64]] = []
        self._number: dict[bytes, int] = {}

    def add(self, labels: Labels) -> int:
        """Number of a partition, which joins the pool when it is new."""
        key = labels.tobytes()
        if key not in self._number:
            self._number[key] = len(self.rows)
            self.rows.append(labels)
            self._distances.append(self.loss.distances(labels, self.draws, self._n_jobs))
        return self._number[key]

    def add_all(self, rows: Iterable[Labels]) -> Set:
        """Numbers of several partitions, each once, in increasing order."""
        return tuple(sorted({self.add(row) for row in rows}))

    def distances(self, members: Sequence[int]) -> NDArray[np.float64]:
        """Distances of some partitions to the draws, shape (n, n_draws)."""
        return np.array([self._distances[i] for i in members])

    def value(self, members: Sequence[int]) -> float:
        """Mean distance of the draws to the nearest of some partitions."""
        return float((self.weights * self.distances(members).min(axis=0)).sum())

    def swapped(self, members: Sequence[int]) -> tuple[Set, float]:
        """Exchange one partition for another of the pool while that helps, the best one first.

        The value of every exchange follows from each draw's nearest and second
        nearest member: a draw whose nearest one leaves goes to the newcomer or
        to the second. O(pool · draws) for all exchanges of a round.
        """
        current = list(members)
        value = self.value(current)
        # Times the weights once: sums then need no matrix product, whose threads would wait
        # for cores that are busy with others' work.
        masses = self.distances(range(len(self.rows))) * self.weights
        while True:
            mine = masses[current]
            order = np.argsort(mine, axis=0, kind="stable")
            nearest = mine.min(axis=0)
            second = np.sort(mine, axis=0)[1] if len(current) > 1 else np.full(nearest.size, np.inf)
            stay = np.minimum(masses, nearest)
            values = np.empty((len(current), len(masses)))
            for out in range(len(current)):
                left = np.flatnonzero(order[0] == out)
                gone = np.minimum(masses[:, left], second[left]) - stay[:, left]
                values[out] = gone.sum(axis=1)
            values += stay.sum(axis=1)
            place, incoming = np.unravel_index(int(values.argmin()), values.shape)
            if values[place, incoming] >= value - GAIN:
                return tuple(sorted(current)), value
            current[place], value = int(incoming), float(values[place, incoming])


def greedy(distances: NDArray[np.float64], weights: NDArray[np.float64], n: int) -> list[int]:
    """Rows that are chosen one by one, each to lower the mean distance to the nearest most."""
    masses = distances * weights
    nearest = np.full(distances.shape[1], np.inf)
    chosen: list[int] = []
    for _ in range(n):
        values = np.minimum(masses, nearest).sum(axis=1)
        values[chosen] = np.inf
        chosen.append(int(values.argmin()))
        nearest = np.minimum(nearest, masses[chosen[-1]])
    return chosen


def spread(
    distances: NDArray[np.float64], weights: NDArray[np.float64], n: int, rng: np.random.Generator
) -> list[int]:
    """Rows that are drawn one by one, each in proportion to its mass and its distance so far."""
    share = np.array(weights)
    chosen: list[int] = []
    nearest = np.full(weights.size, np.inf)
    for _ in range(n):
        chosen.append(int(rng.choice(weights.size, p=share / share.sum())))
        nearest = np.minimum(nearest, distances[chosen[-1]])
        share = weights * nearest
        share[chosen] = 0.0
        if share.sum() <= 0.0:
            share = np.array(weights)
            share[chosen] = 0.0
    return chosen
