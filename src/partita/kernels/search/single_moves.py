"""What each single move would do to a partition, on many draws that are read once.

No tables are kept from one move to the next: draws are taken a few at a time,
so that their tables stay in cache. Labels are read as unsigned numbers: an
index that cannot be negative is not checked for counting from the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import fast_kernel, part_of_kernel, supplied_by_type
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.search.counts import DRAWS, add_rows
from partita.kernels.search.types import LANES

CELLS = 1 << 12
"""Cells of the tables of the draws that are taken together."""


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


class Narrow(NamedTuple):
    """Gains in eight slots: named sums stay in one vector register over all draws."""

    gains: Floats  # (n_draws, clusters, 8): what one more item adds to f(count)

    def add_gains(self, rows: Int32s, i: int, out: Floats) -> None:
        """Add up what an item gains in each slot, over a few draws."""
        gains = self.gains
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


class Wide(NamedTuple):
    """Gains in more slots."""

    gains: Floats  # (n_draws, clusters, slots)

    def add_gains(self, rows: Int32s, i: int, out: Floats) -> None:
        """As of eight slots."""
        add_steps(rows, self.gains, i, out)


@supplied_by_type
def add_gains(table: Narrow | Wide, rows: Int32s, i: int, out: Floats) -> None:
    """Add up what an item gains in each slot, over a few draws."""
    table.add_gains(rows, i, out)


@fast_kernel
def _fill_steps(
    rows: Int32s,
    clusters: Ints,
    weights: Floats,
    slot_of: Int32s,
    terms: Floats,
    steps: Floats,
    counts: Int32s,
    table: Narrow | Wide,
    without: Floats,
    steps_of: Floats,
) -> tuple[float, float]:
    n_draws, n = rows.shape
    gains = table.gains
    at_once, width = gains.shape[0], gains.shape[2]
    joint = truth = 0.0
    for first in range(0, n_draws, at_once):
        some = rows[first : first + at_once]
        for d in range(some.shape[0]):
            weight, n_clusters = weights[first + d], clusters[first + d]
            for t in range(n_clusters):
                for k in range(width):
                    counts[t, k] = 0
            for i in range(n):
                counts[np.uint64(some[d, i]), np.uint64(slot_of[i])] += 1
            for t in range(n_clusters):
                size = 0
                for k in range(width):
                    count = counts[t, k]
                    size += count
                    joint += weight * terms[count]
                    gains[d, t, k] = weight * steps[count]
                    fewer = count - 1 if count > 0 else 0
                    without[d, t, k] = weight * (steps[fewer] - steps[count])
                truth += weight * terms[size]
        for i in range(n):
            add_gains(table, some, i, steps_of)
            home = np.uint64(slot_of[i])
            back = 0.0
            for d in range(some.shape[0]):
                back += without[d, np.uint64(some[d, i]), home]
            steps_of[i, home] += back
    return joint, truth


def joint_steps(
    rows: Int32s,
    clusters: Ints,
    weights: Floats,
    slot_of: Int32s,
    n_slots: int,
    terms: Floats,
    steps: Floats,
) -> tuple[Floats, float, float]:
    """What the mean joint sum Σ f(n_te) owes to each item in each slot; that sum; and Σ f(n_t).

    ``steps_of[i, k]`` is the mean over draws of what item i adds when it joins
    slot k, after it has left its own; the slots are padded to full vectors.
    """
    width = (n_slots + LANES - 1) // LANES * LANES
    most = int(clusters.max())
    at_once = draws_at_once(most * width, CELLS)
    steps_of = np.zeros((slot_of.size, width))
    counts, gains = np.empty((most, width), np.int32), np.empty((at_once, most, width))
    table = Narrow(gains) if width == LANES else Wide(gains)
    joint, truth = _fill_steps(
        rows,
        clusters,
        weights,
        slot_of,
        terms,
        steps,
        counts,
        table,
        np.empty_like(gains),
        steps_of,
    )
    return steps_of, joint, truth


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
