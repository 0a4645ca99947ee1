"""Parameters of the clusters of a reported partition, with and without its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.partitions.data_profiles import data_profiles
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.profile_table import Profiles, weighted_interval
from partita.samplers.kernel import Kernel
from partita.samplers.moments import Moments

Law = Callable[..., Any]

GAMMA, BETA, STUDENT, ROOT, UNKNOWN = range(5)
"""Laws of a parameter: of a rate, a share, a mean, the root of an inverse gamma, any other."""


@dataclass(frozen=True, eq=False)
class Laws:
    """Conjugate posteriors of P parameters in each of k clusters, from their moments.

    Every conjugate law here has two or three parameters, which the posterior
    means and variances determine: no kernel has to supply more.

    Attributes
    ----------
    column, parameter : tuple of str, length P
    kind : ndarray of int64, shape (P,)
    mean, variance : ndarray of float, shape (k, P)
        For an sd these are the moments of its square.
    shape : ndarray of float, shape (k, P)
        Of the inverse gamma of the column's variance; NaN where there is none.
    """

    column: tuple[str, ...]
    parameter: tuple[str, ...]
    kind: NDArray[np.int64]
    mean: Floats
    variance: Floats
    shape: Floats

    def expected(self) -> Floats:
        """Posterior means, (k, P)."""
        from scipy.special import gammaln

        root = self.kind == ROOT
        a, b = self.shape[:, root], self.mean[:, root] * (self.shape[:, root] - 1.0)
        found = self.mean.copy()
        found[:, root] = np.sqrt(b) * np.exp(gammaln(a - 0.5) - gammaln(a))
        return found

    def quantile(self, q: float) -> Floats:
        """Posterior quantiles, (k, P); NaN where the law is not known."""
        from scipy import stats

        return self._through(
            lambda shape: stats.gamma.ppf(q, shape),
            lambda a, b: stats.beta.ppf(q, a, b),
            lambda freedom: stats.t.ppf(q, freedom),
            lambda shape: stats.invgamma.ppf(q, shape),
            np.nan,
        )

    def cdf(self, x: Floats) -> Floats:
        """Probabilities of values of at most x, (k, P); NaN where the law is not known."""
        from scipy import stats

        found = np.full(self.mean.shape, np.nan)
        m, v, a = self.mean, self.variance, self.shape
        at = self.kind == GAMMA
        found[:, at] = stats.gamma.cdf(x[:, at] * m[:, at] / v[:, at], m[:, at] ** 2 / v[:, at])
        at = self.kind == BETA
        total = m[:, at] * (1.0 - m[:, at]) / v[:, at] - 1.0
        found[:, at] = stats.beta.cdf(x[:, at], m[:, at] * total, (1.0 - m[:, at]) * total)
        at = self.kind == STUDENT
        scale = np.sqrt(v[:, at] * (a[:, at] - 1.0) / a[:, at])
        found[:, at] = stats.t.cdf((x[:, at] - m[:, at]) / scale, 2.0 * a[:, at])
        at = self.kind == ROOT
        b = m[:, at] * (a[:, at] - 1.0)
        found[:, at] = stats.invgamma.cdf(x[:, at] ** 2 / b, a[:, at])
        return found

    def sample(self, rng: np.random.Generator) -> Floats:
        """One draw of every parameter, (k, P); the mean itself where the law is not known."""
        return self._through(
            rng.standard_gamma,
            rng.beta,
            rng.standard_t,
            lambda shape: 1.0 / rng.standard_gamma(shape),
            None,
        )

    def _through(
        self, gamma: Law, beta: Law, student: Law, inverse_gamma: Law, otherwise: float | None
    ) -> Floats:
        found = self.expected() if otherwise is None else np.full(self.mean.shape, otherwise)
        m, v, a = self.mean, self.variance, self.shape
        at = self.kind == GAMMA
        found[:, at] = gamma(m[:, at] ** 2 / v[:, at]) * v[:, at] / m[:, at]
        at = self.kind == BETA
        total = m[:, at] * (1.0 - m[:, at]) / v[:, at] - 1.0
        found[:, at] = beta(m[:, at] * total, (1.0 - m[:, at]) * total)
        at = self.kind == STUDENT
        scale = np.sqrt(v[:, at] * (a[:, at] - 1.0) / a[:, at])
        found[:, at] = m[:, at] + scale * student(2.0 * a[:, at])
        at = self.kind == ROOT
        found[:, at] = np.sqrt(inverse_gamma(a[:, at]) * m[:, at] * (a[:, at] - 1.0))
        return found


def laws_of(found: Mapping[str, Moments]) -> Laws:
    """The laws behind posterior moments by name, as ``Kernel.moments`` gives them."""
    shapes, parts = _shapes_by_column(found), []
    for name, moments in found.items():
        mean, variance = np.asarray(moments.mean), np.asarray(moments.variance)
        if mean.ndim == 3:  # of a covariance only the variances have a column
            mean, variance = np.einsum("kii->ki", mean), np.einsum("kii->ki", variance)
        share = name.startswith("probability")
        of_column = name.removeprefix("probability of ") if name != "probability" else ""
        for j, column in enumerate(moments.columns):
            shape = shapes.get(column)
            row: tuple[str, str, int, Floats | None]
            if share and of_column:
                row = (of_column, f"share of {column}", BETA, None)
            elif share:
                row = (column, "share of 1", BETA, None)
            elif name.startswith(("variance", "covariance")) and shape is not None:
                row = (column, "sd", ROOT, shape)
            elif name.startswith("mean") and shape is not None:
                row = (column, "mean", STUDENT, shape)
            elif name == "rate":
                row = (column, "rate", GAMMA, None)
            else:
                row = (column, name, UNKNOWN, None)
            parts.append((*row[:3], mean[:, j], variance[:, j], row[3]))
    none = np.full(parts[0][3].size, np.nan)
    return Laws(
        tuple(str(part[0]) for part in parts),
        tuple(part[1] for part in parts),
        np.array([part[2] for part in parts]),
        np.stack([part[3] for part in parts], axis=1),
        np.stack([part[4] for part in parts], axis=1),
        np.stack([none if part[5] is None else part[5] for part in parts], axis=1),
    )


def _mixture_quantile(laws: list[Laws], q: float) -> Floats:
    """Quantiles of the mixture of equally probable laws, (k, P), by bisection."""
    each = np.stack([law.quantile(q) for law in laws])
    low, high = each.min(axis=0), each.max(axis=0)
    if len(laws) > 1:
        for _ in range(50):  # halves the width each time: to rounding
            middle = (low + high) / 2
            below = np.mean([law.cdf(middle) for law in laws], axis=0) < q
            low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _shapes_by_column(found: Mapping[str, Moments]) -> dict[str, Floats]:
    """Shape of the inverse gamma of each column's variance, where all are known."""
    shapes: dict[str, Floats] = {}
    for name, moments in found.items():
        if not name.startswith(("variance", "covariance")):
            continue
        mean, variance = np.asarray(moments.mean), np.asarray(moments.variance)
        if mean.ndim == 3:
            mean, variance = np.einsum("kii->ki", mean), np.einsum("kii->ki", variance)
        for j, column in enumerate(moments.columns):
            if np.isfinite(variance[:, j]).all():
                shapes[column] = mean[:, j] ** 2 / variance[:, j] + 2.0
    return shapes


def profile(
    kernel: Kernel,
    values: Floats,
    names: tuple[str, ...],
    draws: Draws,
    labels: Labels,
    *,
    rates: Floats | None = None,
    prob: float,
    rng: np.random.Generator,
) -> Profiles:
    """Profiles of the clusters of labels; see ``Fit.profiles``."""
    sizes = np.bincount(labels).astype(np.int64)
    fixed = [each.moments(values, labels, names) for each in kernel.given(values, labels)]
    if not fixed[0]:  # a user's kernel need not say anything of its parameters
        named = [(name, "mean") for name in names]
        return data_profiles(draws, labels, values, named, np.zeros(len(names), bool), prob)
    laws = [laws_of(moments) for moments in fixed]
    given = laws[0]
    n, p = draws.n_draws, len(given.column)
    means, samples = np.empty((n, sizes.size, p)), np.empty((n, sizes.size, p))
    for m in range(n):
        row = draws.rows(m, m + 1)[0]
        own_kernel = kernel if rates is None else kernel.at(rates[m])
        own = laws_of(own_kernel.moments(values, row, names))
        share = np.zeros((sizes.size, int(row.max()) + 1))
        np.add.at(share, (labels, row), 1.0)
        share /= sizes[:, None]
        means[m] = share @ own.expected()
        samples[m] = share @ own.sample(rng)
    weights = draws.probabilities
    low, high = weighted_interval(samples.reshape(n, -1), weights, prob)
    tail = (1.0 - prob) / 2.0
    return Profiles(
        cluster=np.repeat(np.arange(sizes.size), p),
        column=given.column * sizes.size,
        parameter=given.parameter * sizes.size,
        given=np.mean([law.expected() for law in laws], axis=0).ravel(),
        given_low=_mixture_quantile(laws, tail).ravel(),
        given_high=_mixture_quantile(laws, 1.0 - tail).ravel(),
        averaged=np.einsum("m,mkp->kp", weights, means).ravel(),
        averaged_low=low,
        averaged_high=high,
        sizes=sizes,
        prob=prob,
        n_draws=n,
    )
