"""Posteriors of named kinds, from easy to hostile, for the contest of the searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import partita as pt

Labels = NDArray[np.int64]
Rng = np.random.Generator


def _redrawn(truth: Labels, n_draws: int, share: float, among: int, rng: Rng) -> Labels:
    """Copies of a partition in which a share of the labels is drawn anew."""
    noise = rng.integers(0, among, (n_draws, truth.size))
    return np.where(rng.random((n_draws, truth.size)) < share, noise, truth)


def flat(n: int, m: int, rng: Rng) -> Labels:
    """No structure: labels drawn uniformly."""
    return rng.integers(0, rng.integers(2, 13), (m, n))


def clear(n: int, m: int, rng: Rng) -> Labels:
    """A few groups with little doubt."""
    k = int(rng.integers(2, 10))
    return _redrawn(rng.integers(0, k, n), m, rng.uniform(0.05, 0.25), k + 2, rng)


def noisy(n: int, m: int, rng: Rng) -> Labels:
    """A few groups, half and more of the labels drawn anew."""
    k = int(rng.integers(2, 10))
    return _redrawn(rng.integers(0, k, n), m, rng.uniform(0.4, 0.8), k + 2, rng)


def many_clusters(n: int, m: int, rng: Rng) -> Labels:
    """About one cluster for every three items."""
    k = max(2, n // 3)
    return _redrawn(rng.integers(0, k, n), m, rng.uniform(0.1, 0.5), k, rng)


def long_tailed(n: int, m: int, rng: Rng) -> Labels:
    """Sizes as those of a Chinese restaurant: few large clusters, many small ones."""
    shares = rng.pareto(0.8, max(4, n // 4)) + 0.05
    truth = rng.choice(shares.size, n, p=shares / shares.sum())
    return _redrawn(truth, m, rng.uniform(0.1, 0.5), shares.size, rng)


def multimodal(n: int, m: int, rng: Rng) -> Labels:
    """Two to four partitions that have nothing in common, each with noise."""
    modes = [rng.integers(0, rng.integers(2, 9), n) for _ in range(rng.integers(2, 5))]
    share = rng.uniform(0.02, 0.3)
    picked = rng.integers(0, len(modes), m)
    return np.stack([_redrawn(modes[p], 1, share, 9, rng)[0] for p in picked])


def nested(n: int, m: int, rng: Rng) -> Labels:
    """A hierarchy: each draw cuts every branch at a level of its own."""
    coarse = rng.integers(0, rng.integers(2, 5), n)
    fine = coarse * 8 + rng.integers(0, rng.integers(2, 9), n)
    finest = fine * 8 + rng.integers(0, rng.integers(2, 5), n)
    levels = np.stack([coarse * 64, fine * 8 + 10_000, finest + 20_000])
    rows = []
    for _ in range(m):
        cut = rng.integers(0, 3, coarse.max() + 1)
        row = levels[cut[coarse], np.arange(n)]
        rows.append(np.where(rng.random(n) < 0.1, rng.choice(row, n), row))
    return np.stack(rows)


def one_cluster(n: int, m: int, rng: Rng) -> Labels:
    """Nearly everything together; some items break away."""
    return _redrawn(np.zeros(n, np.int64), m, rng.uniform(0.05, 0.6), max(3, n // 4), rng)


def singletons(n: int, m: int, rng: Rng) -> Labels:
    """Nearly everything apart; some items meet."""
    return _redrawn(np.arange(n), m, rng.uniform(0.05, 0.6), n, rng)


def restaurant(n: int, m: int, rng: Rng) -> Labels:
    """Draws from a Dirichlet process: a prior that no data have touched."""
    concentration = rng.uniform(0.5, 5.0)
    rows = np.zeros((m, n), np.int64)
    for row in rows:
        used = 1
        for i in range(1, n):
            fresh = rng.random() * (i + concentration) < concentration
            row[i] = used if fresh else row[rng.integers(0, i)]
            used += fresh
        row[:] = row[np.argsort(np.argsort(rng.random(n)))]
    return rows


def ensemble(n: int, m: int, rng: Rng) -> Labels:
    """k-means from random seeds and with random k, on rows of a real table."""
    from scipy.cluster.vq import kmeans2, whiten
    from sklearn import datasets

    tables = ("load_iris", "load_wine", "load_breast_cancer", "load_digits")
    table = getattr(datasets, str(rng.choice(tables)))().data
    rows = table[rng.choice(len(table), min(n, len(table)), replace=False)]
    data = whiten(rows[:, rows.std(axis=0) > 0])
    most = int(rng.integers(3, 13))
    runs = [kmeans2(data, int(rng.integers(2, most + 1)), minit="++", rng=rng)[1] for _ in range(m)]
    return np.stack(runs).astype(np.int64)


def sampled(n: int, m: int, rng: Rng) -> Labels:
    """Our own sampler on the galaxies, on three normals, or on bits without structure."""
    which = int(rng.integers(0, 3))
    kernel: object = "empirical"
    if which == 0:
        data = pt.datasets.galaxies()
    elif which == 1:
        data = rng.choice([-3.0, 0.0, 2.0], n) + rng.normal(size=n)
    else:
        data = (rng.random((n, 6)) < 0.5).astype(np.int64)
        kernel = pt.BetaBernoulli()
    seed = int(rng.integers(0, 1_000_000))
    fit = pt.sample(data, kernel=kernel, draws=m, burn_in=100, chains=1, rng=seed, progress=False)
    return np.array(fit.draws.labels, np.int64)


KINDS: tuple[Callable[[int, int, Rng], Labels], ...] = (
    flat,
    clear,
    noisy,
    many_clusters,
    long_tailed,
    multimodal,
    nested,
    one_cluster,
    singletons,
    restaurant,
    ensemble,
    sampled,
)


def intervals(n: int, m: int, rng: Rng) -> Labels:
    """Items on a line, cut into intervals: at random places, or near places that draws share."""
    place = rng.permutation(n)
    most = int(rng.integers(2, 10))
    shared = rng.choice(n, most, replace=False)
    rows = np.empty((m, n), np.int64)
    loose = rng.random() < 0.5
    width = rng.uniform(0.01, 0.1) * n
    for row in rows:
        count = int(rng.integers(1, most + 1))
        cuts = rng.uniform(0, n, count)
        if not loose:
            cuts = rng.choice(shared, count, replace=False) + width * rng.normal(size=count)
        row[:] = np.searchsorted(np.sort(cuts), place)
    return rows


def ring(n: int, m: int, rng: Rng) -> Labels:
    """Items on a circle, cut into arcs of equal or random length, each draw turned at random."""
    place = rng.permutation(n) / n
    fewest, equal = int(rng.integers(2, 6)), rng.random() < 0.6
    most = fewest if rng.random() < 0.5 else fewest + int(rng.integers(1, 4))
    rows = np.empty((m, n), np.int64)
    for row in rows:
        count = int(rng.integers(fewest, most + 1))
        cuts = np.arange(count) / count if equal else np.sort(rng.random(count))
        row[:] = np.searchsorted(cuts, (place + rng.random()) % 1.0) % count
    return rows


def crossed(n: int, m: int, rng: Rng) -> Labels:
    """Two partitions of many clusters that cross; each draw is one of them, or both, with noise."""
    k = int(rng.integers(2, max(3, n // 10) + 1))
    first, second = rng.integers(0, k, n), rng.integers(0, k + int(rng.integers(0, 3)), n)
    share, both = rng.uniform(0.3, 0.7), rng.choice([0.0, 0.2])
    noise = rng.choice([0.0, 0.05, 0.15])
    modes = np.stack([first, second, first * (k + 3) + second])
    chances = [share * (1 - both), (1 - share) * (1 - both), both]
    rows = modes[rng.choice(3, m, p=chances)]
    return np.where(rng.random((m, n)) < noise, rng.integers(0, k, (m, n)), rows)


def two_modes(n: int, m: int, rng: Rng) -> Labels:
    """Few and many clusters: two unrelated partitions of different coarseness, with noise."""
    few = int(rng.integers(2, 6))
    modes = np.stack([rng.integers(0, few, n), rng.integers(0, few * int(rng.integers(2, 4)), n)])
    rows = modes[(rng.random(m) < rng.uniform(0.3, 0.7)).astype(np.int64)]
    noise = rng.uniform(0.0, 0.25)
    return np.where(rng.random((m, n)) < noise, rng.integers(0, 2 * few, (m, n)), rows)


ORDERED_KINDS: tuple[Callable[[int, int, Rng], Labels], ...] = (
    intervals,
    ring,
    crossed,
    two_modes,
)
"""Ordered items and modes that cross: where local minima are many and far apart."""
