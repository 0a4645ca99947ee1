"""Feature allocations: columns of bits, matched one to one by the items that they share.

A column is a row of words; item i is bit 63 − i mod 64 of word i // 64, so that words compare as
lists of items do. The columns of all draws stand below each other: those of draw m are
``columns[offsets[m]:offsets[m + 1]]``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Floats, Ints, UInt64s
from partita.kernels.contingency import count_bits
from partita.kernels.uncertainty import Cells, assign, cells_and_matching, matching_room

_FAR = 1 << 60
"""Farther than any path."""


@part_of_kernel
def find_cells(z: UInt64s, t: UInt64s, cells: Cells) -> None:
    """Items that each column of z shares with each of t, where there are any."""
    n_cells = 0
    cells.starts[0] = 0
    for k in range(z.shape[0]):
        for j in range(t.shape[0]):
            shared = np.int64(0)
            for w in range(z.shape[1]):
                shared += count_bits(z[k, w] & t[j, w])
            if shared > 0:
                cells.column[n_cells] = j
                cells.overlap[n_cells] = shared
                n_cells += 1
        cells.starts[k + 1] = n_cells


class Matchings(NamedTuple):
    """The best matching of an allocation Z and every draw, with its potentials.

    Rows are the features of Z; a column is one of a draw. ``shared`` ≤ u + v, with equality where
    row and column are matched, and potentials are 0 where they are not.
    """

    shared: Ints
    """Items that each column shares with each row, shape (n_columns, K)."""
    u: Ints
    """Potentials of the rows, shape (n_draws, K)."""
    v: Ints
    """Potentials of the columns, shape (n_columns,)."""
    row_of: Ints
    """The row that each column is matched to, −1 for none."""


def match_draws(z: UInt64s, columns: UInt64s, offsets: Ints) -> Matchings:
    """Match the features of Z and of every draw one to one, by the largest total overlap."""
    k, most = len(z), max(len(z), int(np.diff(offsets).max(initial=0)))
    found = Matchings(
        np.zeros((len(columns), k), np.int64),
        np.zeros((offsets.size - 1, k), np.int64),
        np.zeros(len(columns), np.int64),
        np.zeros(len(columns), np.int64),
    )
    _match_draws(z, columns, offsets, matching_room(k * most, most), *found)
    return found


def matched_overlaps(z: UInt64s, columns: UInt64s, offsets: Ints, out: Ints) -> None:
    """M(Z, T): the total overlap of the best matching, for every draw T."""
    found = match_draws(z, columns, offsets)
    ends = np.concatenate([[0], np.cumsum(found.v)])
    out[:] = found.u.sum(axis=1) + np.diff(ends[offsets])


@kernel
def _match_draws(
    z: UInt64s,
    columns: UInt64s,
    offsets: Ints,
    room: Ints,
    shared: Ints,
    u: Ints,
    v: Ints,
    row_of: Ints,
) -> None:
    k = z.shape[0]
    cells, found = cells_and_matching(room)
    for m in range(offsets.size - 1):
        first, width = offsets[m], offsets[m + 1] - offsets[m]
        find_cells(z, columns[first : offsets[m + 1]], cells)
        assign(k, width, cells, found, room)
        for r in range(k):
            u[m, r] = found.u[r]
            for e in range(cells.starts[r], cells.starts[r + 1]):
                shared[first + cells.column[e], r] = cells.overlap[e]
        for c in range(width):
            v[first + c] = found.v[c]
            row_of[first + c] = found.row_of[c]


@part_of_kernel
def add_items(words: UInt64s, weight: Any, mass: Floats) -> None:
    """Add the weight to every item of a column."""
    for i in range(mass.size):
        bit = (words[i >> 6] >> np.uint64(63 - (i & 63))) & np.uint64(1)
        mass[i] += weight * np.float64(bit)


@kernel
def aligned_masses(
    columns: UInt64s, offsets: Ints, weights: Floats, row_of: Ints, mass: Floats, matched: Floats
) -> None:
    """Add to mass[k, i] the weights of the draws whose feature matched to k has item i.

    To matched[k] the weights of the draws that have such a feature.
    """
    for m in range(weights.size):
        for e in range(offsets[m], offsets[m + 1]):
            if row_of[e] >= 0:
                matched[row_of[e]] += weights[m]
                add_items(columns[e], weights[m], mass[row_of[e]])


@array_kernel
def flip_masses(
    columns: UInt64s, offsets: Ints, weights: Floats, found: Matchings, up: Floats, down: Floats
) -> None:
    """Mass of the draws in which a flip of one bit changes M(Z, T), all flips at once.

    up[k, i]: adding item i to feature k raises M by 1, the last k being a new feature;
    down[k, i]: taking it out lowers M by 1. An item raises M if one of the columns that some best
    matching gives to k has it, and lowers M if all of them have. A cell is in some best matching
    if it is tight and its column's row leads back to k by tight cells. What is unmatched is
    matched to an empty column or row; all empty rows are one, the last.
    """
    shared, potential, v, row_of = found
    k, n_words = down.shape[0], columns.shape[1]
    leads = np.empty((k + 1, k + 1), np.bool_)
    some = np.empty(n_words, np.uint64)
    every = np.empty(n_words, np.uint64)
    for m in range(weights.size):
        first, last = offsets[m], offsets[m + 1]
        for r in range(k + 1):
            own = potential[m, r] if r < k else np.int64(0)
            for other in range(k + 1):
                leads[r, other] = r == other or (r == k and other < k)
            if own == 0:
                leads[r, k] = True
            for e in range(first, last):
                overlap = shared[e, r] if r < k else np.int64(0)
                if overlap == own + v[e]:
                    leads[r, row_of[e] if row_of[e] >= 0 else k] = True
        # The empty row has the columns of rows without one; others only by tight cells.
        for e in range(first, last):
            if row_of[e] >= 0 and v[e] != 0:
                leads[k, row_of[e]] = False
        for middle in range(k + 1):
            for r in range(k + 1):
                if leads[r, middle]:
                    for other in range(k + 1):
                        leads[r, other] |= leads[middle, other]
        for r in range(k + 1):
            own = potential[m, r] if r < k else np.int64(0)
            for w in range(n_words):
                some[w] = np.uint64(0)
                every[w] = ~np.uint64(0)
            for e in range(first, last):
                overlap = shared[e, r] if r < k else np.int64(0)
                if overlap == own + v[e] and leads[row_of[e] if row_of[e] >= 0 else k, r]:
                    for w in range(n_words):
                        some[w] |= columns[e, w]
                        every[w] &= columns[e, w]
            add_items(some, weights[m], up[r])
            if r < k and not (own == 0 and leads[k, r]):
                add_items(every, weights[m], down[r])


@array_kernel
def shadow_prices(offsets: Ints, found: Matchings, prices: Ints) -> None:
    """M(Z, T) less that without the column, for every column of every draw T.

    v of the column and the shortest alternating path, in reduced costs, by which its row finds
    another column, or leaves one row without any: one search by Dijkstra per draw.
    """
    shared, u, v, row_of = found
    k = u.shape[1]
    distance = np.empty(k, np.int64)
    done = np.empty(k, np.bool_)
    mate = np.empty(k, np.int64)
    for m in range(offsets.size - 1):
        for r in range(k):
            mate[r] = -1
            distance[r] = u[m, r]
            done[r] = False
        for e in range(offsets[m], offsets[m + 1]):
            if row_of[e] >= 0:
                mate[row_of[e]] = e
            else:
                for r in range(k):
                    distance[r] = min(distance[r], u[m, r] + v[e] - shared[e, r])
        while True:
            nearest, least = -1, np.int64(_FAR)
            for r in range(k):
                if not done[r] and distance[r] < least:
                    nearest, least = r, distance[r]
            if nearest < 0:
                break
            done[nearest] = True
            e = mate[nearest]
            if e >= 0:
                for r in range(k):
                    if not done[r]:
                        distance[r] = min(distance[r], least + u[m, r] + v[e] - shared[e, r])
        for e in range(offsets[m], offsets[m + 1]):
            own = row_of[e]
            prices[e] = v[e] + distance[own] if own >= 0 else np.int64(0)


@kernel
def column_gain(
    c: UInt64s, columns: UInt64s, offsets: Ints, weights: Floats, prices: Ints, mass: Floats
) -> float:
    """Mean of what M(Z, T) gains by one more feature c, exactly, given the shadow prices.

    To mass[i] the weights of the draws are added whose best column for c has item i.
    """
    total = 0.0
    for m in range(weights.size):
        best, at = np.int64(0), -1
        for e in range(offsets[m], offsets[m + 1]):
            overlap = -prices[e]
            for w in range(c.size):
                overlap += count_bits(c[w] & columns[e, w])
            if overlap > best:
                best, at = overlap, e
        if at >= 0:
            total += weights[m] * best
            add_items(columns[at], weights[m], mass)
    return total


@kernel
def price_columns(
    high: UInt64s,
    low: Floats,
    offsets: Ints,
    weights: Floats,
    prices: Floats,
    half: float,
    blocks: Ints,
    best: Floats,
    total: Floats,
    gain: Floats,
    place: Ints,
) -> None:
    """The largest gain of any column in each block: exact, over all subsets of the items.

    gain(z) = Σ_m w_m max(0, max_l |z ∩ T_ml| − price_ml) − half |z|. A block has the columns z
    whose first items are given by its number. ``high`` are those items of each T_ml, ``low``
    its overlap with every subset of the other items.
    """
    n = total.size
    for b in range(blocks.size):
        first = np.uint64(blocks[b])
        own = half * count_bits(first)
        for x in range(n):
            total[x] = -own - half * count_bits(np.uint64(x))
        for m in range(weights.size):
            found = False
            for e in range(offsets[m], offsets[m + 1]):
                over = prices[e] - count_bits(high[e] & first)
                if low[e, n - 1] <= over:
                    continue
                if not found:
                    for x in range(n):
                        best[x] = max(0.0, low[e, x] - over)
                    found = True
                else:
                    for x in range(n):
                        best[x] = max(best[x], low[e, x] - over)
            if found:
                for x in range(n):
                    total[x] += weights[m] * best[x]
        most = 0
        for x in range(n):
            if total[x] > total[most]:
                most = x
        gain[b] = total[most]
        place[b] = most
