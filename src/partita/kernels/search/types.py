"""What a search minimises and where it stands.

A search either walks with count tables of the estimate against all draws, or,
for losses that need no more, with sums of the similarity matrix. The moves
are the same; ``kind`` says which arithmetic they use.

The estimate's clusters are "slots". Slots 0 … k − 1 are used and slot k is
always empty, so that opening a new cluster is a move like any other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AVERAGED, PER_DRAW, PAIRS, PAIRS_LOG = range(4)
"""Kinds of problem.

AVERAGED: counts, the three sums are averaged over draws before they are
combined (linear losses, for which that is exact, and PEAR). PER_DRAW: counts,
combined draw by draw. PAIRS: similarity, sums of pairs. PAIRS_LOG: similarity,
logarithms of each item's sums (VI_LB).
"""

LANES = 8
"""Slots are padded to full vectors of float64, so that inner loops need no remainder."""

TOLERANCE = 1e-12
"""Improvements below this are rounding, and would let a search cycle."""


class Problem(NamedTuple):
    """What a search minimises. Arrays of the arithmetic not used have length 0."""

    kind: int
    form: int
    a: float
    terms: NDArray[np.float64]  # (n_items + 1,): f(x)
    steps: NDArray[np.float64]  # (n_items + 1,): f(x + 1) − f(x)
    mean_truth: float  # mean over draws of Σ f(n_t)
    row_of: NDArray[np.int32]  # (n_items, n_draws): row of the item's cluster in each draw
    row_draw: NDArray[np.int32]  # (n_rows,): draw of each row
    weights: NDArray[np.float64]  # (n_draws,)
    truth: NDArray[np.float64]  # (n_draws,): Σ f(n_t)
    similarity: NDArray[np.float64]  # (n_items, n_items)


class State(NamedTuple):
    """Where a search stands: a partition and everything that a move changes."""

    slot_of: NDArray[np.int32]  # (n_items,): −1 while an item is taken out
    sizes: NDArray[np.int64]  # (capacity,)
    k: NDArray[np.int64]  # (1,): slots in use
    counts: NDArray[np.int32]  # (n_rows, capacity): items a draw's cluster shares with a slot
    gains: NDArray[np.float64]  # (n_rows, capacity): steps[counts]
    joint: NDArray[np.float64]  # (n_draws,): Σ f(n_te)
    mean_joint: NDArray[np.float64]  # (1,): its mean over draws
    within: NDArray[np.float64]  # (capacity, n_items): Σ p_ij over the members j of a slot


class Scratch(NamedTuple):
    """Buffers of one search, so that moves allocate nothing."""

    own: NDArray[np.float64]  # (capacity,)
    scores: NDArray[np.float64]  # (capacity,)
    lost: NDArray[np.float64]  # (n_draws,)
    margin: NDArray[np.float64]  # (n_items,): cost of an item's best move, when last looked at
    other: NDArray[np.int64]  # (n_items,): where that move leads
