"""Effective sample sizes, Monte Carlo errors and R-hat of chains of numbers."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats

_DIGITS = 2.3e-16

# Wichura (1988), Algorithm AS 241, Applied Statistics 37: numerators and denominators of the
# rational approximations near the middle, in the tails and far out, highest power first.
_MIDDLE = (
    (
        *(2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4),
        *(4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3),
        *(1.3314166789178437745e2, 3.3871328727963666080e0),
    ),
    (
        *(5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4),
        *(2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2),
        *(4.2313330701600911252e1, 1.0),
    ),
)
_TAIL = (
    (
        *(7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1),
        *(1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0),
        *(4.63033784615654529590e0, 1.42343711074968357734e0),
    ),
    (
        *(1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2),
        *(1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0),
        *(2.05319162663775882187e0, 1.0),
    ),
)
_FAR = (
    (
        *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3),
        *(2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0),
        *(5.46378491116411436990e0, 6.65790464350110377720e0),
    ),
    (
        *(2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5),
        *(7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1),
        *(5.99832206555887937690e-1, 1.0),
    ),
)


def normal_quantile(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard normal quantile, for probabilities strictly between 0 and 1."""
    off = p - 0.5
    inner = 0.180625 - off * off
    found = off * _ratio(_MIDDLE, inner)
    out = np.flatnonzero(inner < 0.0)
    tail = np.sqrt(-np.log(np.minimum(p.flat[out], 1.0 - p.flat[out])))
    far = np.where(tail > 5.0, _ratio(_FAR, tail - 5.0), _ratio(_TAIL, tail - 1.6))
    found.flat[out] = np.copysign(far, off.flat[out])
    return found


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    above, below = (np.polyval(np.array(each), x) for each in polynomials)
    return np.asarray(above / below)


def beta_quantile(a: float, b: float, p: float) -> float:
    """The quantile of the beta law: Newton's method on its distribution, kept in a bracket."""
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(100):
        log_density = _log_power(a, b, x) - math.log(x) - math.log1p(-x)
        over = _beta_below(a, b, x) - p
        low, high = (low, x) if over > 0.0 else (x, high)
        step = over * math.exp(-log_density) if log_density > -700.0 else math.inf
        last, x = x, x - step
        if not low < x < high:
            x = (low + high) / 2.0
        if abs(x - last) <= 2.0 * _DIGITS * x:
            break
    return x


def _log_power(a: float, b: float, x: float) -> float:
    """log of x^a (1 − x)^b / B(a, b)."""
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return scale + a * math.log(x) + b * math.log1p(-x)


def _beta_below(a: float, b: float, x: float) -> float:
    """The distribution function of the beta law, by its continued fraction."""
    front = math.exp(_log_power(a, b, x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation; the terms needed grow with the root of a and b."""
    value, above, below = 1.0, 1.0, 0.0
    for j in count(1):
        m = j // 2
        term = m * (b - m) if j % 2 == 0 else -(a + m) * (a + b + m)
        term *= x / ((a + j - 1.0) * (a + j))
        below = 1.0 / (1.0 + term * below)
        above = 1.0 + term / above
        value *= above * below
        if abs(above * below - 1.0) < _DIGITS:
            break
    return 1.0 / value


Chains = NDArray[np.float64]

_ONE_SIGMA = (0.1586553, 0.8413447)
"""Probabilities of a normal variable to lie below minus and plus one standard deviation."""


def split(chains: Chains) -> Chains:
    """The halves of each chain as chains of their own; of an odd number the middle is left out."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def rank_normalised(chains: Chains) -> Chains:
    """Normal scores of the ranks among all draws; ties share their mean rank."""
    _, place, count = np.unique(chains, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(count) - (count - 1) / 2.0
    scores = normal_quantile((mean_rank - 0.375) / (chains.size + 0.25))
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
    """As ``ess_bulk``, but each half of a chain is worth what it is by itself.

    Chains that disagree have a small ``ess_bulk``; this number does not know of the others.
    """
    return sum(_ess(half[None]) for half in rank_normalised(split(chains)))


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


def _ess(chains: Chains) -> float:
    """All draws over twice the sum of their correlations, by Geyer's monotone sequence."""
    if np.ptp(chains) < np.finfo(np.float64).resolution:  # a constant
        return float(chains.size)
    n_chains, n = chains.shape
    covariance = _autocovariance(chains).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    whole = covariance[0]
    if n_chains > 1:
        whole = whole + chains.mean(axis=1).var(ddof=1)
    rho = 1.0 - (within - covariance) / whole
    rho[0] = 1.0
    # Sums of neighbours are positive and fall, for a reversible chain; rounding ends that.
    last = 1
    while last < n - 3 and rho[last - 1] + rho[last] > 0.0:
        last += 2
    pairs = rho[: last - 1].reshape(-1, 2).sum(axis=1)
    tau = -1.0 + 2.0 * float(np.minimum.accumulate(pairs).sum()) + max(0.0, float(rho[last - 1]))
    return chains.size / max(tau, 1.0 / math.log10(chains.size))
