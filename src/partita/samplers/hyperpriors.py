"""Distributions of a positive parameter that is learned: a concentration, a weight, a rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita._validate import positive
from partita.kernels.arrays import Floats


def _step(curvature: float) -> float:
    """A step of a quadrature: at most 0.6 standard deviations of an integrand so curved."""
    return min(0.1, 0.6 / math.sqrt(max(curvature, 1.0)))


@dataclass(frozen=True)
class Gamma:
    """A gamma distribution, as the prior of a concentration: mean shape/rate.

    Parameters
    ----------
    shape, rate : float
        Positive.

    Notes
    -----
    The concentration is updated once per iteration, at a cost of O(1).

    References
    ----------
    Escobar, M. D. and West, M. (1995), Bayesian density estimation and
    inference using mixtures. Journal of the American Statistical Association 90.

    Examples
    --------
    >>> import partita as pt
    >>> pt.DirichletProcess(pt.Gamma(1, 1))
    DirichletProcess(concentration=Gamma(shape=1.0, rate=1.0))
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            object.__setattr__(self, name, positive(getattr(self, name), f"Gamma {name}"))

    @property
    def mean(self) -> float:
        """shape/rate."""
        return self.shape / self.rate

    def nodes(self, extra: float, n_factors: float = 0.0) -> tuple[Floats, Floats]:
        """log α and log weights of a quadrature for E f(α), f(α) ~ α^extra near 0.

        The trapezoidal rule in log α converges exponentially, because the integrand decays at
        both ends and is analytic in the strip of half-width π/2. ``n_factors`` factors of f that
        grow with α at most as it does make the integrand narrow, and the steps short.
        """
        low = math.log(self.mean) - 45.0 / (self.shape + extra) - 5.0
        high = math.log(self.shape + max(extra, n_factors) + 40.0) - math.log(self.rate) + 3.0
        step = _step(self.shape + n_factors)
        u = np.arange(low, high, step)
        log_density = self.shape * (math.log(self.rate) + u) - math.lgamma(self.shape)
        return u, log_density - self.rate * np.exp(u) + math.log(step)


@dataclass(frozen=True)
class F:
    """An F distribution, as the prior of a Dirichlet weight.

    Density ∝ x^(df1/2 − 1) (1 + x·df1/df2)^(−(df1 + df2)/2). F(6, 3) has its mode at 0.4 and a
    heavy tail: it leaves open whether few or many components have items. Choose it for the weight
    of a :class:`partita.FiniteMixture`.

    Parameters
    ----------
    df1, df2 : float
        Positive degrees of freedom: the density grows like x^(df1/2 − 1) at 0 and falls like
        x^(−df2/2 − 1).

    Notes
    -----
    A weight is updated by one slice step per iteration, at a cost of O(k) for k clusters.

    References
    ----------
    Frühwirth-Schnatter, S., Malsiner-Walli, G. and Grün, B. (2021), Generalized mixtures of finite
    mixtures and telescoping sampling. Bayesian Analysis 16.

    Examples
    --------
    >>> import partita as pt
    >>> pt.FiniteMixture(pt.F(6, 3), dynamic=True).weight
    F(df1=6.0, df2=3.0)
    """

    df1: float
    df2: float

    def __post_init__(self) -> None:
        for name in ("df1", "df2"):
            object.__setattr__(self, name, positive(getattr(self, name), f"F {name}"))

    @property
    def mode(self) -> float:
        """(df1 − 2)/df1 · df2/(df2 + 2); 0 where df1 ≤ 2."""
        return max(self.df1 - 2.0, 0.0) / self.df1 * self.df2 / (self.df2 + 2.0)

    def nodes(self, extra: float, n_factors: float = 0.0) -> tuple[Floats, Floats]:
        """log x and log weights of a quadrature for E f(x), f(x) ~ x^extra near 0; see Gamma."""
        half, tail = self.df1 / 2.0, self.df2 / 2.0
        scale = math.log(self.df1 / self.df2)
        low = -scale - 45.0 / (half + extra) - 5.0
        high = -scale + 45.0 / tail + 5.0
        step = _step(half * tail / (half + tail) + n_factors)
        u = np.arange(low, high, step)
        log_beta = math.lgamma(half) + math.lgamma(tail) - math.lgamma(half + tail)
        log_density = half * (scale + u) - (half + tail) * np.logaddexp(0.0, scale + u) - log_beta
        return u, log_density + math.log(step)
