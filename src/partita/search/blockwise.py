"""Search on any number of labels: in memory, or by blockwise scans of moves over all draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._resources import stream
from partita._storage import chunk_rows
from partita._wording import counted, words
from partita.draws import Draws
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.local_search import (
    Tables,
    add_counts,
    add_moved_losses,
    add_moves,
    best_moves,
    draws_at_once,
    fill_gains,
    moved_losses,
    new_tables,
)
from partita.kernels.problem import LANES, NUDGE, ROUNDING
from partita.labels import Labels, canonical
from partita.losses.base import Loss
from partita.losses.builtin import VI
from partita.scan import (
    Block,
    Sums,
    gather,
    gather_if_small,
    is_remote,
    is_small,
    map_blocks,
    sum_blocks,
)
from partita.search import best_draw, multistart, settings
from partita.search.multistart import (
    SINGLETONS,
    LocalMinimum,
    Multistart,
    agreed,
    distinct,
    exploration_problem,
    sample_draws,
)
from partita.search.problem import padded, terms_and_steps
from partita.search.result import DRAWS_ONLY
from partita.search.task import Candidate, Task

TABLE_CELLS = 1 << 24
"""Cells that the table of one draw may have."""


def search(task: Task, *, brief: bool = False) -> list[Candidate]:
    """Sweep in memory; where labels are many, explore a sample and move items by passes.

    A brief search ends where the items are placed.
    """
    if not _needs_scans(task):
        task.draws = None if task.draws is None else gather_if_small(task.draws)
        return multistart.search(task)
    assert task.draws is not None
    fine = task.options.starts.max(axis=1, initial=0) >= _most_in_tables(task)
    if fine.any():
        compared = [Candidate(row, "user") for row in task.options.starts[fine]]
        task.options = replace(task.options, starts=task.options.starts[~fine])
        found, task.log.settled = [*search(task, brief=brief), *compared], None
        return found
    cap = _most_clusters(task)
    if task.options.max_clusters is None and 10 * cap < float(task.draws.n_clusters.mean()):
        return _search_draws_only(task, cap)
    capped = replace(task, options=replace(task.options, max_clusters=cap))
    best = _initial_candidate(capped, 1 if brief else settings.LEADING)

    def keep(labels: Labels) -> None:
        task.log.found[:] = [Candidate(labels, best.origin)]

    keep(best.labels)
    labels, task.log.settled = best.labels, False
    if not brief:
        labels, task.log.settled = descend(capped, best.labels, keep)
    found = [Candidate(labels, best.origin)]
    if cap == task.max_clusters:
        return found
    if int(labels.max()) + 1 == cap:
        task.log.limit(f"size: partitions of more than {cap:,} clusters were not searched")
    alone = np.arange(task.n_items, dtype=np.int32)
    if task.options.max_clusters is None and task.evaluate(alone) < task.evaluate(labels):
        found.append(Candidate(alone, SINGLETONS))
        task.log.settled = None
    return found


def _search_draws_only(task: Task, cap: int) -> list[Candidate]:
    """Compare the draws themselves, and singletons: a table of finer partitions is too large."""
    task.log.limit(
        f"{DRAWS_ONLY} more than {cap:,} clusters, too many for a search; only the draws "
        "and all items alone were compared"
    )
    task.log.settled = None
    singletons = Candidate(np.arange(task.n_items, dtype=np.int32), SINGLETONS)
    users = [Candidate(row, "user") for row in task.options.starts]
    return [*best_draw.search(task), *users, singletons]


def _needs_scans(task: Task) -> bool:
    if task.draws is None or task.by_similarity:
        return False
    return task.n_items > settings.MANY_ITEMS or not is_small(task.draws)


def _most_in_tables(task: Task) -> int:
    """Clusters of which, with those of any draw, tables can be made; more are compared only."""
    assert task.draws is not None
    return TABLE_CELLS // int(task.draws.n_clusters.max()) // LANES * LANES - 2


def _most_clusters(task: Task) -> int:
    """Clusters of a partition up to which a look at all draws takes no longer than it may.

    The user's own starts, and the user's own limit, are kept to.
    """
    assert task.draws is not None
    clusters = task.draws.n_clusters
    most = max(
        1,
        min(
            _most_in_tables(task),
            max(settings.FEW_CLUSTERS, int(settings.CLUSTER_TIMES * clusters.mean())),
        ),
    )
    if task.options.starts.size:
        most = max(most, int(task.options.starts.max()) + 1)
    return min(most, task.max_clusters)


def _sample(task: Task) -> Draws:
    assert task.draws is not None
    items = min(task.n_items, settings.SOME_ITEMS)
    size = int(np.clip(settings.SAMPLE_LABELS // items, settings.FEWEST_DRAWS, settings.MOST_DRAWS))
    return sample_draws(task.draws, size, task.rng)


def some_items(draws: Draws, rng: np.random.Generator) -> Items:
    """Items at random, and some of every cluster of several draws: small ones are not lost."""
    n = draws.n_items
    if n <= settings.SOME_ITEMS:
        return np.arange(n)
    strata = np.zeros(n, np.bool_)
    spread = np.unique(np.linspace(0, draws.n_draws - 1, settings.STRATA).astype(np.int64))
    for row in draws.labels_at(spread):
        order = rng.permutation(n)
        labels = row[order]
        by_cluster = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        strata[order[by_cluster[rank < settings.STRATUM_ITEMS]]] = True
    wanted = np.flatnonzero(strata)
    if wanted.size > settings.SOME_ITEMS:
        wanted = rng.choice(wanted, settings.SOME_ITEMS, replace=False)
    return np.union1d(wanted, rng.choice(n, settings.SOME_ITEMS, replace=False))


def _explore_sample(task: Task, sample: Draws, items: Items) -> list[LocalMinimum]:
    """Where starts end on some items in some draws."""
    few = sample if items.size == task.n_items else gather(sample.select_items(items))
    starts = np.array([canonical(row[items]) for row in task.options.starts], np.int32)
    options = replace(task.options, starts=starts.reshape(-1, items.size))
    there = replace(task.on(few), options=options)
    return Multistart(there, *exploration_problem(there)).run()


def _select_minima(reached: list[LocalMinimum], most: int) -> list[LocalMinimum]:
    """The explored partitions that all items are given to: one, or several that may be best."""
    best = distinct(reached)[: 1 if agreed(reached) else most]
    return [r for r in best if r.loss <= best[0].loss * (1.0 + settings.NEAR)]


def _initial_candidate(task: Task, most: int) -> Candidate:
    """The best partition to begin with, of a limited number of explored ones and the user's."""
    assert task.draws is not None
    sample = _sample(task)
    items = some_items(sample, task.rng)
    reached = _explore_sample(task, sample, items)
    selected = _select_minima(reached, most)
    task.log.limit(_sample_limit_message(task, sample, items, reached, selected))
    begun = [Candidate(row, "user") for row in task.options.starts]
    begun += [
        Candidate(_extend_to_all_items(task, sample, items, r.labels), r.origin) for r in selected
    ]
    if len(begun) == 1:
        return begun[0]
    losses = [task.loss.expected(c.labels, task.draws, task.options.n_jobs) for c in begun]
    return begun[int(np.argmin(losses))]


def _extend_to_all_items(task: Task, sample: Draws, items: Items, labels: Labels) -> Labels:
    """A partition of some items with the others placed; roughly if time was up for that."""
    if items.size == task.n_items:
        return labels
    # A loss that cannot judge some of the items leaves placing the others to one that can.
    judge = task if task.loss.averages_sums else replace(task, loss=VI())
    placed = place(judge, sample, items, labels)
    return canonical(_by_one_draw(sample, items, labels) if placed is None else placed)


def _by_one_draw(sample: Draws, items: Items, labels: Labels) -> Labels:
    """Each other item where most of the known ones are that share its cluster in the first draw."""
    row = sample.rows(0, 1)[0]
    table = np.zeros((int(row.max()) + 1, int(labels.max()) + 1), np.int64)
    np.add.at(table, (row[items], labels), 1)
    out: Labels = table.argmax(axis=1).astype(np.int32)[row]
    out[items] = labels
    return out


def _sample_limit_message(
    task: Task,
    sample: Draws,
    items: Items,
    reached: list[LocalMinimum],
    selected: list[LocalMinimum],
) -> str:
    assert task.draws is not None
    met = sum(r.labels.tobytes() == selected[0].labels.tobytes() for r in reached if selected)
    return (
        f"size: {counted(len(reached), 'start')} explored {items.size:,} of {task.n_items:,} items "
        f"in {sample.n_draws:,} of {task.draws.n_draws:,} distinct draws; {met:,} met at the "
        "partition from which items were then moved on all draws"
    )


# ------------------------------------------------------------------ scans of all draws


Items = NDArray[np.int64]

LEAST_BYTES, MOST_BYTES = 1 << 26, 1 << 31
"""Bytes that tables of items and clusters may always take, and never exceed; in between one for
each label."""

GROUP_CELLS = 1 << 16
"""Cells of the tables of the draws that are taken together, which stay in cache."""

TILE = 20_000
"""Items whose labels are converted at a time; at no power of 2 apart, they share no cache lines."""


class Placement(NamedTuple):
    """Some items in slots, from which a block counts its tables."""

    items: Items | None
    """Which items; None for all."""
    slots: Labels
    """The slot of each."""
    n_slots: int
    """Number of slots, with an empty one if items may open a cluster."""


@dataclass(frozen=True, eq=False)
class MoveScan:
    """Expected loss of a partition, and of single moves of some of its items.

    Attributes
    ----------
    loss, slack : float
        Expected loss, and what rounding can do to it.
    items : ndarray of int64
        The items that were looked at.
    best : ndarray of int64
        The best other cluster of each, k for a new one; −1 where there is none.
    margin : ndarray of float
        What the expected loss rises by if the item, alone, moves there.
    """

    loss: float
    slack: float
    items: Items
    best: NDArray[np.int64]
    margin: Floats

    @property
    def downhill(self) -> NDArray[np.int64]:
        """Positions among the items of the moves that lower the loss, best first."""
        falls = np.flatnonzero(self.margin < -self.slack)
        return falls[np.argsort(self.margin[falls], kind="stable")]


def scan_items(task: Task, labels: Labels, items: Items | None = None) -> MoveScan | None:
    """MoveScan at moves of some items, or of all; None if time was up before that was done."""
    assert task.draws is not None
    draws, loss, k = task.draws, task.loss, int(labels.max()) + 1
    some = np.arange(labels.size) if items is None else items
    placed = Placement(None, labels, k + 1)
    most = k + 1 if task.options.max_clusters is None else task.options.max_clusters
    best, lowest = np.empty(some.size, np.int64), np.empty(some.size)
    summed, said = None, words(draws.kind).draws
    for part, summed in _sums_of(task, draws, loss, placed, some):
        task.report(f"looking at {part.stop:,} of {some.size:,} items in all {said}")
        if summed is None:
            return None
        losses = summed.losses(loss, labels[some[part]])
        best[part], lowest[part] = best_moves(losses, labels[some[part]], summed.sizes, most)
    assert summed is not None
    task.log.n_evaluated += some.size
    value, slack = summed.value(loss)
    return MoveScan(value, slack, some, best, lowest - value)


def single_moves(task: Task, labels: Labels, losses: Sequence[Loss]) -> list[Floats] | None:
    """Expected losses on all draws after each item has moved to each cluster.

    The losses average the sums and share their terms: one loss at several prices. One array for
    each, of shape (n_items, k + 1); None if time was up before that was done.
    """
    assert task.draws is not None
    k, n = int(labels.max()) + 1, labels.size
    placed, parts = Placement(None, labels, k + 1), []
    for part, summed in _sums_of(task, task.draws, losses[0], placed, np.arange(n)):
        if summed is None:
            return None
        parts.append([summed.losses(loss, labels[part]) for loss in losses])
    task.log.n_evaluated += n
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def place(task: Task, draws: Draws, known: Items, labels: Labels) -> Labels | None:
    """All items: some as they are, each other one where it fits best among them on these draws.

    None if time was up before that was done.
    """
    loss, k = task.loss, int(labels.max()) + 1
    out = np.full(draws.n_items, -1, np.int32)
    out[known] = labels
    others = np.flatnonzero(out < 0)
    placed = Placement(known, labels, k)
    for part, summed in _sums_of(task, draws, loss, placed, others):
        task.report(f"placing {part.stop:,} of {others.size:,} items")
        if summed is None:
            return None
        nowhere = np.full(part.stop - part.start, -1, np.int32)
        out[others[part]] = np.argmin(summed.losses(loss, nowhere), axis=1)
    return out


def _chunks(task: Task, draws: Draws, n_items: int, n_slots: int) -> Iterator[slice]:
    """Chunks of items whose sums fit in memory, of a few blocks of draws at a time."""
    space = int(np.clip(draws.n_items * draws.n_draws, LEAST_BYTES, MOST_BYTES))
    step = max(1, space // (8 * padded(n_slots) * (2 * task.threads + 2)))
    for start in range(0, max(1, n_items), step):
        yield slice(start, min(start + step, n_items))


class MoveSums(NamedTuple):
    """Sums over all draws."""

    values: Floats  # (n_items, width): steps of the mean joint sum, or losses
    totals: Floats  # (2,): mean Σ f(n_te) and Σ f(n_t), or the loss and what a nudge does to it
    sizes: NDArray[np.int64]  # (n_slots,)
    terms: Floats
    steps: Floats

    def losses(self, loss: Loss, homes: Labels) -> Floats:
        """Expected loss after each item has moved to each slot; its own slot says nothing."""
        if not loss.averages_sums:
            return self.values
        form, (joint, truth) = loss.form(int(self.sizes.sum())), self.totals.tolist()
        return moved_losses(
            form, self.values, joint, truth, homes, self.sizes, self.terms, self.steps
        )

    def value(self, loss: Loss) -> tuple[float, float]:
        """The expected loss, and what rounding of its sums can do to it."""
        value, change = self.totals.tolist()
        if loss.averages_sums:
            own = float(self.terms[self.sizes].sum())
            value, change = _nudged(loss.form(int(self.sizes.sum())), value, own, change)
        return value, ROUNDING / NUDGE * change


def _nudged(form: Any, joint: float, own: float, truth: float) -> tuple[float, float]:
    """A loss, and what ``NUDGE`` of the joint sum, and of the two others, does to it."""
    loss = form.combine(joint, own, truth)
    apart = form.combine(joint * (1.0 - NUDGE), own, truth)
    around = form.combine(joint, own * (1.0 + NUDGE), truth * (1.0 + NUDGE))
    return loss, abs(apart - loss) + abs(around - loss)


class _TimeIsUpError(Exception):
    """Ends a pass."""


class BlockInputs(NamedTuple):
    """Facts that a scan of the draws needs besides their labels."""

    terms: Floats
    steps: Floats
    own: OwnSums


BlockTables = list[tuple[slice, Tables]]
"""Tables of the draws of a block, a few together."""


def _sums_of(
    task: Task, draws: Draws, loss: Loss, placed: Placement, items: Items
) -> Iterator[tuple[slice, MoveSums | None]]:
    """Sums of the items, a chunk after the other; None once time is up.

    Tables are counted once where they can be kept. Chunks are then so small that their sums stay
    in cache, and are shared out among threads.
    """
    terms, steps = terms_and_steps(loss, draws.n_items)
    known = BlockInputs(terms, steps, _own(placed, terms, steps))
    sizes = np.bincount(placed.slots, minlength=placed.n_slots)
    jobs = task.options.n_jobs

    def total(
        part: slice, tables: dict[int, BlockTables] | None, threads: int | None
    ) -> MoveSums | None:
        # One number for each item: workers make their own.
        there = None if is_remote(draws) else known
        visit = partial(
            _scan_block, loss=loss, placed=placed, items=items[part], known=there, filled=tables
        )
        found = _sum_until_deadline(task, draws, visit, threads)
        if found is None:
            return None
        values, totals = found
        return MoveSums(values, totals, sizes, terms, steps)

    n_tables = draws.n_draws * int(draws.n_clusters.max())
    near = 20 * padded(placed.n_slots) * n_tables <= LEAST_BYTES and not is_remote(draws)
    parts = list(_chunks(task, draws, items.size, placed.n_slots))
    if not near or len(parts) == 1 or task.clock.is_up():
        yield from ((part, total(part, None, jobs)) for part in parts)
        return
    fill = partial(_fill_block, loss=loss, placed=placed, known=known)
    tables = dict(map_blocks(fill, draws, rows=chunk_rows(draws.n_items), n_jobs=jobs))
    small = [slice(at, min(at + TILE, items.size)) for at in range(0, items.size, TILE)]
    yield from zip(small, stream(lambda part: total(part, tables, 1), small, jobs), strict=True)


def _sum_until_deadline(
    task: Task, draws: Draws, visit: Callable[[Block], Sums], n_jobs: int | None
) -> Sums | None:
    """One pass; None if time was up before its last block."""

    def say(_: str) -> None:
        if task.clock.is_up():
            raise _TimeIsUpError

    try:
        say("")
        return sum_blocks(visit, draws, rows=chunk_rows(draws.n_items), n_jobs=n_jobs, say=say)
    except _TimeIsUpError:
        return None


def _fill_block(
    block: Block, *, loss: Loss, placed: Placement, known: BlockInputs
) -> tuple[int, BlockTables]:
    """The pass: all tables of a block, and its first draw."""
    return block.start, list(_block_tables(block, loss, placed, known))


def _block_tables(
    block: Block, loss: Loss, placed: Placement, known: BlockInputs
) -> Iterator[tuple[slice, Tables]]:
    """Tables of a few draws after the other."""
    width, clusters = padded(placed.n_slots), np.array(block.n_clusters)
    most = int(clusters.max())
    at_once = min(clusters.size, draws_at_once(most * width, GROUP_CELLS))
    mass = np.array(block.probabilities)
    weights = mass if loss.averages_sums else np.ones(clusters.size)
    for first in range(0, clusters.size, at_once):
        group = slice(first, min(first + at_once, clusters.size))
        tables = new_tables(at_once, most, width)
        _count(block.labels[group], placed, tables)
        fill_gains(tables, clusters[group], weights[group], known.terms, known.steps)
        yield group, tables


def _scan_block(
    block: Block,
    *,
    loss: Loss,
    placed: Placement,
    items: Items,
    known: BlockInputs | None,
    filled: dict[int, BlockTables] | None,
) -> tuple[Floats, Floats]:
    """The pass: what a block adds to the sums of some items, and to those of the partition."""
    n = block.labels.shape[1]
    if known is None:
        terms, steps = terms_and_steps(loss, n)
        known = BlockInputs(terms, steps, _own(placed, terms, steps))
    homes = placed.slots[items] if placed.items is None else np.full(items.size, -1, np.int32)
    mass = np.array(block.probabilities)
    values, totals = np.zeros((items.size, padded(placed.n_slots))), np.zeros(2)
    groups = _block_tables(block, loss, placed, known) if filled is None else filled[block.start]
    for group, tables in groups:
        labels = block.labels[group]
        totals += _totals(loss, tables, mass[group], known.own)
        for start in range(0, items.size, TILE):
            tile = slice(start, start + TILE)
            rows, out = _columns(labels, items[tile]), values[tile]
            if loss.averages_sums:
                add_moves(rows, homes[tile], tables.gains, tables.back, out)
            else:
                add_moved_losses(
                    loss.form(n), rows, homes[tile], tables, mass[group], known.own.sides, out
                )
    return values, totals


def _totals(loss: Loss, tables: Tables, mass: Floats, own: OwnSums) -> Floats:
    """Contribution of a few draws to the mean sums, or to the loss and its rounding."""
    sums = tables.joint[: mass.size], tables.truth[: mass.size]
    if loss.averages_sums:
        return np.array([float(mass @ part) for part in sums])
    form = loss.form(own.n_items)
    each = zip(*(part.tolist() for part in sums), mass.tolist(), strict=True)
    return sum(
        (w * np.array(_nudged(form, joint, own.whole, truth)) for joint, truth, w in each),
        start=np.zeros(2),
    )


def _count(labels: NDArray[np.unsignedinteger], placed: Placement, tables: Tables) -> None:
    """Count the placed items, tile by tile."""
    for start in range(0, placed.slots.size, TILE):
        tile = slice(start, start + TILE)
        if placed.items is None:
            rows = labels[:, tile].astype(np.int32)
        else:
            rows = _columns(labels, placed.items[tile])
        add_counts(rows, placed.slots[tile], tables.counts)


def _columns(labels: NDArray[np.unsignedinteger], items: Items) -> Int32s:
    """The labels of some items."""
    first, last = int(items[0]), int(items[-1])
    if last - first + 1 == items.size:  # ascending without gaps: no need to gather
        return labels[:, first : last + 1].astype(np.int32)
    return np.take(labels, items, axis=1).astype(np.int32)


class OwnSums(NamedTuple):
    """The estimate's own sum Σ f(n_e), now and after single moves."""

    n_items: int
    whole: float
    sides: tuple[Floats, Floats]
    """Without an item of each slot, (n_slots,); what an item adds in each slot, (width,)."""


def _own(placed: Placement, terms: Floats, steps: Floats) -> OwnSums:
    sizes = np.bincount(placed.slots, minlength=placed.n_slots)
    whole = float(terms[sizes].sum())
    joining = np.full(padded(placed.n_slots), steps[0])
    joining[: sizes.size] = steps[sizes]
    return OwnSums(placed.slots.size, whole, (whole - steps[np.maximum(sizes - 1, 0)], joining))


def descend(task: Task, labels: Labels, keep: Callable[[Labels], None]) -> tuple[Labels, bool]:
    """Descend by single moves; also return whether a scan of all items found no gain.

    ``keep`` is told each partition on the way. All items are looked at first
    and last; in between only the least certain.
    """
    steps, most = 0, _most_evaluated(task, labels)
    move_scan, everyone = scan_items(task, labels), True
    watched = np.empty(0, np.int64)
    while move_scan is not None:
        falls = move_scan.downhill
        if everyone and not falls.size:
            return labels, True
        if steps == settings.SCAN_STEPS or task.log.n_evaluated >= most:
            break
        steps += 1
        if falls.size:
            if everyone:
                watched = _least_certain(move_scan, falls.size)
            labels, move_scan = _apply_moves(task, labels, move_scan, falls, watched, most)
            everyone = False
            keep(labels)
        else:
            move_scan, everyone = scan_items(task, labels), True
    if not task.clock.is_up():
        task.log.limit(
            f"passes: after {counted(steps, 'step')} over all draws, each of many moves, single "
            "items may still move"
        )
    return labels, False


def descend_on_items(task: Task, labels: Labels, items: Items) -> Labels | None:
    """Where moves of these items end; None if that takes long, or time is up."""
    move_scan = scan_items(task, labels, items)
    for _ in range(settings.ROUNDS):
        if move_scan is None:
            return None
        falls = move_scan.downhill
        if not falls.size:
            return labels
        labels, move_scan = _apply_moves(task, labels, move_scan, falls, items)
    return None


def _most_evaluated(task: Task, labels: Labels) -> float:
    """Maximum number of items scored in a descent; infinite under a user's time limit."""
    if task.clock.deadline is not None:
        return np.inf
    assert task.draws is not None
    clusters, draws = int(labels.max()) + 1 + LANES, task.draws.n_draws
    usual = (
        settings.SCAN_SWEEPS
        * task.n_items
        * (float(task.draws.n_clusters.mean()) + LANES)
        / clusters
    )
    return task.log.n_evaluated + max(usual, settings.SEARCH_WORK / (draws * clusters))


def _least_certain(move_scan: MoveScan, n_falling: int) -> Items:
    """The items that cost least to move: a share of all, and more where many move."""
    size = min(
        move_scan.items.size, max(move_scan.items.size // settings.UNCERTAIN_SHARE, 2 * n_falling)
    )
    lowest = np.argpartition(move_scan.margin, size - 1)[:size]
    return np.sort(move_scan.items[lowest])


def _apply_moves(
    task: Task,
    labels: Labels,
    move_scan: MoveScan,
    falls: Ints,
    watched: Items,
    most_evaluated: float = np.inf,
) -> tuple[Labels, MoveScan | None]:
    """The partition after as many of the moves as lower the loss, and what is seen there.

    Nothing is seen (None) if time or work was up; the partition is then the one before.
    """
    chosen, slots = _compatible(labels, move_scan, falls, task.options.max_clusters)
    while True:
        after = labels.copy()
        after[move_scan.items[chosen]] = slots
        after = canonical(after)
        now = scan_items(task, after, watched)
        if now is None:
            return labels, None
        if now.loss < move_scan.loss - move_scan.slack:
            return after, now
        if chosen.size == 1:  # what it would gain is rounding, after all
            margin = move_scan.margin.copy()
            margin[chosen] = 0.0
            return labels, replace(move_scan, margin=margin)
        if task.log.n_evaluated > most_evaluated:
            return labels, None
        half = (chosen.size + 1) // 2
        chosen, slots = chosen[:half], slots[:half]


def _compatible(
    labels: Labels, move_scan: MoveScan, falls: Ints, most: int | None
) -> tuple[Ints, Ints]:
    """The moves that may be made together, and where to: each new cluster has one item.

    No more new ones than there are clusters already, the best first.
    """
    k = int(labels.max()) + 1
    slots = move_scan.best[falls].copy()
    opens = slots == k
    number = np.cumsum(opens)
    slots[opens] = k + number[opens] - 1
    room = k if most is None else min(k, most - k)
    made = ~opens | (number <= room)
    return falls[made], slots[made]
