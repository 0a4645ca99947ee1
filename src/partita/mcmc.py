"""Effective sample sizes, Monte Carlo errors and R-hat of chains of numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Chains = NDArray[np.float64]

_ONE_SIGMA = (0.1586553, 0.8413447)
"""Probabilities of a normal variable to lie below minus and plus one standard deviation."""


def beta_quantile(a: float, b: float, p: float) -> float:
    """Quantile of the beta law."""
    from scipy.special import betaincinv  # loaded when asked for: a tenth of a second

    return float(betaincinv(a, b, p))


def split(chains: Chains) -> Chains:
    """The halves of each chain as chains of their own; of an odd number the middle is left out."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def rank_normalised(chains: Chains) -> Chains:
    """Normal scores of the ranks among all draws; ties share their mean rank."""
    from scipy.special import ndtri

    _, place, count = np.unique(chains, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(count) - (count - 1) / 2.0
    scores = ndtri((mean_rank - 0.375) / (chains.size + 0.25))
    return np.asarray(scores[place.reshape(chains.shape)])


def rhat(chains: Chains) -> float:
    """Rank-normalised split R-hat, the larger of the one of location and the one of scale."""
    halves = split(chains)
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(rank_normalised(halves)), _rhat(rank_normalised(folded)))


def _rhat(chains: Chains) -> float:
    n = chains.shape[1]
    between = n * chains.mean(axis=1).var(ddof=1)
    within = chains.var(axis=1, ddof=1).mean()
    return float(np.sqrt((between / within + n - 1) / n))


def ess_bulk(chains: Chains) -> float:
    """Effective sample size for the middle of the distribution: of the rank-normalised draws."""
    return _ess(rank_normalised(split(chains)))


def ess_within(chains: Chains) -> float:
    """As ``ess_bulk``, without what lies between the halves of chains.

    Chains that disagree have a small ``ess_bulk``; this number does not know of the others.
    """
    return _ess(rank_normalised(split(chains)), between=False)


def ess_mean(chains: Chains) -> float:
    """Effective sample size for the mean."""
    return _ess(split(chains))


def ess_tail(chains: Chains) -> float:
    """Effective sample size for the 5% and 95% quantiles, the smaller one."""
    ends = np.quantile(chains, (0.05, 0.95))
    return min(_ess(split((chains <= end).astype(np.float64))) for end in ends)


def mcse_mean(chains: Chains) -> float:
    """Monte Carlo standard error of the mean."""
    return float(chains.std(ddof=1)) / math.sqrt(ess_mean(chains))


def mcse_quantile(chains: Chains, prob: float) -> float:
    """Monte Carlo standard error of a quantile: half the width of its one-sigma interval."""
    size = chains.size
    effective = _ess(split((chains <= np.quantile(chains, prob)).astype(np.float64)))
    a, b = effective * prob + 1.0, effective * (1.0 - prob) + 1.0
    low, high = (beta_quantile(a, b, p) * size - 1.0 for p in _ONE_SIGMA)
    ordered = np.sort(chains, axis=None)
    ends = ordered[math.floor(max(low, 0.0))], ordered[math.ceil(min(high, size - 1.0))]
    return float(ends[1] - ends[0]) / 2.0


def _autocovariance(chains: Chains) -> Chains:
    """Autocovariances of each chain, divided by its length."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    power = np.fft.rfft(centred, 2 * n, axis=1)
    return np.asarray(np.fft.irfft(power * np.conj(power), 2 * n, axis=1)[:, :n] / n)


def _ess(chains: Chains, *, between: bool = True) -> float:
    """All draws over twice the sum of their correlations, by Geyer's monotone sequence."""
    if np.ptp(chains) < np.finfo(np.float64).resolution:  # a constant
        return float(chains.size)
    n_chains, n = chains.shape
    covariance = _autocovariance(chains).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    whole = covariance[0]
    if between and n_chains > 1:
        whole = whole + chains.mean(axis=1).var(ddof=1)
    if whole <= (1e-12 * np.ptp(chains)) ** 2:  # every chain is a constant of its own
        return float(chains.size)
    rho = 1.0 - (within - covariance) / whole
    rho[0] = 1.0
    # Sums of neighbours are positive and fall, for a reversible chain; rounding ends that.
    last = 1
    while last < n - 3 and rho[last - 1] + rho[last] > 0.0:
        last += 2
    pairs = rho[: last - 1].reshape(-1, 2).sum(axis=1)
    tau = -1.0 + 2.0 * float(np.minimum.accumulate(pairs).sum()) + max(0.0, float(rho[last - 1]))
    return chains.size / max(tau, 1.0 / math.log10(chains.size))
