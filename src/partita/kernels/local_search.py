"""Moves of single items: the loop that every loss shares, and scans of all draws at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import fast_kernel, part_of_kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.problem import (
    LANES,
    NUDGE,
    ROUNDING,
    Problem,
    Scratch,
    State,
    close,
    exchange,
    fill,
    join,
    leave,
    loss_of,
    nudged,
    score,
    score_merges,
    swap_gain,
)


@part_of_kernel
def put(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
    """Add an item that is in no slot."""
    join(problem, state, item, slot)
    state.sizes[slot] += 1
    state.slot_of[item] = slot
    if slot == state.k[0]:
        state.k[0] += 1


@part_of_kernel
def take(problem: Problem, state: State, item: int) -> None:
    """Remove an item from its slot; an emptied slot stays until ``close_gap``."""
    slot = state.slot_of[item]
    leave(problem, state, item, slot)
    state.sizes[slot] -= 1
    state.slot_of[item] = -1


@part_of_kernel
def close_gap(problem: Problem, state: State, slot: int | np.int64) -> None:
    """Move the last used slot into an emptied one, so that used slots stay consecutive."""
    last = state.k[0] - 1
    if slot != last:
        close(problem, state, slot, last)
        state.sizes[slot] = state.sizes[last]
        state.sizes[last] = 0
        for i in range(state.slot_of.size):
            if state.slot_of[i] == last:
                state.slot_of[i] = slot
    state.k[0] = last


@part_of_kernel
def own_sum(terms: Floats, sizes: Ints, n_slots: int | np.int64) -> float:
    """Σ f(n_e)."""
    total = 0.0
    for k in range(n_slots):
        total += terms[sizes[k]]
    return total


_NO_ITEMS, _NO_SLOTS = np.empty(0, np.int64), np.empty(0, np.int32)


@fast_kernel
def _arrange(
    problem: Problem, state: State, items: Ints, slots: Int32s, filling: bool, closing: bool
) -> float:
    """Fill, reassign and compact a state; return its loss: one compilation, not four."""
    if filling:
        highest = 0
        for i in range(state.slot_of.size):
            slot = state.slot_of[i]
            if slot > highest:
                highest = slot
            state.sizes[slot] += 1
        state.k[0] = highest + 1
        fill(problem, state)
    for p in range(items.size):
        if state.slot_of[items[p]] >= 0:
            take(problem, state, items[p])
    for p in range(items.size):
        if slots[p] >= 0:
            put(problem, state, items[p], np.int64(slots[p]))
    if closing:
        for empty in range(state.k[0] - 1, -1, -1):
            if state.sizes[empty] == 0:
                close_gap(problem, state, empty)
    return loss_of(problem, state, own_sum(problem.terms, state.sizes, state.k[0]))


def fill_state(problem: Problem, state: State) -> None:
    """Compute everything from ``slot_of``, which holds canonical labels; the rest is zero."""
    _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, True, False)


def objective(problem: Problem, state: State) -> float:
    """Expected loss of the state, from its running sums."""
    return _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, False, False)


@fast_kernel
def slack(problem: Problem, state: State) -> float:
    """What rounding of the running sums can do to the expected loss."""
    total = own_sum(problem.terms, state.sizes, state.k[0])
    return ROUNDING / NUDGE * nudged(problem, state, total)


@fast_kernel
def _sweep(
    problem: Problem,
    state: State,
    order: Ints,
    allowed: Bools,
    max_clusters: int,
    smallest: int,
    settled: int,
    max_evaluated: int,
    scratch: Scratch,
    losses: Floats,
) -> tuple[int, int]:
    """As ``sweep``; where ``losses`` has rows, write down what each move would cost, and stay.

    One row for each item of the order.
    """
    evaluated = 0
    own, scores = scratch.own, scratch.scores
    total = own_sum(problem.terms, state.sizes, state.k[0])
    least = scratch.slack[0] = ROUNDING / NUDGE * nudged(problem, state, total)
    present = 0.0
    moved = True
    # A new cluster must fit and leave an empty slot in the padded tables.
    while settled < order.size and evaluated < max_evaluated and state.k[0] + 2 <= state.sizes.size:
        item = order[evaluated % order.size]
        evaluated += 1
        settled += 1
        home = np.int64(state.slot_of[item])
        if moved:
            total = own_sum(problem.terms, state.sizes, state.k[0])
            present = loss_of(problem, state, total)
            moved = False
        rest = total
        if home >= 0:
            rest -= problem.steps[state.sizes[home] - 1]
        for k in range((state.k[0] + LANES) // LANES * LANES):
            own[k] = rest + problem.steps[state.sizes[k]]
        score(problem, state, item, own, scratch)
        if home >= 0:
            scores[home] = present
        if losses.shape[0] > 0:
            for k in range(state.k[0] + 1):
                losses[evaluated - 1, k] = scores[k]
            continue
        alone = home >= 0 and state.sizes[home] == 1
        last = state.k[0] - 1 if alone else state.k[0]
        if last > max_clusters - 1:
            last = max_clusters - 1
        best = -1
        for k in range(last + 1):
            if k == home or (allowed.size > 0 and not allowed[k]):
                continue
            if best < 0 or scores[k] < scores[best] - least:
                best = k
        margin = np.inf if best < 0 else scores[best] - present
        scratch.margin[item] = margin
        scratch.other[item] = best
        stays = home >= 0 and state.sizes[home] <= smallest
        if home < 0 or (margin < -least and not stays):
            if home >= 0:
                take(problem, state, item)
            put(problem, state, item, best)
            if alone and allowed.size == 0:
                close_gap(problem, state, home)
            moved = True
            settled = 0
    return settled, evaluated


_NO_LOSSES = np.empty((0, 0))


def sweep(
    problem: Problem,
    state: State,
    order: Ints,
    allowed: Bools,
    max_clusters: int,
    smallest: int,
    settled: int,
    max_evaluated: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Move single items, in cyclic order, until no move of any of them lowers the loss.

    Items that are in no slot are put where they fit best. Only slots that are
    allowed are moved to; with all of them allowed (an empty array), emptied
    slots are closed on the way, otherwise they stay. Clusters of at most
    ``smallest`` items lose none; 0 lets every cluster vanish.

    Returns how many items in a row would not move (all of them at the end; it
    stops early when the tables are full or ``max_evaluated`` items were
    evaluated), and how many were evaluated. ``settled`` carries the first of these
    from one call to the next.
    """
    limits = (max_clusters, smallest, settled, max_evaluated)
    return _sweep(problem, state, order, allowed, *limits, scratch, _NO_LOSSES)


def move_losses(problem: Problem, state: State, items: Ints, scratch: Scratch) -> Floats:
    """Expected loss if each of some items, alone, moved to each slot, shape (n, k + 1)."""
    losses = np.empty((items.size, int(state.k[0]) + 1))
    most, every_slot = state.slot_of.size, np.empty(0, np.bool_)
    _sweep(problem, state, items, every_slot, most, 0, 0, items.size, scratch, losses)
    return losses


@part_of_kernel
def swapped_loss(problem: Problem, state: State, i: int, j: int, own: float) -> float:
    """Expected loss if two items of different slots changed places."""
    value = 0.0
    for m in range(problem.weights.size):
        joint = state.joint[m] + swap_gain(problem, state, i, j, m)
        value += problem.weights[m] * combine(problem.form, joint, own, problem.truth[m])
    return value


@fast_kernel
def swap(
    problem: Problem, state: State, order: Ints, at: int, settled: int, most: int, slack: float
) -> tuple[int, int]:
    """Let two of these items change places, pair after pair, until no pair would gain by it.

    For losses that are combined draw by draw. Pairs ``at``, ``at + 1``, … are compared, ``most`` at
    most: first neighbours in the order, then items two places apart, and so on. Returns how many
    in a row have not changed places (all pairs at the end; ``settled`` carries the number from
    call to call), and how many were evaluated.
    """
    own = own_sum(problem.terms, state.sizes, state.k[0])
    present = loss_of(problem, state, own)
    n = order.size
    n_pairs, evaluated = n * (n // 2), 0
    for pair in range(at, at + most):
        if settled >= n_pairs:
            break
        settled += 1
        step, p = pair % n_pairs // n + 1, pair % n
        i, j = order[p], order[(p + step) % n]
        a, b = state.slot_of[i], state.slot_of[j]
        if a == b or (state.sizes[a] == 1 and state.sizes[b] == 1):
            continue
        evaluated += 1
        loss = swapped_loss(problem, state, i, j, own)
        if loss < present - slack:
            exchange(problem, state, i, j)
            present = loss
            settled = 0
    return settled, evaluated


def assign(problem: Problem, state: State, items: Ints, slots: Int32s) -> None:
    """Put items into given slots, wherever they are; slot −1 takes an item out."""
    _arrange(problem, state, items, slots, False, False)


def assign_and_close(problem: Problem, state: State, items: Ints, slots: Int32s) -> None:
    """Put items into given slots and close every slot that this has emptied."""
    _arrange(problem, state, items, slots, False, True)


def close_gaps(problem: Problem, state: State) -> None:
    """Close every slot that moves have emptied."""
    _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, False, True)


@fast_kernel
def _merge_scores(
    problem: Problem, state: State, own: Floats, filled: Ints, change: Floats, scores: Floats
) -> None:
    score_merges(problem, state, own, filled, change, scores)


def merge_scores(problem: Problem, state: State) -> Floats:
    """Expected loss after merging slots i < j, shape (k, k); infinite elsewhere."""
    k_used = int(state.k[0])
    sizes = state.sizes[:k_used]
    alone = problem.terms[sizes]
    merged = np.minimum(sizes[:, None] + sizes, problem.terms.size - 1)  # a slot with itself
    own = alone.sum() + problem.terms[merged] - alone[:, None] - alone
    scores, change = np.zeros((k_used, k_used)), np.zeros((k_used, k_used))
    _merge_scores(problem, state, own, np.empty(k_used, np.int64), change, scores)
    scores[np.tri(k_used, dtype=np.bool_)] = np.inf
    return scores


def together(problem: Problem, item: int, others: Ints) -> Floats:
    """Probability that an item shares a cluster with each of the others."""
    return problem.together(item, others)  # type: ignore[no-any-return]


# ------------------------------------------------------------------ scans of all draws


DRAWS, MOST_CELLS = 8, 1 << 22
"""Draws that are added together, at least, and cells of their tables, at most."""


def draws_at_once(cells: int, space: int) -> int:
    """Draws whose tables are in a space together, in full groups of those added together."""
    if DRAWS * cells > MOST_CELLS:
        return 1
    return max(1, space // (DRAWS * cells)) * DRAWS


class Tables(NamedTuple):
    """Counts of a few draws by slot, and what follows from them."""

    counts: Int32s  # (n_draws, clusters, width): items that a cluster shares with a slot
    gains: Floats  # (n_draws, clusters, width): what one more item adds to f(count)
    back: Floats  # (n_draws, clusters, width): what an item that left adds beyond that
    joint: Floats  # (n_draws,): Σ f(n_te)
    truth: Floats  # (n_draws,): Σ f(n_t)


def new_tables(n_draws: int, clusters: int, width: int) -> Tables:
    """Empty tables."""
    shape = (n_draws, clusters, width)
    return Tables(
        np.zeros(shape, np.int32),
        np.empty(shape),
        np.empty(shape),
        np.empty(n_draws),
        np.empty(n_draws),
    )


@fast_kernel
def add_counts(rows: Int32s, slots: Int32s, counts: Int32s) -> None:
    """Count some items, whose slots are given, in each draw."""
    for d in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            # Unsigned: an index that cannot be negative is not checked for counting from the end.
            counts[d, np.uint64(rows[d, i]), np.uint64(slots[i])] += 1


@fast_kernel
def fill_gains(
    tables: Tables, clusters: Ints, weights: Floats, terms: Floats, steps: Floats
) -> None:
    """Everything that follows from the counts; gains are multiplied by the weights."""
    for d in range(clusters.size):
        weight = weights[d]
        joint = truth = 0.0
        for t in range(clusters[d]):
            size = 0
            for k in range(tables.counts.shape[2]):
                count = tables.counts[d, t, k]
                size += count
                joint += terms[count]
                tables.gains[d, t, k] = weight * steps[count]
                fewer = count - 1 if count > 0 else 0
                tables.back[d, t, k] = weight * (steps[fewer] - steps[count])
            truth += terms[size]
        tables.joint[d], tables.truth[d] = joint, truth


@part_of_kernel
def _add_eight(rows: Int32s, gains: Floats, i: int, out: Floats) -> None:
    """Add up what an item gains in each of eight slots: named sums stay in vector registers."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for d in range(rows.shape[0]):
        t = np.uint64(rows[d, i])
        a0 += gains[d, t, 0]
        a1 += gains[d, t, 1]
        a2 += gains[d, t, 2]
        a3 += gains[d, t, 3]
        a4 += gains[d, t, 4]
        a5 += gains[d, t, 5]
        a6 += gains[d, t, 6]
        a7 += gains[d, t, 7]
    out[i, 0] += a0
    out[i, 1] += a1
    out[i, 2] += a2
    out[i, 3] += a3
    out[i, 4] += a4
    out[i, 5] += a5
    out[i, 6] += a6
    out[i, 7] += a7


@fast_kernel
def add_moves(rows: Int32s, homes: Int32s, gains: Floats, back: Floats, out: Floats) -> None:
    """Add what the joint sum owes to each item in each slot, after it has left its home.

    An item without a home (−1) leaves nothing. ``out`` has a row for each item.
    """
    narrow = gains.shape[2] == LANES
    for i in range(homes.size):
        if narrow:
            _add_eight(rows, gains, i, out)
        else:
            for d in range(rows.shape[0]):
                t = np.uint64(rows[d, i])
                for k in range(gains.shape[2]):
                    out[i, k] += gains[d, t, k]
        home = homes[i]
        if home >= 0:
            again = 0.0
            for d in range(rows.shape[0]):
                again += back[d, np.uint64(rows[d, i]), np.uint64(home)]
            out[i, home] += again


@fast_kernel
def add_moved_losses(
    form: Form,
    rows: Int32s,
    homes: Int32s,
    tables: Tables,
    weights: Floats,
    own: tuple[Floats, Floats],
    out: Floats,
) -> None:
    """Add each draw's loss after each item, alone, has moved to each slot; gains have weight 1.

    ``own`` is Σ f(n_e) without an item of each slot, and what an item adds to
    it in each slot. An item's own slot is not scored: its move is none.
    """
    rest, joining = own
    for i in range(homes.size):
        home = homes[i]
        for d in range(rows.shape[0]):
            t = rows[d, i]
            weight, truth = weights[d], tables.truth[d]
            stays = tables.joint[d] - tables.gains[d, t, home] - tables.back[d, t, home]
            for k in range(out.shape[1]):
                joint = stays + tables.gains[d, t, k]
                out[i, k] += weight * combine(form, joint, rest[home] + joining[k], truth)


def best_moves(losses: Floats, homes: Int32s, sizes: Ints, most: int) -> tuple[Ints, Floats]:
    """The slot other than its own that leaves each item the lowest loss, and that loss.

    The last slot is empty; an item that is alone gains nothing there. No slot
    from ``most`` on is chosen; −1 and infinity where there is none.
    """
    losses, everyone = losses[:, : sizes.size].copy(), np.arange(homes.size)
    losses[everyone, homes] = np.inf
    losses[sizes[homes] == 1, -1] = np.inf
    best = losses[:, :most].argmin(axis=1)
    lowest = losses[everyone, best]
    return np.where(lowest < np.inf, best, -1), lowest


@fast_kernel
def _fill_losses(
    form: Form,
    steps_of: Floats,
    sums: tuple[float, float, float],
    slot_of: Int32s,
    sizes: Ints,
    steps: Floats,
    losses: Floats,
) -> None:
    joint, own, truth = sums
    for i in range(slot_of.size):
        home = slot_of[i]
        left, stays = own, joint
        if home >= 0:
            left -= steps[sizes[home] - 1]
            stays -= steps_of[i, home]
        for k in range(sizes.size):
            size = sizes[k] - 1 if k == home else sizes[k]
            losses[i, k] = combine(form, stays + steps_of[i, k], left + steps[size], truth)


def moved_losses(
    form: Form,
    steps_of: Floats,
    joint: float,
    truth: float,
    slot_of: Int32s,
    sizes: Ints,
    terms: Floats,
    steps: Floats,
) -> Floats:
    """Expected loss if each item, alone, moved to each slot, shape (n_items, k + 1).

    For a loss of the means of the sums; ``sizes`` of the slots ends with the empty one. An item
    in no slot (−1) is added to the others.
    """
    losses = np.empty((slot_of.size, sizes.size))
    sums = (float(joint), float(terms[sizes].sum()), float(truth))
    _fill_losses(form, steps_of, sums, slot_of, sizes, steps, losses)
    return losses
