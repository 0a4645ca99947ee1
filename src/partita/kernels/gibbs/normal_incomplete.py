"""Independent normals whose columns have missing cells: each column counts its own items.

The arithmetic of a column is that of a block of ``normal`` with this column alone; one block has
all such columns, because a call by address for each of them would take longer than the rest.

hyper : per column a, μ0, b, a log b.
tables : those of ``normal`` for one column.
stats : per column number of items, mean, sum of squared deviations.
cache : per column that of ``normal``.
"""

from __future__ import annotations

import math

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats
from partita.kernels.gibbs import normal
from partita.kernels.gibbs.primitives import (
    TILE,
    Block,
    Index,
    Random,
    full_lanes,
    inlined,
    log,
    row_part,
    table_rows,
)


@inlined
def _column(block: Block, c: Index) -> Block:
    """Column c as a block of its own."""
    return Block(
        row_part(block.hyper, 4 * c, 4),
        block.tables,
        table_rows(block.stats, 3 * c + 1, 2),
        table_rows(block.cache, 5 * c, 5),
        block.work,
    )


@inner_kernel
def add(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x that are there into the statistics of cluster j."""
    for c in range(x.size):
        if not math.isnan(x[c]):
            block.stats[3 * c, j] += 1.0
            normal.add(row_part(x, c, 1), block.stats[3 * c, j], _column(block, c), j)


@inner_kernel
def remove(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x that are there out of the statistics of cluster j."""
    for c in range(x.size):
        if not math.isnan(x[c]):
            left = block.stats[3 * c, j] - 1.0
            block.stats[3 * c, j] = left
            if left > 0.0:
                normal.remove(row_part(x, c, 1), left, _column(block, c), j)
            else:
                block.stats[3 * c + 1, j] = 0.0
                block.stats[3 * c + 2, j] = 0.0


@inner_kernel
def refresh(n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Recompute what the predictive density of cluster j needs."""
    for c in range(block.stats.shape[0] // 3):
        normal.refresh(block.stats[3 * c, j], _column(block, c), j)


@inner_kernel
def log_predictive(x: Floats, k: Index, block: Block, out: Floats) -> None:
    """Add the log predictive density of the cells x that are there under each of k clusters."""
    cache = block.cache
    k = full_lanes(k)
    for c in range(x.size):
        cell, at = x[c], 5 * c
        if not math.isnan(cell):
            for j in range(k):
                away = cell - cache[at + 3, j]
                term = 1.0 + cache[at + 4, j] * (away * away)
                out[j] = out[j] + cache[at, j] - cache[at + 1, j] * log(term)


@inner_kernel
def log_marginal(n: float, block: Block, j: Index) -> float:  # noqa: ARG001
    """Log density of all cells of cluster j together; needs a refreshed cache."""
    total = 0.0
    for c in range(block.stats.shape[0] // 3):
        total += normal.log_marginal(block.stats[3 * c, j], _column(block, c), j)
    return total


@inner_kernel
def merge(n: float, more: float, source: Floats, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the items whose statistics stand in ``source`` into cluster j."""
    for c in range(block.stats.shape[0] // 3):
        cells = source[3 * c, j]
        if cells > 0.0:
            there = table_rows(source, 3 * c + 1, 2)
            normal.merge(block.stats[3 * c, j], cells, there, _column(block, c), j)
            block.stats[3 * c, j] += cells


@inner_kernel
def draw(n: float, block: Block, j: Index, theta: Floats, at: Index, state: Random) -> None:  # noqa: ARG001
    """Draw means and precisions of cluster j: per column the parameters of ``normal``."""
    for c in range(block.stats.shape[0] // 3):
        mine = table_rows(theta, 3 * c, 3)
        normal.draw(block.stats[3 * c, j], _column(block, c), j, mine, at, state)


@inner_kernel
def log_density(x: Floats, present: Floats, theta: Floats, at: Index, out: Floats) -> None:
    """Add the log density of the cells of each item that are there, given drawn parameters."""
    for c in range(x.shape[0]):
        constant, mean, half = theta[3 * c, at], theta[3 * c + 1, at], theta[3 * c + 2, at]
        for i in range(TILE):
            a = x[c, i] - mean
            out[i] += present[c, i] * (constant - half * (a * a))
