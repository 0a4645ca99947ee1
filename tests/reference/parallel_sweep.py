"""The sweep given parameters, row by row with SciPy's densities, on the same random numbers."""

import numpy as np
from scipy import stats


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
