"""What the sampler's loops pass around: a few tuples of arrays, each with one owner.

A model is a list of column blocks, each of one family. A row of ``blocks`` says where a
block's numbers stand; its entries are named below. Clusters live in a store, side by side:
column j belongs to the cluster at position j, so that a loop over clusters runs over
neighbours in memory. Row 0 is the number of items, row 1 the log prior weight of joining.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels.arrays import Floats, Ints, UInt64s

Random = UInt64s

FAMILY = 0
FIRST, N_COLUMNS = 1, 2
"""Columns of the data."""
COUNT = 3
"""Row of the store that counts the block's items: 0, unless cells are missing."""
STATS, N_STATS, CACHE, N_CACHE = 4, 5, 6, 7
"""Rows of the store."""
HYPER, N_HYPER, TABLES, N_TABLES = 8, 9, 10, 11
ADDRESS = 12
"""Addresses of the five functions of a user's kernel, from here on."""
WIDTH = 17


class Likelihood(NamedTuple):
    """Data, columns of a block side by side, and the blocks' constants."""

    data: Floats
    blocks: Ints
    hyper: Floats
    tables: Floats


class Block(NamedTuple):
    """One column block as its family's functions see it.

    hyper : hyperparameters. tables : one row per table, by a cluster's number of items.
    stats, cache : one row per number, one column per cluster. work : scratch of that width.
    """

    hyper: Floats
    tables: Floats
    stats: Floats
    cache: Floats
    work: Floats


class Prior(NamedTuple):
    """A prior for N items; see ``prior.py``.

    ``log_size[0]`` is 0, ``shape`` 0 for a fixed parameter. ``components`` are the log
    probabilities of K = 0, 1, … components, of which ``n_terms`` from K = k on count; empty for
    priors without. ``dynamic``: the Dirichlet weight is α/K. ``is_f``: shape and rate are the
    degrees of freedom of an F distribution.
    """

    sigma: float
    log_size: Floats
    log_block: Floats
    open_table: Floats
    shape: float
    rate: float
    components: Floats = np.empty(0)
    n_terms: int = 0
    dynamic: bool = False
    is_f: bool = False


class Rates(NamedTuple):
    """Rates of normal columns that are learned: block, column in it, and their gamma priors."""

    block: Ints
    column: Ints
    shape: Floats
    rate: Floats


class Clusters(NamedTuple):
    """The clusters of a chain, and scratch as wide as their store.

    Items carry the ``names`` of their clusters. Names stay, positions close up when a cluster
    dies: ``name_at`` is a permutation of all names, those of the living clusters at their
    positions, then the free ones; ``position_of`` is its inverse.
    """

    names: Ints
    store: Floats
    work: Floats
    weights: Floats
    name_at: Ints
    position_of: Ints


class Proposal(NamedTuple):
    """A split or merge under way: its two halves and the merged cluster, and the items in it."""

    halves: Floats
    members: Ints
    side: Ints


class Plan(NamedTuple):
    """Iterations first + 1 … last of a chain, and what each of them does."""

    first: int
    last: int
    burn_in: int
    thin: int
    n_sweeps: int
    n_split_merge: int
