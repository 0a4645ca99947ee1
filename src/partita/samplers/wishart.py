"""Correlated normals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._text import listed
from partita._validate import plain_array, positive, unexpected
from partita.errors import InvalidDataError, InvalidInputError
from partita.io.data_table import Table, as_table, numbers
from partita.kernels.arrays import Floats
from partita.labels import DataSource
from partita.samplers.base import (
    Block,
    Kernel,
    Moments,
    PerColumn,
    group_sums,
    per_column,
    present_moments,
    spread,
)
from partita.samplers.normal import N_VALUES, refuse_extremes
from partita.samplers.priors import Gamma

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

    kind: ClassVar[str] = "NormalInverseWishart"
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

    def given(self, values: Floats, labels: NDArray[np.int32]) -> tuple[NormalInverseWishart, ...]:
        """With scales drawn given the partition, by a Gibbs sampler of scales and precisions."""
        from scipy.stats import wishart

        d = values.shape[1]
        priors = self._priors(d)
        if not priors:
            return (self,)
        mean, _ = self._hyper(d)
        members = [values[labels == j] - mean for j in range(int(labels.max()) + 1)]
        sizes = np.array([len(rows) for rows in members])
        sums = [rows.sum(axis=0) for rows in members]
        spreads = [
            rows.T @ rows - np.outer(away, away) / (self.precision + len(rows))
            for rows, away in zip(members, sums, strict=True)
        ]
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

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:  # noqa: ARG002
        """One block."""
        from scipy.special import gammaln, multigammaln

        from partita.kernels.gibbs.primitives import WISHART

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
        return [Block(WISHART, tuple(range(d)), hyper, tables, *rows, learned=learned)]

    def hellinger(
        self, values: Floats, labels: NDArray[np.int32], rng: np.random.Generator
    ) -> Floats:
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
        mean, scale = self._hyper(d)
        kappa = self.precision + size
        away = (values - mean).sum(axis=0)
        squares = (values - mean).T @ (values - mean)
        posterior = scale + squares - np.outer(away, away) / kappa
        sigma = np.atleast_2d(invwishart.rvs(self.degrees + size, posterior, random_state=rng))
        center = rng.multivariate_normal(mean + away / kappa, sigma / kappa)
        return center, sigma

    def moments(
        self, values: Floats, labels: NDArray[np.int32], names: tuple[str, ...]
    ) -> dict[str, Moments]:
        """``mean`` (μ), shape (n_clusters, d), and ``covariance`` (Σ), (n_clusters, d, d)."""
        d = values.shape[1]
        mean, scale = self._hyper(d)
        counts, sums = group_sums(values, labels)
        sizes = counts[:, 0]
        average = sums / counts
        total, nu = self.precision + sizes, self.degrees + sizes
        posterior = np.empty((sizes.size, d, d))
        for j in range(sizes.size):
            away = values[labels == j] - average[j]
            pull = np.outer(average[j] - mean, average[j] - mean)
            posterior[j] = scale + away.T @ away + self.precision * sizes[j] / total[j] * pull
        free = (nu - d - 1)[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.where(free > 0, posterior / free, np.inf)
            diagonal = np.einsum("kii->ki", posterior)
            products = diagonal[:, :, None] * diagonal[:, None, :]
            around = (free + 2) * posterior**2 + free * products
            around = np.where(free > 2, around / ((free + 1) * free**2 * (free - 2)), np.inf)
        variance = np.einsum("kii->ki", expected) / total[:, None]
        center = (self.precision * mean + sums) / total[:, None]
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
    constant = [table.names[j] for j in np.flatnonzero(refuse_extremes(values, table) == 0)]
    if constant:
        raise InvalidDataError(
            f"column {listed(constant)} is constant, so the empirical rule (scale = sample "
            "variances) has no answer. Drop the column, or give the kernel yourself."
        )
    return values


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
