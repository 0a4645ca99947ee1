"""Predictive densities and cluster probabilities of new observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._parallel import run
from partita.errors import InvalidDataError, InvalidInputError
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.samplers.kernel import Floats, Kernel
from partita.samplers.model import Arrays, flatten
from partita.samplers.priors import PartitionPrior, PriorTables
from partita.samplers.table import Table, as_table

_CELLS = 1 << 22
"""Densities held at a time: points go in blocks when there are many."""

_DRAWS = 500
"""Draws of one piece of work."""


@dataclass(frozen=True)
class Density:
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
class _Task:
    points: Floats
    log_base: Floats
    log_alone: Floats
    data: Floats
    arrays: Arrays
    prior: PriorTables
    labels: Labels
    concentrations: Floats


def _densities(task: _Task) -> Floats:
    from partita.kernels.gibbs.density import predictive_densities

    arrays, prior = task.arrays, task.prior
    return predictive_densities(
        task.points,
        task.log_base,
        task.log_alone,
        task.data,
        arrays.blocks,
        arrays.hyper,
        arrays.tables,
        arrays.n_rows,
        arrays.n_work,
        prior.log_size,
        prior.sigma,
        prior.open_table,
        task.labels,
        task.concentrations,
    )


def predictive_density(
    grid: Any,
    *,
    draws: Draws,
    concentrations: Floats,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    names: tuple[str, ...],
    prob: float,
    n_jobs: int | None,
) -> Density:
    """Mean and pointwise quantiles over draws of the predictive density; see ``Fit.density``."""
    if not 0 < prob < 1:
        raise InvalidInputError(f"prob={prob!r}; expected a number between 0 and 1.")
    encoded = encode_new(grid, kernel, names)
    arrays, tables = _compiled(kernel, prior, values)
    data, points = arrays.arrange(values), arrays.arrange(encoded)
    base, alone = kernel.log_base(encoded), _prior_density(points, arrays)
    tail = (1 - prob) / 2
    parts = []
    step = max(1, _CELLS // draws.n_draws)
    for start in range(0, points.shape[0], step):
        these = slice(start, start + step)
        tasks = [
            _Task(
                points[these],
                base[these],
                alone[these],
                data,
                arrays,
                tables,
                draws.rows(block.start, block.stop),
                concentrations[block],
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
    from partita.kernels.gibbs.density import join_weights

    encoded = encode_new(new_data, kernel, names)
    arrays, tables = _compiled(kernel, prior, values)
    points = arrays.arrange(encoded)
    k = int(labels.max()) + 1
    joining = join_weights(
        points,
        arrays.arrange(values),
        arrays.blocks,
        arrays.hyper,
        arrays.tables,
        arrays.n_rows,
        arrays.n_work,
        tables.log_size,
        labels,
        k,
    )
    # The prior's own ratio for one item more: a random concentration is integrated out in it.
    alone = prior.log_probability(np.append(labels, k)) + _prior_density(points, arrays)
    first = prior.log_probability(np.append(labels, 0))
    alone += tables.log_size[np.count_nonzero(labels == 0)] - first
    log_weights = np.concatenate([joining, alone[:, None]], axis=1)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def encode_new(data: Any, kernel: Kernel, names: tuple[str, ...]) -> Floats:
    """New rows as the kernel encodes them; columns are matched by position."""
    table = as_table(data)
    if table.n_columns != len(names):
        raise InvalidDataError(
            f"new data have {table.n_columns} columns, the fitted data have {len(names)}: "
            f"{', '.join(names[:12])}."
        )
    return kernel.encode(Table(names, table.columns))


def _compiled(kernel: Kernel, prior: PartitionPrior, values: Floats) -> tuple[Arrays, PriorTables]:
    """Arrays of the model with room for one item more than the data have."""
    n_items, n_columns = values.shape
    return flatten(kernel, n_columns, n_items), prior.tables(n_items + 1)


def _prior_density(points: Floats, arrays: Arrays) -> Floats:
    from partita.kernels.gibbs.family import prior_predictive

    return prior_predictive(
        points, arrays.blocks, arrays.hyper, arrays.tables, arrays.n_rows, arrays.n_work
    )
