"""Predictive densities and cluster probabilities of new observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita._result import Result
from partita._validate import between
from partita.errors import InvalidDataError, about
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.samplers.cells import Floats
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


def parameters_of(
    trace: Mapping[str, NDArray[Any]], prior: PartitionPrior, n_items: int, rates: Floats
) -> Parameters:
    """What the traces of a fit hold of them."""
    tables = prior.tables(n_items)
    fixed = np.full(len(rates), tables.concentration)
    own = trace[tables.parameter] if tables.parameter else fixed
    number = trace.get("n_components", trace["n_clusters"])
    # Copies, for which kernels are compiled: a fit's own arrays are read-only.
    return Parameters(np.array(own).reshape(-1), np.array(number).reshape(-1), rates)


@dataclass(frozen=True)
class _Task:
    points: Floats
    log_base: Floats
    log_alone: Floats
    values: Floats
    arrays: Arrays
    prior: PriorTables
    labels: Labels
    parameters: Parameters


def _densities(task: _Task) -> Floats:
    from partita.kernels.gibbs.density import predictive_densities

    arrays = task.arrays
    model = arrays.likelihood(task.values)
    points = arrays.likelihood(task.points)._replace(hyper=model.hyper)
    return predictive_densities(
        points,
        task.log_base,
        task.log_alone.copy() if arrays.n_learned else task.log_alone,
        model,
        task.prior.own(),
        arrays.n_rows,
        arrays.n_work,
        task.labels,
        task.parameters.prior,
        task.parameters.components,
        arrays.rates,
        task.parameters.rates,
    )


def predictive_density(
    grid: Any,
    *,
    draws: Draws,
    parameters: Parameters,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    names: tuple[str, ...],
    prob: float,
    n_jobs: int | None,
) -> Density:
    """Mean and pointwise quantiles over draws of the predictive density; see ``Fit.density``."""
    prob = between(prob, "prob", 0, 1)
    with about("grid", "data"):
        encoded = encode_new(grid, kernel, names)
    arrays, tables = _compiled(kernel, prior, values, encoded)
    base, alone = kernel.log_base(encoded), _log_alone(encoded, arrays, tables)
    tail = (1 - prob) / 2
    parts = []
    step = max(1, _CELLS // draws.n_draws)
    for start in range(0, encoded.shape[0], step):
        these = slice(start, start + step)
        tasks = [
            _Task(
                encoded[these],
                base[these],
                alone[these],
                values,
                arrays,
                tables,
                draws.rows(block.start, block.stop),
                parameters.rows(block),
            )
            for block in draws.blocks(_DRAWS)
        ]
        found = np.concatenate(run(_densities, tasks, n_jobs))
        band = np.quantile(found, [tail, 1 - tail], axis=0)
        parts.append(np.stack([found.mean(axis=0), band[0], band[1]]))
    mean, lower, upper = np.concatenate(parts, axis=1)
    return Density(encoded, mean, lower, upper, prob)


def predict_clusters(
    new_data: Any,
    *,
    labels: Labels,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    names: tuple[str, ...],
) -> Floats:
    """Probabilities of the clusters and of a new one; see ``Fit.predict``."""
    from scipy.special import logsumexp

    from partita.kernels.gibbs.density import join_weights

    with about("new_data", "data"):
        encoded = encode_new(new_data, kernel, names)
    k = int(labels.max()) + 1
    log_densities = []
    for fixed in kernel.given(values, labels):
        arrays, tables = _compiled(fixed, prior, values, encoded)
        sizes, joining = join_weights(
            arrays.likelihood(encoded),
            arrays.likelihood(values),
            tables.arrays,
            arrays.n_rows,
            arrays.n_work,
            labels,
            k,
        )
        alone = _log_alone(encoded, arrays, tables)
        log_densities.append(np.concatenate([joining - sizes, alone[:, None]], axis=1))
    log_weights = logsumexp(log_densities, axis=0) + _log_seats(prior, labels)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


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


def encode_new(data: Any, kernel: Kernel, names: tuple[str, ...]) -> Floats:
    """New rows as the kernel encodes them; columns are matched by position."""
    table = as_table(data)
    if table.n_columns != len(names):
        raise InvalidDataError(
            f"new data have {table.n_columns} columns, the fitted data have {len(names)}: "
            f"{', '.join(names[:12])}."
        )
    return kernel.encode(Table(names, table.columns))


def _compiled(
    kernel: Kernel, prior: PartitionPrior, values: Floats, points: Floats
) -> tuple[Arrays, PriorTables]:
    """Arrays of the model with room for one item more than the data have."""
    incomplete = np.asarray(np.isnan(values).any(axis=0) | np.isnan(points).any(axis=0))
    return flatten(kernel, len(values), incomplete), prior.tables(len(values) + 1)


def _log_alone(points: Floats, arrays: Arrays, tables: PriorTables) -> Floats:
    from partita.kernels.gibbs.family import prior_predictive

    model = arrays.likelihood(points)
    return prior_predictive(model, tables.arrays, arrays.n_rows, arrays.n_work)
