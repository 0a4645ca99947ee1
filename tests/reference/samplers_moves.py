"""The sampler's moves, and sweeps given parameters, in plain Python, on the same random numbers."""

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from reference.samplers_models import Predictive, log_marginal, xoshiro

LogOpen = Callable[[int], float]
"""Log prior weight of a new cluster when there are k others."""


class Moves:
    """Clusters as lists of items, in the order in which the compiled loops keep them."""

    def __init__(
        self,
        rows: np.ndarray,
        labels: np.ndarray,
        predictive: Predictive,
        sigma: float,
        log_open: LogOpen,
        random: np.ndarray,
    ) -> None:
        self.rows, self.predictive, self.sigma, self.log_open = rows, predictive, sigma, log_open
        self.clusters = [np.flatnonzero(labels == j).tolist() for j in range(labels.max() + 1)]
        self.random = [int(word) for word in random]

    def uniform(self) -> float:
        return (xoshiro(self.random) >> 11) / 2.0**53

    def labels(self) -> np.ndarray:
        labels = np.empty(len(self.rows), int)
        for j, members in enumerate(self.clusters):
            labels[members] = j
        seen: dict[int, int] = {}
        return np.array([seen.setdefault(int(j), len(seen)) for j in labels])

    def log_join(self, item: int, members: list[int]) -> float:
        return math.log(len(members) - self.sigma) + self.predictive(
            self.rows[item], self.rows[members]
        )

    def _where(self, item: int) -> int:
        return next(j for j, members in enumerate(self.clusters) if item in members)

    def _close(self, j: int) -> None:
        self.clusters[j] = self.clusters[-1]
        self.clusters.pop()

    def sweep(self) -> None:
        for item in range(len(self.rows)):
            home = self._where(item)
            self.clusters[home].remove(item)
            if not self.clusters[home]:
                self._close(home)
            log_weights = [self.log_join(item, members) for members in self.clusters]
            alone = self.predictive(self.rows[item], self.rows[:0])
            log_weights.append(self.log_open(len(self.clusters)) + alone)
            weights = np.exp(np.array(log_weights) - max(log_weights))
            target = self.uniform() * weights.sum()
            chosen = int(np.searchsorted(np.cumsum(weights), target, side="right"))
            if chosen == len(self.clusters):
                self.clusters.append([])
            self.clusters[chosen].append(item)

    def _log_share(self, members: list[int]) -> float:
        block = sum(math.log(m - self.sigma) for m in range(1, len(members)))
        return block + log_marginal(self.predictive, self.rows[sorted(members)])

    def _shuffled(self, members: list[int]) -> list[int]:
        for last in range(len(members) - 1, 0, -1):
            other = int(self.uniform() * (last + 1))
            members[last], members[other] = members[other], members[last]
        return members

    def _allocate(self, i: int, j: int, members: list[int], forced: list[int] | None):
        """Halves around i and j and the log probability; forced into i's half where listed."""
        halves, log_q = ([i], [j]), 0.0
        for item in members:
            odds = self.log_join(item, halves[1]) - self.log_join(item, halves[0])
            chance = 1 / (1 + math.exp(-odds))
            if forced is None:
                half = 1 if self.uniform() < chance else 0
            else:
                half = 0 if item in forced else 1
            log_q += math.log(chance) - (0 if half else odds)
            halves[half].append(item)
        return halves, log_q

    def split_merge(self) -> None:
        n = len(self.rows)
        i = int(self.uniform() * n)
        j = int(self.uniform() * (n - 1))
        j += j >= i
        log_accept = math.log(1 - self.uniform())
        at_i, at_j = self._where(i), self._where(j)
        k = len(self.clusters)
        if at_i == at_j:
            members = sorted(set(self.clusters[at_i]) - {i, j})
            halves, log_q = self._allocate(i, j, self._shuffled(members), None)
            gain = self.log_open(k) - self._log_share(self.clusters[at_i])
            gain += sum(self._log_share(half) for half in halves)
            if log_accept < gain - log_q:
                self.clusters[at_i] = halves[0]
                self.clusters.append(halves[1])
            return
        both = self.clusters[at_i] + self.clusters[at_j]
        gain = self._log_share(both) - self.log_open(k - 1)
        gain -= self._log_share(self.clusters[at_i]) + self._log_share(self.clusters[at_j])
        if log_accept >= gain:
            return
        members = sorted(set(both) - {i, j})
        _, log_q = self._allocate(i, j, self._shuffled(members), self.clusters[at_i])
        if log_accept < gain + log_q:
            self.clusters[at_i] = both
            self._close(at_j)


def uniform_of(key: int, item: int) -> float:
    """The number of an item: SplitMix64 at place ``item + 1`` after the key."""
    mask = (1 << 64) - 1
    z = (key + (item + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / 2.0**53


def log_density(kind: str, point: np.ndarray, theta: np.ndarray, levels=()) -> float:
    """Log density of a row given a column of parameters, as the kernels of that kind keep them."""
    d = point.size
    if kind == "normal":
        center, precision = theta[1 : 1 + 2 * d : 2], 2 * theta[2 : 2 + 2 * d : 2]
        there = ~np.isnan(point)
        return float(stats.norm.logpdf(point, center, precision**-0.5)[there].sum())
    if kind == "incomplete":  # a constant, the mean and half the precision of each column
        center, precision = theta[1 : 3 * d : 3], 2 * theta[2 : 3 * d : 3]
        there = ~np.isnan(point)
        return float(stats.norm.logpdf(point, center, precision**-0.5)[there].sum())
    if kind == "poisson":
        rate = np.exp(theta[1 : 1 + d])
        return float(stats.poisson.logpmf(point, rate).sum())
    if kind == "categorical":
        first = np.concatenate([[0], np.cumsum(levels)])
        return float(sum(theta[first[c] + int(point[c])] for c in range(d)))
    factor = np.zeros((d, d))
    factor[np.tril_indices(d)] = theta[1 + d : 1 + d + d * (d + 1) // 2]
    covariance = np.linalg.inv(factor.T @ factor)
    return float(stats.multivariate_normal.logpdf(point, theta[1 : 1 + d], covariance))


def allocate(log_weights: np.ndarray, densities: np.ndarray, key: int) -> tuple[np.ndarray, float]:
    """Slots of rows, whose log densities are (row, cluster), and their log probability."""
    logs = log_weights + densities
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    u = np.array([uniform_of(key, item) for item in range(len(p))])
    slots = (p.cumsum(axis=1) <= u[:, None]).sum(axis=1)
    return slots, float(np.log(p[np.arange(len(p)), slots]).sum())
