"""Predictive densities and cluster probabilities of new observations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import between
from partita.errors import InvalidDataError, about
from partita.kernels.arrays import Floats
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, concatenated, map_blocks
from partita.partitions.types import DataLike, DataSource, LabelsLike
from partita.samplers.fitted import Fitted
from partita.samplers.kernel import Kernel
from partita.samplers.model import Arrays, flatten
from partita.samplers.partition_prior import PartitionPrior, PriorTables
from partita.samplers.table import Table, as_table

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


@dataclass(frozen=True)
class Parameters:
    """What is learned beside the partitions, draw by draw.

    The prior's parameter and the number of components, (n_draws,), and rates, (n_draws, n_rates).
    """

    prior: Floats
    components: NDArray[np.int64]
    rates: Floats

    def rows(self, draws: slice) -> Parameters:
        """Those of some draws."""
        return Parameters(self.prior[draws], self.components[draws], self.rates[draws])


@dataclass(frozen=True)
class _Points:
    """Where a density is asked for, and the model."""

    points: Floats
    log_base: Floats
    log_alone: Floats
    values: Floats
    arrays: Arrays
    prior: PriorTables


def _densities(at: _Points, learned: Parameters, block: Block) -> tuple[Floats]:
    """The density of each draw of a block at each point."""
    from partita.kernels.gibbs.density import predictive_densities

    arrays = at.arrays
    model = arrays.likelihood(at.values)
    points = arrays.likelihood(at.points)._replace(hyper=model.hyper)
    mine = learned.rows(slice(block.start, block.start + block.n_clusters.size))
    found = predictive_densities(
        points,
        at.log_base,
        at.log_alone.copy() if arrays.n_learned else at.log_alone,
        model,
        at.prior.own(),
        arrays.n_rows,
        arrays.n_work,
        block.rows,
        mine.prior,
        mine.components,
        arrays.rates,
        mine.rates,
    )
    return (found,)


class Predictions(Fitted):
    """What a fit says of new observations."""

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
            encoded = self._encoded(grid)
        arrays, tables = self._compiled(self.kernel, encoded)
        base, alone = self.kernel.log_base(encoded), _log_alone(encoded, arrays, tables)
        parameters = self._parameters()
        tail = (1 - prob) / 2
        parts = []
        step = max(1, _CELLS // self.draws.n_draws)
        for start in range(0, encoded.shape[0], step):
            these = slice(start, start + step)
            points = _Points(encoded[these], base[these], alone[these], self.values, arrays, tables)
            look = partial(_densities, points, parameters)
            (found,) = concatenated(map_blocks(look, self.draws, rows=_DRAWS, n_jobs=n_jobs))
            band = np.quantile(found, [tail, 1 - tail], axis=0)
            parts.append(np.stack([found.mean(axis=0), band[0], band[1]]))
        mean, lower, upper = np.concatenate(parts, axis=1)
        return Density(encoded, mean, lower, upper, prob)

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

        from partita.kernels.gibbs.density import join_weights

        partition = self._by_size(labels)
        with about("new_data", "data"):
            encoded = self._encoded(new_data)
        k = int(partition.max()) + 1
        log_densities = []
        for fixed in self.kernel.given(self.values, partition):
            arrays, tables = self._compiled(fixed, encoded)
            sizes, joining = join_weights(
                arrays.likelihood(encoded),
                arrays.likelihood(self.values),
                tables.arrays,
                arrays.n_rows,
                arrays.n_work,
                partition,
                k,
            )
            alone = _log_alone(encoded, arrays, tables)
            log_densities.append(np.concatenate([joining - sizes, alone[:, None]], axis=1))
        log_weights = logsumexp(log_densities, axis=0) + _log_seats(self.prior, partition)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _encoded(self, data: Any) -> Floats:
        """New rows as the kernel encodes them; columns are matched by position."""
        table, names = as_table(data), self.columns
        if table.n_columns != len(names):
            raise InvalidDataError(
                f"new data have {table.n_columns} columns, the fitted data have {len(names)}: "
                f"{', '.join(names[:12])}."
            )
        return self.kernel.encode(Table(names, table.columns))

    def _compiled(self, kernel: Kernel, points: Floats) -> tuple[Arrays, PriorTables]:
        """Arrays of the model with room for one item more than the data have."""
        values = self.values
        incomplete = np.asarray(np.isnan(values).any(axis=0) | np.isnan(points).any(axis=0))
        return flatten(kernel, len(values), incomplete), self.prior.tables(len(values) + 1)

    def _parameters(self) -> Parameters:
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


def _log_alone(points: Floats, arrays: Arrays, tables: PriorTables) -> Floats:
    from partita.kernels.gibbs.family import prior_predictive

    model = arrays.likelihood(points)
    return prior_predictive(model, tables.arrays, arrays.n_rows, arrays.n_work)
