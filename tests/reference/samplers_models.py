"""Reference implementations of the samplers' arithmetic: SciPy densities, one item at a time."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy import stats

Predictive = Callable[[np.ndarray, np.ndarray], float]
"""Log predictive density of a point given the rows of a cluster, which may be none."""


def normal_inverse_gamma(mean, precision, shape, rate) -> Predictive:
    def column(x, seen, mu0, c, a, b):
        n = len(seen)
        mu = (c * mu0 + seen.sum()) / (c + n)
        total = b + 0.5 * (c * mu0**2 + (seen**2).sum() - (c + n) * mu**2)
        scale = math.sqrt(total * (c + n + 1) / ((a + n / 2) * (c + n)))
        return stats.t.logpdf(x, 2 * a + n, mu, scale)

    def predictive(point, seen):
        d = len(point)
        hyper = [np.broadcast_to(h, d) for h in (mean, precision, shape, rate)]
        return sum(column(point[j], seen[:, j], *(h[j] for h in hyper)) for j in range(d))

    return predictive


def normal_inverse_wishart(mean, precision, degrees, scale) -> Predictive:
    def predictive(point, seen):
        d, n = len(point), len(seen)
        mu0 = np.broadcast_to(mean, d)
        posterior = np.eye(d) * scale if np.ndim(scale) == 0 else np.array(scale)
        kappa, nu = precision + n, degrees + n
        center = (precision * mu0 + seen.sum(axis=0)) / kappa
        posterior = posterior + seen.T @ seen
        posterior = posterior + precision * np.outer(mu0, mu0) - kappa * np.outer(center, center)
        free = nu - d + 1
        shape = posterior * (kappa + 1) / (kappa * free)
        return float(stats.multivariate_t.logpdf(point, center, shape, free))

    return predictive


def beta_bernoulli(a, b) -> Predictive:
    def predictive(point, seen):
        d, n = len(point), len(seen)
        ones = np.broadcast_to(a, d) + seen.sum(axis=0)
        p = ones / (np.broadcast_to(a, d) + np.broadcast_to(b, d) + n)
        return float(np.log(np.where(point == 1, p, 1 - p)).sum())

    return predictive


def dirichlet_categorical(weight, n_levels: Sequence[int]) -> Predictive:
    def predictive(point, seen):
        total = 0.0
        for j, levels in enumerate(n_levels):
            same = (seen[:, j] == point[j]).sum()
            total += math.log((weight + same) / (weight * levels + len(seen)))
        return total

    return predictive


def gamma_poisson(shape, rate) -> Predictive:
    def predictive(point, seen):
        d, n = len(point), len(seen)
        a = np.broadcast_to(shape, d) + seen.sum(axis=0)
        b = np.broadcast_to(rate, d) + n
        return float(stats.nbinom.logpmf(point, a, b / (b + 1)).sum())

    return predictive


def product(*parts: tuple[Predictive, list[int]]) -> Predictive:
    def predictive(point, seen):
        return sum(part(point[columns], seen[:, columns]) for part, columns in parts)

    return predictive


def of_present_cells(columns: Sequence[Predictive]) -> Predictive:
    """Independent columns, each of its own density; missing cells take no part."""

    def predictive(point, seen):
        total = 0.0
        for c, column in enumerate(columns):
            if not np.isnan(point[c]):
                there = seen[~np.isnan(seen[:, c])]
                total += column(point[[c]], there[:, [c]])
        return total

    return predictive


def log_marginal(predictive: Predictive, rows: np.ndarray) -> float:
    """Log density of rows together, by the chain rule."""
    return sum(predictive(rows[i], rows[:i]) for i in range(len(rows)))


def log_prior_sizes(kind: str, sizes: Sequence[int], **parameters: float) -> float:
    """Log probability of a partition by seating one item after the other."""
    n = sum(sizes)
    if kind == "finite":
        return _finite_mixture(sizes, n, **parameters)
    alpha, sigma = parameters["concentration"], parameters.get("discount", 0.0)
    total, seated = 0.0, 0
    for number, size in enumerate(sizes):
        for already in range(size):
            weight = already - sigma if already else alpha + sigma * number
            total += math.log(weight / (alpha + seated)) if seated else 0.0
            seated += 1
    return total


def _finite_mixture(sizes, n, weight, components) -> float:
    """Sum over the number of components and all ways to name the clusters."""
    k = len(sizes)
    total = 0.0
    for number, probability in enumerate(components, start=1):
        if number < k or probability == 0:
            continue
        ways = math.perm(number, k)
        log_term = math.lgamma(number * weight) - math.lgamma(number * weight + n)
        log_term += sum(math.lgamma(weight + s) - math.lgamma(weight) for s in sizes)
        total += probability * ways * math.exp(log_term)
    return math.log(total) if total > 0 else -math.inf


def exact_posterior(
    rows: np.ndarray, partitions: np.ndarray, predictive: Predictive, log_prior: np.ndarray
) -> np.ndarray:
    """Probability of each partition of a few rows given the data, by enumeration."""

    @cache
    def cluster(members: tuple[int, ...]) -> float:
        return log_marginal(predictive, rows[list(members)])

    log_joint = np.array(log_prior, float)
    for m, labels in enumerate(partitions):
        for j in range(labels.max() + 1):
            log_joint[m] += cluster(tuple(np.flatnonzero(labels == j).tolist()))
    weights = np.exp(log_joint - log_joint.max())
    return weights / weights.sum()


def xoshiro(state: list[int]) -> int:
    """One step of xoshiro256++ on whole numbers; changes the state."""
    mask = (1 << 64) - 1

    def rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & mask

    result = (rotate((state[0] + state[3]) & mask, 23) + state[0]) & mask
    shifted = (state[1] << 17) & mask
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotate(state[3], 45)
    return result
