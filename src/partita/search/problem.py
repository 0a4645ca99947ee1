"""From draws and a loss to the arrays that the compiled search walks with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels.losses import forms
from partita.kernels.search.counts import number_rows, truth_sums
from partita.kernels.search.moves import fill_state
from partita.kernels.search.types import (
    AVERAGED,
    LANES,
    PAIRS,
    PAIRS_LOG,
    PER_DRAW,
    Problem,
    Scratch,
    State,
)
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.ompear import OneMinusPEAR
from partita.losses.vi import VI
from partita.losses.vi_lower_bound import VILowerBound
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels


def problem_from_draws(draws: Draws, loss: Loss) -> Problem:
    """The search problem of a loss on count tables of the draws.

    Memory: 4 bytes per label, and 12 bytes per cluster of all draws and per
    cluster of the estimate.
    """
    n_draws, n_items = draws.labels.shape
    terms, steps = _terms(loss, n_items)
    offsets = np.concatenate(([0], np.cumsum(draws.n_clusters)[:-1]))
    row_of = np.empty((n_items, n_draws), np.int32)
    truth = np.empty(n_draws)
    for block in draws.blocks(max(1, (1 << 18) // n_items)):
        labels = draws.rows(block.start, block.stop)
        number_rows(labels, offsets, row_of, block.start)
        truth_sums(labels, draws.n_clusters[block], terms, truth[block])
    weights = np.array(draws.probabilities)  # writable: a read-only array would compile again
    averaged = isinstance(loss, (VI, Binder, OneMinusPEAR))
    return Problem(
        kind=AVERAGED if averaged else PER_DRAW,
        form=loss.form,
        a=loss.split_price,
        terms=terms,
        steps=steps,
        mean_truth=float((weights * truth).sum()),
        row_of=row_of,
        row_draw=np.repeat(np.arange(n_draws, dtype=np.int32), draws.n_clusters),
        weights=weights,
        truth=truth,
        similarity=np.empty((0, 0)),
    )


def problem_from_similarity(similarity: NDArray[np.float64], loss: Loss) -> Problem:
    """The search problem of a loss that depends on the similarity matrix alone."""
    logarithmic = isinstance(loss, VILowerBound)
    terms, steps = _terms(loss, len(similarity))
    sums = similarity.sum(axis=1)
    return Problem(
        kind=PAIRS_LOG if logarithmic else PAIRS,
        form=loss.form,
        a=loss.split_price,
        terms=terms,
        steps=steps,
        mean_truth=float(np.log2(sums).sum() if logarithmic else sums.sum()),
        row_of=np.empty((0, 0), np.int32),
        row_draw=np.empty(0, np.int32),
        weights=np.empty(0),
        truth=np.empty(0),
        similarity=np.ascontiguousarray(similarity),
    )


def _terms(loss: Loss, n_items: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    longer = forms.term_table(loss.form, n_items + 1)
    return longer[:-1].copy(), np.diff(longer)


def n_items_of(problem: Problem) -> int:
    """Number of items of a problem."""
    return int(problem.steps.size - 1)


def new_state(problem: Problem, labels: Labels | None, room: int = 0) -> State:
    """A state at the given canonical labels, or with every item taken out.

    Tables have room for ``room`` clusters, or for one more than there are:
    narrow ones are read from cache, and a state that needs more room is grown.
    """
    n_items = n_items_of(problem)
    k = 0 if labels is None else int(labels.max()) + 1
    capacity = padded(max(k, room) + 2)
    counts_rows = problem.row_draw.size
    by_pairs = problem.kind in (PAIRS, PAIRS_LOG)
    state = State(
        slot_of=np.full(n_items, -1, np.int32) if labels is None else labels.astype(np.int32),
        sizes=np.zeros(capacity, np.int64),
        k=np.zeros(1, np.int64),
        counts=np.zeros((counts_rows, capacity), np.int32),
        gains=np.full((counts_rows, capacity), problem.steps[0]),
        joint=np.zeros(problem.weights.size),
        mean_joint=np.zeros(1),
        within=np.zeros((capacity if by_pairs else 0, n_items)),
    )
    if labels is not None:
        fill_state(problem, state)
    return state


def grown(problem: Problem, state: State) -> State:
    """The same state with half as much room again for clusters."""
    extra = padded(state.sizes.size // 2)
    columns = ((0, 0), (0, extra))
    return state._replace(
        sizes=np.concatenate((state.sizes, np.zeros(extra, np.int64))),
        counts=np.pad(state.counts, columns),
        gains=np.pad(state.gains, columns, constant_values=problem.steps[0]),
        within=np.pad(state.within, ((0, extra if state.within.size else 0), (0, 0))),
    )


def new_scratch(problem: Problem, state: State) -> Scratch:
    """Buffers that fit a state."""
    capacity, n_items = state.sizes.size, state.slot_of.size
    return Scratch(
        own=np.zeros(capacity),
        scores=np.zeros(capacity),
        lost=np.zeros(problem.weights.size),
        margin=np.zeros(n_items),
        other=np.zeros(n_items, np.int64),
    )


def table_bytes(clusters_of_draw: float, clusters: int) -> int:
    """Bytes of a state's tables for each draw: a count and a gain for each pair of clusters."""
    return int(12 * clusters_of_draw * padded(clusters + 2))


def padded(slots: int) -> int:
    """The number of slots rounded up to full vectors."""
    return (slots + LANES - 1) // LANES * LANES
