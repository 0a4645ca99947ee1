"""Rates of normal columns with gamma priors, b ~ Gamma(g, h): given a partition, and in a trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._validate import unexpected
from partita.kernels.arrays import Floats
from partita.samplers.checks import PerColumn, per_column
from partita.samplers.hyperpriors import Gamma

Rate = PerColumn | Gamma | tuple[float | Gamma, ...]
"""Rates of columns, some of them with a prior."""

N_VALUES = 64
"""Values of a rate that stand for its distribution given a partition."""


def clean_rate(rate: Any) -> Rate:
    """A number or a gamma prior, or one of them per column."""
    if isinstance(rate, Gamma):
        return rate
    if not isinstance(rate, (list, tuple)) or not any(isinstance(r, Gamma) for r in rate):
        return per_column(rate, "rate", above=0.0)
    cleaned = []
    for each in rate:
        number = each if isinstance(each, Gamma) else per_column(each, "rate", above=0.0)
        if isinstance(number, tuple):
            raise unexpected(rate, "rate", "one number or Gamma per column")
        cleaned.append(number)
    return tuple(cleaned)


def priors_of(rate: Rate, n_columns: int) -> dict[int, Gamma]:
    """The gamma priors by column."""
    if isinstance(rate, Gamma):
        return dict.fromkeys(range(n_columns), rate)
    if not isinstance(rate, tuple):
        return {}
    return {column: each for column, each in enumerate(rate) if isinstance(each, Gamma)}


def starting(rate: Rate) -> PerColumn:
    """Numbers in place of priors: their means."""
    if isinstance(rate, Gamma):
        return rate.mean
    if isinstance(rate, tuple):
        return tuple(each.mean if isinstance(each, Gamma) else each for each in rate)
    return rate


def filled(rate: Rate, rates: Floats) -> PerColumn:
    """The rates with numbers in place of priors, in the order of their columns."""
    if isinstance(rate, Gamma):
        return tuple(rates.tolist())
    if not isinstance(rate, tuple):
        return rate
    numbers = iter(rates.tolist())
    return tuple(next(numbers) if isinstance(each, Gamma) else each for each in rate)


def quantiles_given(prior: Gamma, shape: float, sizes: Floats, spreads: Floats) -> Floats:
    """Evenly spaced quantiles of a rate b given clusters, of which the j-th has spread S_j.

    With variances integrated out p(b | c) ∝ b^(g + ka − 1) e^(−hb) Π_j (b + S_j)^−(a + n_j/2).
    This is log-concave in log b: a grid around its mode holds it all.
    """
    from scipy.optimize import brentq

    total, own = prior.shape + shape * sizes.size, shape + sizes / 2

    def slope(u: float) -> float:
        b = np.exp(u)
        return float(total - prior.rate * b - (own * b / (b + spreads)).sum())

    low = high = np.log(prior.mean)
    while slope(low) < 0:
        low -= 2.0
    while slope(high) > 0:
        high += 2.0
    mode = brentq(slope, low, high) if low < high else low

    def log_density(u: Floats) -> Floats:
        b = np.exp(u)
        logs = own[:, None] * np.log(b + spreads[:, None])
        return np.asarray(total * u - prior.rate * b - logs.sum(axis=0))

    width, top = 0.5, log_density(np.array([mode]))[0]
    while log_density(np.array([mode - width, mode + width])).max() > top - 35.0:
        width *= 1.5
    u = np.linspace(mode - width, mode + width, 4001)
    p = np.exp(log_density(u) - top)
    below = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)])
    return np.exp(np.interp((np.arange(N_VALUES) + 0.5) / N_VALUES, below / below[-1], u))


def names_of(columns: tuple[str, ...], learned: tuple[int, ...]) -> tuple[str, ...]:
    """Names of learned rates in a trace."""
    return tuple(f"rate of {columns[column]}" for column in learned)
