"""From draws and a loss to the arrays that the compiled search reads."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from partita._resources import available_memory
from partita.draws import Draws
from partita.kernels.counts import (
    Averaged,
    AveragedLists,
    CountState,
    MemberState,
    PerDraw,
    PerDrawLists,
    number_rows,
    truth_sums,
)
from partita.kernels.local_search import fill_state
from partita.kernels.problem import LANES, LogPairs, Pairs, PairState, Scratch
from partita.labels import Labels
from partita.losses.base import Loss
from partita.search import settings
from partita.search.task import Task

Problem = Averaged | PerDraw | AveragedLists | PerDrawLists | Pairs | LogPairs
"""A search problem."""

State = CountState | MemberState | PairState
"""State of a search."""

LIST_COST = 6.0
"""Cost of counting one companion, in cells of a table."""

MEMORY_SHARE = 0.06
"""Share of the free memory that one search's tables may take: several threads search, and tables
are copied when they grow."""

MERGE_TABLES = 5
"""Tables of all pairs of clusters that comparing them takes."""


def problem_of(task: Task) -> Problem:
    """The search problem of a task on tables of all its draws, or on its similarity matrix."""
    if task.by_similarity:
        return problem_from_similarity(task.similarity, task.loss)
    assert task.draws is not None
    return tables_from_draws(task.draws, task.loss)


def problem_from_draws(
    draws: Draws, loss: Loss
) -> Averaged | PerDraw | AveragedLists | PerDrawLists:
    """The search problem of a loss on the draws: with count tables, or lists for many clusters.

    Memory: 4 bytes per label and, in tables, 12 bytes per cluster of all draws
    and per cluster of the estimate; in lists, 8 more bytes per label.
    """
    if needs_lists(draws):
        return lists_from_draws(draws, loss)
    return tables_from_draws(draws, loss)


def needs_lists(draws: Draws) -> bool:
    """Whether lists of members are faster than tables of counts, or the tables would not fit."""
    clusters = float(draws.n_clusters.mean())
    if clusters < settings.FEW_CLUSTERS:
        return False
    free = available_memory()
    tables = draws.n_draws * table_bytes(clusters, 2 * int(clusters))
    if free is not None and tables > MEMORY_SHARE * free:
        return True
    some = draws.rows(0, min(16, draws.n_draws))
    companions = float(np.mean([(np.bincount(row) ** 2).sum() for row in some])) / draws.n_items
    return clusters > LIST_COST * companions


def tables_from_draws(draws: Draws, loss: Loss) -> Averaged | PerDraw:
    """The search problem of a loss on count tables of the draws."""
    kind = Averaged if loss.averages_sums else PerDraw
    return kind(*_sums_and_rows(draws, loss))


def lists_from_draws(draws: Draws, loss: Loss) -> AveragedLists | PerDrawLists:
    """The search problem of a loss on lists of the members of the draws' clusters."""
    fields = _sums_and_rows(draws, loss)
    members = np.argsort(draws.labels, axis=1, kind="stable").astype(np.int32).ravel()
    first = np.concatenate(([0], np.cumsum(np.bincount(fields[3].ravel()))))
    kind: Any = AveragedLists if loss.averages_sums else PerDrawLists
    found: AveragedLists | PerDrawLists = kind(*fields, members, first)
    return found


def _sums_and_rows(draws: Draws, loss: Loss) -> tuple[Any, ...]:
    """What both kinds of problems have: the loss's arithmetic, the rows of clusters, masses."""
    terms, steps = terms_and_steps(loss, draws.n_items)
    row_of, row_draw, truth = row_tables(draws, terms)
    weights = np.array(draws.probabilities)  # writable: a read-only array would compile again
    shared = (loss.form(draws.n_items), terms, steps, row_of, row_draw)
    return (*shared, weights, truth, float((weights * truth).sum()))


def row_tables(
    draws: Draws, terms: NDArray[np.float64]
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.float64]]:
    """Row of each item's cluster in each draw, draw of each row, and Σ f(n_t) of each draw."""
    n_draws, n_items = draws.labels.shape
    row_of, truth, n_rows = np.empty((n_items, n_draws), np.uint32), np.empty(n_draws), 0
    for block in draws.blocks(max(1, (1 << 18) // n_items)):
        labels, clusters = draws.rows(block.start, block.stop), draws.n_clusters[block]
        rows, _ = number_rows(labels, clusters)
        row_of[:, block] = rows.T + np.uint32(n_rows)
        n_rows += int(clusters.sum())
        truth[block] = truth_sums(labels, clusters, terms)
    return row_of, np.repeat(np.arange(n_draws, dtype=np.int32), draws.n_clusters), truth


def problem_from_similarity(similarity: NDArray[np.float64], loss: Loss) -> Pairs | LogPairs:
    """The search problem of a loss that depends on the similarity matrix alone."""
    n_items = len(similarity)
    terms, steps = terms_and_steps(loss, n_items)
    sums = similarity.sum(axis=1)
    matrix = np.ascontiguousarray(similarity).view()
    matrix.flags.writeable = False  # as that of draws is: a writable array would compile again
    form = loss.form(n_items)
    if loss.from_similarity == "logarithms":
        return LogPairs(form, terms, steps, matrix, float(np.log2(sums).sum()))
    return Pairs(form, terms, steps, matrix, float(sums.sum()))


def terms_and_steps(loss: Loss, n_items: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The loss's terms f(0), …, f(n_items), and what each cluster size adds to the one before."""
    terms = np.array(loss.terms(n_items), np.float64)
    # No cluster has more than all items: the last step is read, and never used.
    return terms, np.append(np.diff(terms), 0.0)


def n_items_of(problem: Problem) -> int:
    """Number of items of a problem."""
    return int(problem.steps.size - 1)


def reads_of(problem: Problem) -> int:
    """Rows of a table that are read to score one item."""
    if isinstance(problem, Pairs | LogPairs):
        return n_items_of(problem)
    return int(problem.weights.size)


def co_member_work(problem: Problem) -> float:
    """The cost of counting an item's co-members in lists, in cells; 0 where there are tables."""
    if not has_lists(problem):
        return 0.0
    sizes = np.diff(problem.first).astype(np.float64)
    return LIST_COST * float(sizes @ sizes) / n_items_of(problem)


def cost_per_item(problem: Problem, n_clusters: int, companions: float) -> float:
    """Cells of a table that are read to score one item, or what counting its companions costs."""
    return companions or float(max(1, reads_of(problem)) * (n_clusters + LANES))


def has_counts(problem: Problem) -> TypeGuard[Averaged | PerDraw]:
    """Whether the problem has count tables."""
    return isinstance(problem, Averaged | PerDraw)


def has_lists(problem: Problem) -> TypeGuard[AveragedLists | PerDrawLists]:
    """Whether the problem has lists of members."""
    return isinstance(problem, AveragedLists | PerDrawLists)


def of_each_draw(problem: Problem) -> bool:
    """Whether the loss's three sums are combined draw by draw."""
    return isinstance(problem, PerDraw | PerDrawLists)


def new_state(problem: Problem, labels: Labels | None, room: int = 0) -> State:
    """A state at the given canonical labels, or with every item taken out.

    Tables have room for ``room`` clusters, or for one more than there are:
    narrow ones are read from cache, and a state that needs more room is grown.
    """
    n_items = n_items_of(problem)
    k = 0 if labels is None else int(labels.max()) + 1
    capacity = padded(max(k, room) + 2)
    slot_of = np.full(n_items, -1, np.int32) if labels is None else labels.astype(np.int32)
    sizes, used = np.zeros(capacity, np.int64), np.zeros(1, np.int64)
    state: State
    if has_counts(problem):
        shape = (problem.row_draw.size, capacity)
        state = CountState(
            slot_of,
            sizes,
            used,
            counts=np.zeros(shape, np.int32),
            gains=np.full(shape, problem.steps[0]),
            joint=np.zeros(problem.weights.size),
            mean_joint=np.zeros(1),
        )
    elif has_lists(problem):
        tally, joint = np.zeros(capacity, np.int32), np.zeros(problem.weights.size)
        state = MemberState(slot_of, sizes, used, tally, joint, mean_joint=np.zeros(1))
    else:
        within = np.zeros((capacity, n_items))
        state = PairState(slot_of, sizes, used, within, joint=np.zeros(1))
    if labels is not None:
        fill_state(problem, state)
    return state


def grown(problem: Problem, state: State) -> State:
    """The same state with half as much room again for clusters."""
    extra = padded(state.sizes.size // 2)
    sizes = np.concatenate((state.sizes, np.zeros(extra, np.int64)))
    if isinstance(state, PairState):
        return state._replace(sizes=sizes, within=np.pad(state.within, ((0, extra), (0, 0))))
    if isinstance(state, MemberState):
        return state._replace(sizes=sizes, tally=np.pad(state.tally, (0, extra)))
    columns = ((0, 0), (0, extra))
    return state._replace(
        sizes=sizes,
        counts=np.pad(state.counts, columns),
        gains=np.pad(state.gains, columns, constant_values=problem.steps[0]),
    )


def new_scratch(problem: Problem, state: State) -> Scratch:
    """Buffers that fit a state."""
    capacity, n_items = state.sizes.size, state.slot_of.size
    width = capacity if has_lists(problem) else 0
    return Scratch(
        own=np.zeros(capacity),
        scores=np.zeros(capacity),
        lost=np.zeros(problem.weights.size if has_counts(problem) else 0),
        apart=np.zeros(width),
        same_size=np.zeros(width, np.int64),
        sizes=np.zeros(width, np.int64),
        margin=np.full(n_items, np.inf),
        other=np.zeros(n_items, np.int64),
        slack=np.zeros(1),
    )


def table_bytes(clusters_of_draw: float, clusters: int) -> int:
    """Bytes of a state's tables for each draw: a count and a gain for each pair of clusters."""
    return int(12 * clusters_of_draw * padded(clusters + 2))


def search_bytes(problem: Problem) -> int:
    """Bytes of one search's tables, while they are copied to grow."""
    n_items = n_items_of(problem)
    if has_counts(problem):
        clusters = problem.row_draw.size / problem.weights.size
        return 2 * problem.weights.size * table_bytes(clusters, 2 * int(clusters))
    if has_lists(problem):
        clusters = min(problem.row_draw.size // problem.weights.size, settings.MERGED_CLUSTERS)
        return 8 * (problem.weights.size + n_items + MERGE_TABLES * clusters**2)
    return 8 * n_items * n_items


def padded(slots: int) -> int:
    """The number of slots rounded up to full vectors."""
    return (slots + LANES - 1) // LANES * LANES
