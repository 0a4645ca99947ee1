"""Predictions of a fit: densities, cluster probabilities, missing cells, replicates, profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._resources import require_memory
from partita._result import Result
from partita._validate import Rng, between, generator, integer
from partita.credible.profiles import Profiles, data_profiles, evenly_spaced, weighted_interval
from partita.draws import Draws
from partita.errors import InvalidDataError, about
from partita.io.data_table import Table, as_table
from partita.kernels.arrays import Array, Bools, Floats, Ints
from partita.kernels.gibbs.primitives import Parameters
from partita.labels import DataLike, DataSource, Labels, LabelsLike, by_size, shared_items
from partita.samplers.base import Kernel, Moments
from partita.samplers.chains import Arrays, flatten
from partita.samplers.priors import PartitionPrior, PriorTables
from partita.scan import Block, concatenate_arrays, map_blocks


class _FitBase:
    """The fields of a fit that its methods share; see ``Fit``."""

    draws: Draws
    trace: Mapping[str, Array]
    kernel: Kernel
    prior: PartitionPrior
    values: Floats
    columns: tuple[str, ...]

    def _rates(self) -> Floats:
        """Learned rates of all draws, shape (n_draws, n_learned)."""
        names = self.kernel.learned_names(self.columns)
        found = [np.asarray(self.trace[name]).reshape(-1) for name in names]
        return np.stack(found, axis=1) if found else np.empty((self.draws.n_draws, 0))

    def _by_size(self, labels: LabelsLike) -> Labels:
        """A partition of the fitted items, its clusters numbered by size."""
        return by_size(self.draws.clean(labels, "labels"))


_CELLS = 1 << 22
"""Densities held at a time: points go in blocks when there are many."""

_DRAWS = 500
"""Draws of one piece of work."""


@dataclass(frozen=True, repr=False)
class Density(Result):
    """A posterior predictive density on a grid.

    Attributes
    ----------
    grid : ndarray of float, shape (n_points, n_columns)
    mean : ndarray of float, shape (n_points,)
        The posterior predictive density.
    lower, upper : ndarray of float, shape (n_points,)
        Pointwise credible bands.
    prob : float
        Probability of the bands.
    """

    grid: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    prob: float


class Predictions(_FitBase):
    """Predictions for new observations."""

    def density(self, grid: DataLike, *, prob: float = 0.95, n_jobs: int | None = None) -> Density:
        """Posterior predictive density at new points, with pointwise credible bands.

        Given a partition, f(x) = Σ_j w_j f_j(x) + w_0 f_0(x): the predictive density of each
        cluster and that of the kernel's prior, weighted by the predictive probabilities of the
        partition prior. ``mean`` averages over draws; ``lower`` and ``upper`` hold the central
        ``prob`` of the draws' values at each point: the uncertainty that comes from the clustering.

        Parameters
        ----------
        grid : array_like or table
            Points, shape (n_points,) for one column, else (n_points, n_columns).
        prob : float
            Probability of the bands.
        n_jobs : int, optional
            Threads; by default every core.

        Notes
        -----
        Cost O(draws · points · K · d).
        """
        prob = between(prob, "prob", 0, 1)
        with about("grid", "data"):
            encoded = self._encode_rows(grid)
        tail = (1 - prob) / 2
        parts = []
        for log_found in self._log_densities(encoded, n_jobs):
            found = np.exp(log_found)
            band = np.quantile(found, [tail, 1 - tail], axis=0)
            parts.append(np.stack([found.mean(axis=0), band[0], band[1]]))
        mean, lower, upper = np.concatenate(parts, axis=1)
        return Density(encoded, mean, lower, upper, prob)

    def _log_densities(
        self,
        points: Floats,
        n_jobs: int | None,
        *,
        items: Ints | None = None,
        chosen: Ints | None = None,
    ) -> Iterator[Floats]:
        """Log densities (n_draws, n_some) at points in blocks, under all draws or chosen ones.

        Of items, whose rows the points are, given all others.
        """
        from partita.kernels.gibbs.family import log_densities

        arrays, tables, alone = self._model_arrays(self.kernel, points, new=items is None)
        base, learned = self.kernel.log_base(points), self._learned()
        draws = self.draws
        if chosen is not None:
            draws, learned = draws._take(chosen), learned.of(chosen)
        step = max(1, _CELLS // draws.n_draws)
        for start in range(0, len(points), step):
            these = slice(start, start + step)

            def look(block: Block, these: slice = these) -> tuple[Floats]:
                model = arrays.likelihood(self.values)
                found = log_densities(
                    model._replace(data=arrays.ordered(points[these])),
                    np.empty(0, np.int64) if items is None else items[these],
                    base[these],
                    alone[these].copy(),
                    model,
                    tables.own(),
                    block.rows,
                    learned.of(slice(block.start, block.start + block.n_clusters.size)),
                )
                return (found,)

            (found,) = concatenate_arrays(map_blocks(look, draws, rows=_DRAWS, n_jobs=n_jobs))
            yield found

    def _leave_one_out(self, chosen: Ints, items: Ints, n_jobs: int | None) -> Floats:
        """log p(x_i | x_−i, c_−i) of items under some draws, (n_chosen, n_items)."""
        found = self._log_densities(self.values[items], n_jobs, items=items, chosen=chosen)
        return np.concatenate(list(found), axis=1)

    def predict(self, new_data: DataSource, labels: LabelsLike) -> Floats:
        """Probabilities of the clusters of a reported partition for new observations.

        p(cluster j) ∝ (n_j − σ) f_j(x), p(a new cluster) ∝ (α + σk) f_0(x). What is learned, a
        concentration, weight or rate, is integrated out given that partition.

        Parameters
        ----------
        new_data : array_like or table
            Columns as in the data.
        labels : array_like, shape (n_items,)
            A partition of the fitted items.

        Returns
        -------
        ndarray of float, shape (n_new, n_clusters + 1)
            Clusters by size, as estimates number them; the last column is a new cluster.
        """
        from scipy.special import logsumexp

        from partita.kernels.gibbs.family import join_weights

        partition = self._by_size(labels)
        with about("new_data", "data"):
            encoded = self._encode_rows(new_data)
        k = int(partition.max()) + 1
        log_densities = []
        for fixed in self.kernel.given(self.values, partition):
            arrays, tables, alone = self._model_arrays(fixed, encoded)
            sizes, joining = join_weights(
                arrays.likelihood(encoded),
                arrays.likelihood(self.values),
                tables.arrays,
                partition,
                k,
            )
            log_densities.append(np.concatenate([joining - sizes, alone[:, None]], axis=1))
        log_weights = logsumexp(log_densities, axis=0) + _log_seats(self.prior, partition)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _encode_rows(self, data: Any) -> Floats:
        """New rows as the kernel encodes them; columns are matched by name, else by position."""
        table, names = as_table(data), self.columns
        if table.n_columns != len(names):
            raise InvalidDataError(
                f"new data have {table.n_columns} columns, the fitted data have {len(names)}: "
                f"{', '.join(names[:12])}."
            )
        if set(table.names) == set(names) and len(set(names)) == len(names):
            table = table.select([table.names.index(name) for name in names])
        return self.kernel.encode(Table(names, table.columns))

    def _model_arrays(
        self, kernel: Kernel, points: Floats, *, new: bool = True
    ) -> tuple[Arrays, PriorTables, Floats]:
        """Arrays of the model, with room for a new item, and log densities of points alone."""
        from partita.kernels.gibbs.family import prior_predictive

        incomplete = np.asarray(np.isnan(self.values).any(axis=0) | np.isnan(points).any(axis=0))
        arrays = flatten(kernel, len(self.values), incomplete)
        tables = self.prior.tables(len(self.values) + int(new))
        return arrays, tables, prior_predictive(arrays.likelihood(points), tables.arrays)

    def _learned(self) -> Parameters:
        tables = self.prior.tables(self.draws.n_items)
        fixed = np.full(self.draws.n_draws, tables.concentration)
        own = self.trace[tables.parameter] if tables.parameter else fixed
        number = self.trace.get("n_components", self.trace["n_clusters"])
        # Copies, for which kernels are compiled: a fit's own arrays are read-only.
        return Parameters(np.array(own).reshape(-1), np.array(number).reshape(-1), self._rates())


def _log_seats(prior: PartitionPrior, labels: Labels) -> Floats:
    """Log prior weights of the k clusters and of a new one for one item more.

    By the prior's own ratios, in which everything random is integrated out.
    """
    sizes = np.append(np.bincount(labels), 0)
    reference = np.append(labels, 0)
    by_size = {
        size: prior.log_ratio(np.append(labels, int(np.argmax(sizes == size))), reference)
        for size in np.unique(sizes).tolist()
    }
    return np.array([by_size[size] for size in sizes.tolist()])


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Result):
    """Posterior of the missing cells of a table, one entry per cell.

    Attributes
    ----------
    row : ndarray of int
        Item of each cell.
    column : tuple of str
        Its column.
    mean : ndarray of float
        Posterior mean; of a category, the number of its most probable level.
    lower, upper : ndarray of float
        Central interval of that probability.
    probability : tuple of ndarray or None
        Of a category, the posterior probability of each level.
    filled : ndarray of float, shape (n_items, n_columns)
        The data with ``mean`` in place of what is missing.
    prob : float
    """

    row: Ints
    column: tuple[str, ...]
    mean: Floats
    lower: Floats
    upper: Floats
    probability: tuple[Floats | None, ...]
    filled: Floats
    prob: float

    def __repr__(self) -> str:
        n = self.row.size
        return f"<Imputation: {n} missing cell{'s' * (n != 1)}, {self.prob:.0%} intervals>"


class Simulations(_FitBase):
    """Simulations from a fit: missing cells, replicates, distances between densities."""

    def impute(self, *, prob: float = 0.95, rng: Rng | None = None) -> Imputation:
        """Posterior means and intervals of the missing cells, averaged over draws.

        Given a partition, a missing cell has the predictive distribution of its column in its
        item's cluster; ``mean`` averages the means of these, the intervals hold the central
        ``prob`` of one random value per draw.

        Parameters
        ----------
        prob : float
            Probability of the intervals.
        rng : int, SeedSequence or Generator, optional
            Seed of the random values; by default 0.

        Returns
        -------
        Imputation
            One entry per missing cell, row by row; ``filled`` is the table with means put in.

        Notes
        -----
        Cost O(draws · N) per row with a missing cell.

        Examples
        --------
        >>> import numpy as np
        >>> import partita as pt
        >>> table = [[1.0, 5.1], [1.2, np.nan], [9.0, 0.2], [9.1, 0.1], [1.1, 4.8]]
        >>> fit = pt.sample(table, draws=200, burn_in=50, chains=2, rng=0)
        >>> fit.impute().row, fit.impute().column
        (array([1]), ('1',))
        """
        prob, rng = between(prob, "prob", 0, 1), generator(rng)
        rows, columns = np.nonzero(np.isnan(self.values))
        mean, lower, upper = np.empty((3, rows.size))
        probability: list[Floats | None] = []
        labels, rates = self.draws.labels, self._rates()
        same, of = np.empty((0, 0)), -1
        tail = (1 - prob) / 2
        for cell, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            if row != of:
                same, of = (labels == labels[:, row, None]).astype(np.float64), row
            expected, random = self._predict_cell(rates, same, column, rng)
            averaged = expected.mean(axis=0)
            levels = averaged if expected.ndim == 2 else None
            probability.append(levels)
            mean[cell] = float(averaged) if levels is None else float(levels.argmax())
            lower[cell], upper[cell] = np.quantile(random, [tail, 1 - tail])
        filled = self.values.copy()
        filled[rows, columns] = mean
        names = tuple(self.columns[c] for c in columns)
        found = (mean, lower, upper, tuple(probability), filled, prob)
        return Imputation(rows.astype(np.int64), names, *found)

    def _predict_cell(
        self, rates: Floats, same: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """``Kernel.predict_cell``, draw by draw where the column's rate is learned."""
        kernel, values = self.kernel, self.values[:, column]
        if column not in kernel.learned(len(self.columns)):
            return kernel.predict_cell(same, values, column, rng)
        parts = [
            kernel.at(rates[m]).predict_cell(same[m : m + 1], values, column, rng)
            for m in range(len(same))
        ]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def replicate(self, n: int = 1, *, rng: Rng | None = None) -> Floats:
        """Data as the fitted model would make them again, to be held against the data.

        For each replicate a partition is drawn from the posterior, parameters of its clusters
        given their items, and new values of all items given these. Where replicates do not look
        like the data, the kernel is wrong; ``pt.plots.replicates`` shows both.

        Parameters
        ----------
        n : int
            Number of replicates.
        rng : int, SeedSequence or Generator, optional
            By default 0.

        Returns
        -------
        ndarray of float, shape (n, n_items, n_columns)
            As the kernel encodes them: categories as numbers of their levels.

        Notes
        -----
        Cost O(n · N · d).

        References
        ----------
        Gelman, A., Meng, X.-L. and Stern, H. (1996), Posterior predictive assessment of model
        fitness via realized discrepancies. Statistica Sinica 6.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=1, rng=0)
        >>> fit.replicate(20).shape
        (20, 82, 1)
        """
        n, rng = integer(n, "n", least=1), generator(rng)
        require_memory(8 * n * self.values.size, f"{n:,} data sets", "Ask for fewer.")
        rates = self._rates()
        out = np.empty((n, *self.values.shape))
        for r, m in enumerate(rng.integers(self.draws.n_draws, size=n).tolist()):
            labels, kernel = self.draws.labels[m], self.kernel.at(rates[m])
            for j in range(int(labels.max()) + 1):
                members = np.flatnonzero(labels == j)
                out[r, members] = kernel.simulate(self.values[members], members.size, rng)
        return out

    def kernel_distance(self, *, draws: int = 500, rng: Rng | None = None) -> Floats:
        r"""Posterior mean Hellinger distance between the densities that two items come from.

        :math:`\Delta_{ij} = E[h(f(\cdot \mid \theta_{c_i}), f(\cdot \mid \theta_{c_j}))]`, 0
        where i and j share a cluster. Where clusters overlap it is small although they are two:
        merging what is close (FOLD) is ``pt.estimate(similarity=1 - fit.kernel_distance(),
        loss=pt.Binder(a=2 * w / (1 + w)))`` with w > 0, larger for fewer clusters.

        Parameters
        ----------
        draws : int
            Partitions to average over, evenly taken from all.
        rng : int, SeedSequence or Generator, optional
            Parameters are drawn given the partition; by default 0.

        Returns
        -------
        ndarray of float, shape (n_items, n_items)

        Notes
        -----
        Cost O(draws · N²). For ``NormalInverseGamma`` and ``NormalInverseWishart``.

        References
        ----------
        Dombowsky and Dunson (2024), Bayesian clustering via fusing of localized densities. Journal
        of the American Statistical Association.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=2, rng=0)
        >>> fit.kernel_distance(draws=50).shape
        (82, 82)
        """
        n, rng = min(integer(draws, "draws", least=1), self.draws.n_draws), generator(rng)
        n_items = self.draws.n_items
        require_memory(
            2 * n_items**2 * 8,
            f"the distances of {n_items:,} items",
            "Ask for those of a part of the items, by a fit of these.",
        )
        rates, total = self._rates(), np.zeros((n_items, n_items))
        for m in evenly_spaced(self.draws.n_draws, n).tolist():
            labels = self.draws.labels[m].astype(np.int32)
            apart = self.kernel.at(rates[m]).hellinger(self.values, labels, rng)
            total += apart[np.ix_(labels, labels)]
        return total / n


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
    kind: Ints
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
        found = np.full(self.mean.shape, np.nan)
        for kind, at, parameters, location, scale in self._standardised():
            found[:, at] = location + scale * _distribution(kind).ppf(q, *parameters)
        return self._rooted(found)

    def cdf(self, x: Floats) -> Floats:
        """Probabilities of values of at most x, (k, P); NaN where the law is not known."""
        found, x = np.full(self.mean.shape, np.nan), np.where(self.kind == ROOT, x**2, x)
        for kind, at, parameters, location, scale in self._standardised():
            found[:, at] = _distribution(kind).cdf((x[:, at] - location) / scale, *parameters)
        return found

    def sample(self, rng: np.random.Generator) -> Floats:
        """One draw of every parameter, (k, P); the mean itself where the law is not known."""
        draw: tuple[Callable[..., Any], ...] = (
            *(rng.standard_gamma, rng.beta, rng.standard_t),
            lambda shape: 1.0 / rng.standard_gamma(shape),
        )
        found = self.mean.copy()
        for kind, at, parameters, location, scale in self._standardised():
            found[:, at] = location + scale * draw[kind](*parameters)
        return self._rooted(found)

    def _standardised(self) -> Iterator[tuple[int, Bools, tuple[Floats, ...], Any, Any]]:
        """Of each kind its columns, parameters of the standard law, location and scale."""
        for kind in (GAMMA, BETA, STUDENT, ROOT):
            at = self.kind == kind
            m, v, a = self.mean[:, at], self.variance[:, at], self.shape[:, at]
            if kind == GAMMA:
                yield kind, at, (m**2 / v,), 0.0, v / m
            elif kind == BETA:
                total = m * (1.0 - m) / v - 1.0
                yield kind, at, (m * total, (1.0 - m) * total), 0.0, 1.0
            elif kind == STUDENT:
                yield kind, at, (2.0 * a,), m, np.sqrt(v * (a - 1.0) / a)
            else:  # of the square
                yield kind, at, (a,), 0.0, m * (a - 1.0)

    def _rooted(self, values: Floats) -> Floats:
        """The values, roots where they are those of squares."""
        root = self.kind == ROOT
        values[:, root] = np.sqrt(values[:, root])
        return values


def _distribution(kind: int) -> Any:
    from scipy import stats

    return (stats.gamma, stats.beta, stats.t, stats.invgamma)[kind]


def laws_of(found: Mapping[str, Moments]) -> Laws:
    """The laws behind posterior moments by name, as ``Kernel.moments`` gives them."""
    shapes, parts = _shapes_by_column(found), []
    for name, moments in found.items():
        mean, variance = _by_column(moments)
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


def _by_column(moments: Moments) -> tuple[Floats, Floats]:
    """Mean and variance by column, of which a covariance has the variances alone."""
    found = np.asarray(moments.mean), np.asarray(moments.variance)
    mean, variance = (np.einsum("kii->ki", each) if each.ndim == 3 else each for each in found)
    return mean, variance


def _shapes_by_column(found: Mapping[str, Moments]) -> dict[str, Floats]:
    """Shape of the inverse gamma of each column's variance, where all are known."""
    shapes: dict[str, Floats] = {}
    for name, moments in found.items():
        if not name.startswith(("variance", "covariance")):
            continue
        mean, variance = _by_column(moments)
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
    fixed = kernel.moments_given(values, labels, names)
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
        share = shared_items(labels, row) / sizes[:, None]
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
