"""What each single move of some items would do to a partition, on a few draws at a time.

Tables of the draws that are taken together stay in cache; nothing is kept from
one group of draws to the next but the sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import fast_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.counts import DRAWS, add_rows
from partita.kernels.problem import LANES

MOST_CELLS = 1 << 22
"""Cells of the tables of as many draws as are added together, at most."""


def draws_at_once(cells: int, space: int) -> int:
    """Draws whose tables are in a space together, in full groups of those added together."""
    if DRAWS * cells > MOST_CELLS:
        return 1
    return max(1, space // (DRAWS * cells)) * DRAWS


@part_of_kernel
def add_steps(rows: Int32s, gains: Floats, i: int, out: Floats) -> None:
    """Add up what an item gains in each slot, over a few draws."""
    n_draws, (_, most, width) = rows.shape[0], gains.shape
    table = gains.reshape(gains.shape[0] * most, width)
    sums = out[i]
    whole = n_draws // DRAWS * DRAWS
    for d in range(0, whole, DRAWS):
        first = d * most
        at = (
            first + rows[d, i],
            first + most + rows[d + 1, i],
            first + 2 * most + rows[d + 2, i],
            first + 3 * most + rows[d + 3, i],
            first + 4 * most + rows[d + 4, i],
            first + 5 * most + rows[d + 5, i],
            first + 6 * most + rows[d + 6, i],
            first + 7 * most + rows[d + 7, i],
        )
        add_rows(table, at, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0), width, sums)
    for d in range(whole, n_draws):
        for k in range(width):
            sums[k] += gains[d, rows[d, i], k]


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
    """As ``add_steps`` for eight slots: named sums stay in one vector register over all draws."""
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
            add_steps(rows, gains, i, out)
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


@fast_kernel
def best_moves(
    losses: Floats, homes: Int32s, sizes: Ints, most: int, best: Ints, lowest: Floats
) -> None:
    """The slot other than its own that leaves each item the lowest loss, and that loss.

    The last slot is empty; an item that is alone gains nothing there. No slot
    from ``most`` on is chosen; −1 and infinity where there is none.
    """
    for i in range(homes.size):
        home = homes[i]
        alone = home >= 0 and sizes[home] == 1
        last = min(sizes.size - 1 if alone else sizes.size, most)
        best[i], lowest[i] = -1, np.inf
        for k in range(last):
            if k != home and losses[i, k] < lowest[i]:
                best[i], lowest[i] = k, losses[i, k]


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
