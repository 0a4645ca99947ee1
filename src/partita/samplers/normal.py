"""Normal kernels: independent columns, the kernel of the paper, and full covariance matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._validate import plain_array, positive, unexpected
from partita._wording import listed
from partita.errors import InvalidDataError, InvalidInputError
from partita.io.data_table import Table, as_table, numbers
from partita.kernels.arrays import Floats, Int32s
from partita.labels import DataSource
from partita.samplers.base import (
    Block,
    Kernel,
    Moments,
    PerColumn,
    at_column,
    cell_sums,
    group_moments,
    per_column,
    present_moments,
    spread,
)
from partita.samplers.priors import Gamma


def varying(table: Table, kind: str) -> Floats:
    """The columns as numbers for a kernel of that kind; each needs two values that differ."""
    values = numbers(table, kind, missing=True)
    present = np.isfinite(values).sum(axis=0)
    if present.min() < 2:
        raise InvalidDataError(
            f"column {table.names[int(present.argmin())]} has {present.min()} values, which "
            "have no variance; the empirical rule needs two or more."
        )
    return _refuse_constant(values, table, "rate = sample variance")


def _refuse_constant(values: Floats, table: Table, rule: str) -> Floats:
    constant = [table.names[j] for j in np.flatnonzero(refuse_extremes(values, table) == 0)]
    if constant:
        raise InvalidDataError(
            f"column {listed(constant)} is constant, so the empirical rule ({rule}) has no "
            "answer. Drop the column, or give the kernel yourself."
        )
    return values


def refuse_extremes(values: Floats, table: Table) -> Floats:
    """Range of each column; refuses numbers whose squares overflow, or that lost digits."""
    largest = np.nanmax(np.abs(values), axis=0)
    ranges = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    for name, high, width in zip(table.names, largest, ranges, strict=True):
        problem = None
        if width == 0:
            continue
        if high > 1e100:
            problem = f"has values up to {high:.2g}, whose squares overflow; divide it first"
        elif width < 1e-100:
            problem = f"has differences of {width:.2g}, whose squares vanish; multiply it first"
        elif width < 1e-12 * high:
            problem = (
                f"varies by {width:.2g} around {high:.2g}, which leaves too few digits; subtract "
                "a constant where the numbers come from"
            )
        if problem:
            raise InvalidDataError(f"column {name!r} {problem}.")
    return np.asarray(ranges)


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


def prior_means(rate: Rate) -> PerColumn:
    """Numbers in place of priors: their means."""
    if isinstance(rate, Gamma):
        return rate.mean
    if isinstance(rate, tuple):
        return tuple(each.mean if isinstance(each, Gamma) else each for each in rate)
    return rate


def with_rates(rate: Rate, rates: Floats) -> PerColumn:
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


@dataclass(frozen=True)
class NormalInverseGamma(Kernel):
    """Normal data with unknown mean and variance, independent columns.

    In each cluster and column, x ~ N(μ, σ²) with the conjugate prior
    μ | σ² ~ N(mean, σ²/precision), σ² ~ InverseGamma(shape, rate). With n items
    the predictive density is Student's t with 2·shape + n degrees of freedom.
    Choose it for real-valued measurements; for correlated columns see
    ``NormalInverseWishart``.

    Parameters
    ----------
    mean : float or sequence of float
        μ0, prior mean of μ; one number, or one per column, as for all of them.
    precision : float or sequence of float
        c > 0: the prior mean counts like this many observations.
    shape : float or sequence of float
        a > 0.
    rate : float, Gamma, or sequence of them
        b > 0; the prior mean of σ² is b/(a − 1) when a > 1. With a prior, ``Gamma(g, h)``, the
        rate of each column is learned: how wide clusters are is then taken from the data. See
        :meth:`hierarchical`.

    Notes
    -----
    One item costs O(K·d) in a sweep over K clusters and d columns. Learned rates are drawn once
    per iteration, at O(N·d), and stand in ``Fit.trace["rate of <column>"]``.

    References
    ----------
    Wade and Ghahramani (2018), section 5, with (μ0, c, a, b). Richardson, S. and Green, P. J.
    (1997), On Bayesian analysis of mixtures with an unknown number of components. Journal of the
    Royal Statistical Society B 59, for the prior of the rate.

    Examples
    --------
    >>> import partita as pt
    >>> pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)
    NormalInverseGamma(mean=0.0, precision=0.5, shape=2.0, rate=1.0)
    >>> pt.NormalInverseGamma.empirical([1.0, 2.0, 6.0])
    NormalInverseGamma(mean=(3.0,), precision=0.5, shape=2.0, rate=(7.0,))
    >>> pt.NormalInverseGamma.hierarchical([1.0, 2.0, 6.0]).rate
    (Gamma(shape=0.2, rate=0.4),)
    """

    mean: PerColumn
    precision: PerColumn
    shape: PerColumn
    rate: Rate

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", per_column(self.mean, "mean"))
        for name in ("precision", "shape"):
            object.__setattr__(self, name, per_column(getattr(self, name), name, above=0.0))
        object.__setattr__(self, "rate", clean_rate(self.rate))

    @classmethod
    def empirical(cls, data: DataSource) -> NormalInverseGamma:
        """The paper's empirical rule, per column: mean, c = 1/2, a = 2, b = sample variance."""
        mean, variance = present_moments(varying(as_table(data), cls.kind))
        return cls(tuple(mean), 0.5, 2.0, tuple(variance))

    @classmethod
    def hierarchical(cls, data: DataSource, *, precision: float = 0.001) -> NormalInverseGamma:
        """Richardson and Green's weakly informative rule, per column of range R.

        μ0 is the middle of the range, a = 2, b ~ Gamma(1/5, 10/R²), and c = 1/1000: in a cluster
        whose deviation is R/30 the mean has the deviation R. (Theirs is N(μ0, R²) whatever the
        variance, which is not conjugate.) Choose it where clusters may be much narrower than the
        data, as with many groups. A larger ``precision`` makes new clusters cheaper: the kernel
        "hierarchical" of :func:`sample` has 1/100 where there is one column.
        """
        values = varying(as_table(data), cls.kind)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        rates = tuple(Gamma(0.2, 10.0 / width**2) for width in (high - low).tolist())
        return cls(tuple((low + high) / 2), precision, 2.0, rates)

    def bind(self, table: Table) -> NormalInverseGamma:
        """Checked against these columns; hyperparameters stay as given."""
        mean, _, _, rate = self._hyper(table.n_columns)
        values = numbers(table, self.kind, missing=True)
        away = np.nanmax(np.abs(values - mean), axis=0, initial=0.0)
        # Squares over rates are multiplied for eight columns at a time.
        wrong = np.flatnonzero(~((away < 1e100) & (away < 3e17 * np.sqrt(rate)) & (rate < 1e200)))
        if wrong.size:
            j = int(wrong[0])
            raise InvalidDataError(
                f"mean={mean[j]:g} and rate={rate[j]:g} are out of proportion to column "
                f"{table.names[j]!r}, whose values are up to {away[j]:.2g} away from that mean.",
                argument="mean",
            )
        return self

    def _hyper(self, d: int) -> tuple[Floats, Floats, Floats, Floats]:
        return (
            spread(self.mean, d, "mean"),
            spread(self.precision, d, "precision"),
            spread(self.shape, d, "shape"),
            spread(prior_means(self.rate), d, "rate"),
        )

    def learned(self, n_columns: int) -> tuple[int, ...]:
        """Columns whose rate has a gamma prior."""
        return tuple(priors_of(self.rate, n_columns))

    def at(self, rates: Floats) -> NormalInverseGamma:
        """With these numbers as learned rates."""
        return replace(self, rate=with_rates(self.rate, rates)) if rates.size else self

    def given(self, values: Floats, labels: Int32s) -> tuple[NormalInverseGamma, ...]:
        """With rates at evenly spaced quantiles of their distributions given the partition.

        Rates of different columns are independent given the partition: their values are combined
        at random (a Latin hypercube).
        """
        d = values.shape[1]
        priors = priors_of(self.rate, d)
        if not priors:
            return (self,)
        return self._given(priors, *group_moments(values, labels))

    def _given(
        self, priors: dict[int, Gamma], n: Floats, average: Floats, deviations: Floats
    ) -> tuple[NormalInverseGamma, ...]:
        a = self._hyper(n.shape[1])[2]
        spreads = self._posterior(n, average, deviations)[3]
        rng = np.random.default_rng(0)
        columns: list[Floats] = []
        for j, prior in priors.items():
            there = n[:, j] > 0
            found = quantiles_given(prior, a[j], n[there, j], spreads[there, j])
            columns.append(found if not columns else rng.permutation(found))
        return tuple(self.at(rates) for rates in np.stack(columns, axis=1))

    def offsets(self, values: Floats, labels: Int32s) -> Floats:
        """E[(μ − μ0)²/σ²] of each cluster and column given the partition, (n_clusters, d)."""
        mean, _, _, b = self._hyper(values.shape[1])
        center, total, shape, spreads = self._posterior(*group_moments(values, labels))
        return np.asarray(shape / (b + spreads) * (center - mean) ** 2 + 1 / total)

    def _posterior(
        self, n: Floats, average: Floats, deviations: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """μ_n, c + n, a + n/2 and b_n − b of clusters and columns by their moments."""
        mean, c, a, _ = self._hyper(n.shape[1])
        total, away = c + n, average - mean
        spreads = 0.5 * (deviations + c * n / total * away**2)
        return mean + n * away / total, total, a + n / 2, spreads

    def _draw_parameters(
        self, values: Floats, labels: Int32s, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """μ and σ² of each cluster and column from their posterior."""
        center, total, shape, spreads = self._posterior(*group_moments(values, labels))
        variance = (self._hyper(values.shape[1])[3] + spreads) / rng.standard_gamma(shape)
        return center + np.sqrt(variance / total) * rng.normal(size=total.shape), variance

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """One block per distinct pair of shape and precision, and one of its incomplete columns."""
        from partita.kernels.gibbs.primitives import CODE

        mean, precision, shape, rate = self._hyper(n_columns)
        priors = priors_of(self.rate, n_columns)
        pairs, which = np.unique(np.stack([shape, precision], 1), axis=0, return_inverse=True)
        found = []
        for number, (a, c) in enumerate(pairs):
            same = np.flatnonzero(which.reshape(-1) == number)
            has_gaps = np.isin(same, list(incomplete))
            both = (same[~has_gaps], CODE.normal), (same[has_gaps], CODE.incomplete)
            for columns, family in both:
                if not columns.size:
                    continue
                block = _block(family, columns, a, c, mean[columns], rate[columns], n_items)
                learned = tuple(
                    (i, priors[j].shape, priors[j].rate)
                    for i, j in enumerate(columns.tolist())
                    if j in priors
                )
                found.append(replace(block, learned=learned))
        return found

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Student's t in each draw: mean, and a random value."""
        hyper = (self.mean, self.precision, self.shape, prior_means(self.rate))
        mean, c, a, b = (at_column(each, column) for each in hyper)
        n, total = cell_sums(same, values)
        _, squares = cell_sums(same, (values - mean) ** 2)
        c_n, a_n = c + n, a + n / 2
        away = total - n * mean
        location = mean + away / c_n
        b_n = b + 0.5 * np.maximum(squares - away**2 / c_n, 0.0)
        scale = np.sqrt(b_n * (c_n + 1) / (a_n * c_n))
        return location, location + scale * rng.standard_t(2 * a_n)

    def hellinger(self, values: Floats, labels: Int32s, rng: np.random.Generator) -> Floats:
        """√(1 − Π √(2σσ'/(σ² + σ'²)) e^{−(μ − μ')²/4(σ² + σ'²)}) over the columns."""
        center, variance = self._draw_parameters(values, labels, rng)
        both = variance[:, None] + variance
        log_affinity = 0.5 * (np.log(2) + 0.5 * np.log(variance[:, None] * variance))
        log_affinity = (
            log_affinity - 0.5 * np.log(both) - (center[:, None] - center) ** 2 / (4 * both)
        )
        return np.asarray(np.sqrt(-np.expm1(np.minimum(log_affinity.sum(axis=2), 0.0))))

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """σ² and μ from their posterior, then n rows."""
        labels = np.zeros(len(values), np.int32)
        center, variance = self._draw_parameters(values, labels, rng)
        return np.asarray(center + np.sqrt(variance) * rng.normal(size=(n, values.shape[1])))

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """``mean`` (μ) and ``variance`` (σ²), shape (n_clusters, d)."""
        return self._moments(names, *group_moments(values, labels))

    def moments_given(
        self, values: Floats, labels: Int32s, names: tuple[str, ...]
    ) -> list[dict[str, Moments]]:
        """The moments under each rate, in one pass over the rows."""
        found, priors = group_moments(values, labels), priors_of(self.rate, values.shape[1])
        kernels = self._given(priors, *found) if priors else (self,)
        return [each._moments(names, *found) for each in kernels]

    def _moments(
        self, names: tuple[str, ...], n: Floats, average: Floats, deviations: Floats
    ) -> dict[str, Moments]:
        center, total, a, spreads = self._posterior(n, average, deviations)
        b = self._hyper(n.shape[1])[3] + spreads
        with np.errstate(divide="ignore"):
            expected = np.where(a > 1, b / np.maximum(a - 1, 1e-300), np.inf)
            around = np.where(a > 2, expected**2 / np.maximum(a - 2, 1e-300), np.inf)
        return {
            "mean": Moments(center, expected / total, names),
            "variance": Moments(expected, around, names),
        }


def _block(
    family: int,
    columns: NDArray[np.intp],
    a: float,
    c: float,
    mean: Floats,
    rate: Floats,
    n_items: int,
) -> Block:
    from scipy.special import gammaln

    from partita.kernels.gibbs.primitives import CODE

    own = family == CODE.incomplete  # columns that stand for themselves
    d = 1 if own else columns.size
    n = np.arange(n_items + 1.0)
    total = c + n
    predictive = gammaln(a + (n + 1) / 2) - gammaln(a + n / 2)
    predictive += 0.5 * np.log(total / (total + 1) / (2 * np.pi))
    marginal = gammaln(a + n / 2) - gammaln(a) + 0.5 * np.log(c / total) - n / 2 * np.log(2 * np.pi)
    tables = [
        d * predictive,
        d * marginal,
        1 / np.maximum(n, 1),
        n / total,
        c * n / (2 * total),
        total / (2 * (total + 1)),
    ]
    if own:
        hyper = np.stack([np.full(rate.size, a), mean, rate, a * np.log(rate)], 1).ravel()
        rows = (3 * rate.size, 5 * rate.size, 1)
    else:
        hyper = np.concatenate([[a], np.stack([mean, rate], 1).ravel(), [a * np.log(rate).sum()]])
        rows = (2 * d, 3 + 2 * d, 1)
    return Block(family, tuple(columns.tolist()), hyper, np.stack(tables), *rows)


# ------------------------------------------------------------------ full covariance matrices


_ADVICE = (
    "A joint density of several columns cannot leave one cell out. Use NormalInverseGamma, or a "
    "Product of kernels over single columns, which integrate missing cells out; or drop these rows."
)


Scale = float | tuple[tuple[float, ...], ...] | Gamma | tuple[Gamma, ...]
"""A multiple of the identity, a matrix, or priors of its diagonal."""

_WARM_UP, _THIN = 50, 3
"""Iterations before the first, and between two, of the values that stand for a learned scale."""


@dataclass(frozen=True)
class NormalInverseWishart(Kernel):
    """Multivariate normal data with unknown mean and covariance.

    In each cluster, x ~ N(μ, Σ) in d dimensions with the conjugate prior
    μ | Σ ~ N(mean, Σ/precision), Σ ~ InverseWishart(degrees, scale). Choose it
    where columns are correlated within clusters; for independent columns
    ``NormalInverseGamma`` is faster and has fewer parameters.

    Parameters
    ----------
    mean : float or sequence of float
        μ0, prior mean of μ; one number, or one per column.
    precision : float
        κ > 0: the prior mean counts like this many observations.
    degrees : float
        ν > d − 1; the prior mean of Σ is scale/(ν − d − 1) when ν > d + 1.
    scale : float, array_like of shape (d, d), Gamma, or one Gamma per column
        Λ, symmetric and positive definite; a number means that multiple of the identity. With
        priors, λ_c ~ Gamma(g_c, h_c), Λ is diagonal and learned: how wide clusters are is then
        taken from the data. See :meth:`hierarchical`.

    Notes
    -----
    One item costs O(K·d² + d³) in a sweep over K clusters. Learned scales are drawn once per
    iteration, at O(K·d³), and stand in ``Fit.trace["scale of <column>"]``.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 3.6; Fraley and Raftery (2007), Journal
    of Classification 24, for the empirical rule; Huang and Wand (2013), Bayesian Analysis 8, for
    a scale with a prior.

    Examples
    --------
    >>> import partita as pt
    >>> pt.NormalInverseWishart(mean=0, precision=0.5, degrees=4, scale=1)
    NormalInverseWishart(mean=0.0, precision=0.5, degrees=4.0, scale=1.0)
    >>> pt.NormalInverseWishart.hierarchical([[1.0, 5.0], [2.0, 3.0], [6.0, 4.0]]).scale
    (Gamma(shape=0.2, rate=0.2), Gamma(shape=0.2, rate=1.25))
    """

    mean: PerColumn
    precision: float
    degrees: float
    scale: Scale

    joint: ClassVar[bool] = True
    learns: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", per_column(self.mean, "mean"))
        object.__setattr__(self, "precision", positive(self.precision, "precision"))
        object.__setattr__(self, "degrees", positive(self.degrees, "degrees"))
        object.__setattr__(self, "scale", _clean_scale(self.scale))

    @classmethod
    def empirical(cls, data: DataSource) -> NormalInverseWishart:
        """A weak prior on the scale of the data.

        μ0 = mean, κ = 0.01, ν = d + 2, and Λ = the columns' sample variances on the diagonal, which
        are then the prior mean of Σ. κ and ν are Fraley and Raftery's (2007): with a larger κ a
        cluster far from the mean of the data costs so much that many columns leave hardly any
        two items together (``docs``, "Known answers").
        """
        values = _varying(data)
        mean, variance = present_moments(values)
        scale = tuple(tuple(row) for row in np.diag(variance).tolist())
        return cls(tuple(mean.tolist()), 0.01, values.shape[1] + 2.0, scale)

    @classmethod
    def hierarchical(cls, data: DataSource) -> NormalInverseWishart:
        """A diagonal scale that is learned, weakly informative for columns of ranges R.

        μ0 is the middle of the range, κ = 0.01, ν = d + 3, λ ~ Gamma(1/5, 5/R²): then each variance
        has the prior of :meth:`NormalInverseGamma.hierarchical`. Choose it where columns are
        correlated within clusters and clusters may be much narrower than the data.
        """
        values = _varying(data)
        low, high = values.min(axis=0), values.max(axis=0)
        scale = tuple(Gamma(0.2, 5.0 / width**2) for width in (high - low).tolist())
        return cls(tuple(((low + high) / 2).tolist()), 0.01, values.shape[1] + 3.0, scale)

    def bind(self, table: Table) -> NormalInverseWishart:
        """Checked against the number of columns; hyperparameters stay as given."""
        _, scale = self._hyper(table.n_columns)
        sizes = np.linalg.eigvalsh(scale)
        if not (sizes.min() > 1e-100 and sizes.max() < 1e100):
            raise InvalidInputError(
                f"scale has eigenvalues from {sizes.min():.2g} to {sizes.max():.2g}, out of "
                "proportion to any data that can be computed with; rescale the columns.",
                argument="scale",
            )
        refuse_extremes(numbers(table, self.kind, missing=True), table)
        return self

    def _hyper(self, d: int) -> tuple[Floats, Floats]:
        """Mean (d,) and scale (d, d)."""
        priors = self.scale if isinstance(self.scale, tuple) else (self.scale,) * d
        if isinstance(priors[0], Gamma):
            scale = np.diag([prior.mean for prior in priors if isinstance(prior, Gamma)])
        else:
            scale = np.asarray(self.scale, np.float64)
        if scale.ndim == 0:
            scale = float(scale) * np.eye(d)
        if scale.shape != (d, d):
            raise InvalidInputError(
                f"scale has shape {scale.shape} for {d} columns of data; expected ({d}, {d}), or "
                "one number.",
                argument="scale",
            )
        if not self.degrees > d - 1:
            raise InvalidInputError(
                f"degrees={self.degrees:g} for {d} columns of data; expected more than {d - 1}.",
                argument="degrees",
            )
        return spread(self.mean, d, "mean"), scale

    def encode(self, table: Table) -> Floats:
        """The columns themselves."""
        return numbers(table, self.kind, advice=_ADVICE)

    def _priors(self, d: int) -> tuple[Gamma, ...]:
        """The prior of each column's scale; none where Λ is given."""
        scales = self.scale if isinstance(self.scale, tuple) else (self.scale,) * d
        return tuple(scale for scale in scales if isinstance(scale, Gamma))

    def learned(self, n_columns: int) -> tuple[int, ...]:
        """All columns, if the scale has priors."""
        return tuple(range(len(self._priors(n_columns))))

    def at(self, rates: Floats) -> NormalInverseWishart:
        """With these numbers on the diagonal of the scale."""
        if not rates.size:
            return self
        return replace(self, scale=tuple(tuple(row) for row in np.diag(rates).tolist()))

    def given(self, values: Floats, labels: Int32s) -> tuple[NormalInverseWishart, ...]:
        """With scales drawn given the partition, by a Gibbs sampler of scales and precisions."""
        from scipy.stats import wishart

        d = values.shape[1]
        priors = self._priors(d)
        if not priors:
            return (self,)
        sizes = np.bincount(labels)
        spreads = [self._posterior(values[labels == j])[2] for j in range(sizes.size)]
        shape = np.array([prior.shape for prior in priors]) + sizes.size * self.degrees / 2
        rate = np.array([prior.rate for prior in priors])
        rng = np.random.default_rng(0)
        scales = np.array([prior.mean for prior in priors])
        found = []
        for iteration in range(_WARM_UP + _THIN * N_VALUES):
            total = np.zeros(d)
            for n, spread_of in zip(sizes, spreads, strict=True):
                inverse = np.linalg.inv(np.diag(scales) + spread_of)
                inverse = (inverse + inverse.T) / 2
                drawn = wishart.rvs(self.degrees + n, inverse, random_state=rng)
                total += np.diag(np.atleast_2d(drawn))
            scales = rng.standard_gamma(shape) / (rate + total / 2)
            if iteration >= _WARM_UP and (iteration - _WARM_UP) % _THIN == 0:
                found.append(self.at(scales))
        return tuple(found)

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """One block."""
        from scipy.special import gammaln, multigammaln

        from partita.kernels.gibbs.primitives import CODE

        d = n_columns
        mean, scale = self._hyper(d)
        n = np.arange(n_items + 1.0)
        total, nu = self.precision + n, self.degrees + n
        predictive = gammaln((nu + 1) / 2) - gammaln((nu + 1 - d) / 2)
        predictive += d / 2 * (np.log(total / (total + 1)) - np.log(np.pi))
        marginal = multigammaln(nu / 2, d) - multigammaln(self.degrees / 2, d)
        marginal += d / 2 * (np.log(self.precision / total) - n * np.log(np.pi))
        constant = self.degrees / 2 * np.linalg.slogdet(scale)[1]
        hyper = np.concatenate([[self.precision, self.degrees], mean, scale.ravel(), [constant]])
        triangle = d * (d + 1) // 2
        tables = np.stack([predictive, marginal])
        learned = tuple((c, prior.shape, prior.rate) for c, prior in enumerate(self._priors(d)))
        rows = (d + triangle, 4 + d + triangle, d + 1)
        return [Block(CODE.wishart, tuple(range(d)), hyper, tables, *rows, learned=learned)]

    def hellinger(self, values: Floats, labels: Int32s, rng: np.random.Generator) -> Floats:
        """``√(1 − |ΣΣ'|^{1/4} |(Σ + Σ')/2|^{−1/2} e^{−δᵀ(Σ + Σ')⁻¹δ/4})``, δ = μ − μ'."""
        parameters = [
            self._draw_parameters(values[labels == j], rng) for j in range(int(labels.max()) + 1)
        ]
        center = np.stack([mean for mean, _ in parameters])
        sigma = np.stack([covariance for _, covariance in parameters])
        both = sigma[:, None] + sigma
        log_sizes = np.linalg.slogdet(sigma)[1]
        log_affinity = (log_sizes[:, None] + log_sizes) / 4 - np.linalg.slogdet(both / 2)[1] / 2
        away = center[:, None] - center
        solved = np.linalg.solve(both, away[..., None])[..., 0]
        log_affinity = log_affinity - (away * solved).sum(axis=2) / 4
        return np.asarray(np.sqrt(-np.expm1(np.minimum(log_affinity, 0.0))))

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Σ and μ from their posterior, then n rows."""
        center, sigma = self._draw_parameters(values, rng)
        return np.asarray(rng.multivariate_normal(center, sigma, size=n))

    def _draw_parameters(self, values: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """μ and Σ of a cluster from their posterior."""
        from scipy.stats import invwishart

        size, d = values.shape
        center, kappa, spread_of = self._posterior(values)
        posterior = self._hyper(d)[1] + spread_of
        sigma = np.atleast_2d(invwishart.rvs(self.degrees + size, posterior, random_state=rng))
        return rng.multivariate_normal(center, sigma / kappa), sigma

    def _posterior(self, values: Floats) -> tuple[Floats, float, Floats]:
        """μ_n, κ_n and Λ_n − Λ of the cluster of these rows."""
        size, d = values.shape
        mean = spread(self.mean, d, "mean")
        kappa, average = self.precision + size, values.mean(axis=0)
        away, rows = average - mean, values - average
        spread_of = rows.T @ rows + self.precision * size / kappa * np.outer(away, away)
        return mean + size * away / kappa, kappa, spread_of

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """``mean`` (μ), shape (n_clusters, d), and ``covariance`` (Σ), (n_clusters, d, d)."""
        d = values.shape[1]
        sizes = np.bincount(labels)
        found = [self._posterior(values[labels == j]) for j in range(sizes.size)]
        center, spreads = (np.stack([each[at] for each in found]) for at in (0, 2))
        total, nu = self.precision + sizes, self.degrees + sizes
        posterior = self._hyper(d)[1] + spreads
        free = (nu - d - 1)[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.where(free > 0, posterior / free, np.inf)
            diagonal = np.einsum("kii->ki", posterior)
            products = diagonal[:, :, None] * diagonal[:, None, :]
            around = (free + 2) * posterior**2 + free * products
            around = np.where(free > 2, around / ((free + 1) * free**2 * (free - 2)), np.inf)
        variance = np.einsum("kii->ki", expected) / total[:, None]
        return {
            "mean": Moments(center, variance, names),
            "covariance": Moments(expected, around, names),
        }


def _varying(data: DataSource) -> Floats:
    """The columns as numbers; each needs two values that differ."""
    table = as_table(data)
    values = numbers(table, NormalInverseWishart.kind, advice=_ADVICE)
    if len(values) < 2:
        raise InvalidDataError("one row has no variance; the empirical rule needs two or more.")
    return _refuse_constant(values, table, "scale = sample variances")


def _clean_scale(scale: Any) -> Scale:
    if isinstance(scale, Gamma):
        return scale
    if isinstance(scale, (list, tuple)) and scale and isinstance(scale[0], Gamma):
        if not all(isinstance(each, Gamma) for each in scale):
            raise unexpected(scale, "scale", "one Gamma per column")
        return tuple(scale)
    try:
        matrix = np.asarray(plain_array(scale, "scale"), np.float64)
    except Exception:  # whatever an object of a user raises
        raise unexpected(scale, "scale", "a number or a matrix") from None
    if matrix.ndim == 0:
        return positive(scale, "scale")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(
            f"scale has shape {matrix.shape}; expected a square matrix.", argument="scale"
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise InvalidInputError(
            "scale is not a symmetric matrix of finite numbers.", argument="scale"
        )
    if np.linalg.eigvalsh(matrix).min() <= 0:
        raise InvalidInputError(
            "scale is not positive definite: an eigenvalue is not positive.", argument="scale"
        )
    return tuple(tuple(row) for row in ((matrix + matrix.T) / 2).tolist())
