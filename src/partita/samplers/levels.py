"""Columns of levels as blocks of the compiled family; yes and no are two of them."""

from __future__ import annotations

import numpy as np

from partita.errors import InvalidInputError
from partita.samplers.cells import Floats, column_groups
from partita.samplers.kernel import Block


def level_blocks(pseudo: list[Floats], n_items: int, incomplete: frozenset[int]) -> list[Block]:
    """Columns with the given pseudo-counts of their levels, the incomplete ones each alone."""
    smallest, largest = min(w.min() for w in pseudo), max(w.max() for w in pseudo)
    if not (smallest > 1e-30 and largest < 1e30):  # eight are multiplied at a time
        raise InvalidInputError(
            f"prior counts from {smallest:g} to {largest:g} are out of proportion to any data; "
            "expected numbers between 1e-30 and 1e30."
        )
    return [
        _level_block(columns, [pseudo[c] for c in columns], n_items)
        for columns in column_groups(len(pseudo), incomplete)
    ]


def _level_block(columns: list[int], pseudo: list[Floats], n_items: int) -> Block:
    from scipy.special import gammaln

    from partita.kernels.gibbs.family import CATEGORICAL

    n = np.arange(n_items + 1.0)
    totals = np.array([weights.sum() for weights in pseudo])[:, None]
    tables = [
        -np.log(totals + n).sum(axis=0),
        (gammaln(totals) - gammaln(totals + n)).sum(axis=0),
    ]
    starts = np.concatenate([[0], np.cumsum([weights.size for weights in pseudo])])
    hyper = np.concatenate([starts, *pseudo]).astype(np.float64)
    return Block(CATEGORICAL, tuple(columns), hyper, np.stack(tables), int(starts[-1]), 1, 1)
