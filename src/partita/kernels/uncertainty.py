"""Uncertainty of each item and cluster of an estimate.

Clusters of a draw are matched one to one to those of a reference by the largest total overlap.
Their table of overlaps has at most as many cells as there are items, so it is kept as rows of
cells, and the assignment is solved on those alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita.kernels._jit import inner_kernel, kernel, part_of_kernel, writable
from partita.kernels.arrays import Floats, Int32s, Ints, Unsigned

_BATCH, _CELLS, _LABELS = 16, 1 << 16, 1 << 20
"""Rows whose sums are added together; cells of tables and labels that are prepared at a time, at
most: preparing every batch of 16 rows took most of the time of few items."""

_TILE = 256
"""Items whose sums are filled together."""

_FAR = 1 << 60
"""Farther than any path."""


class Cells(NamedTuple):
    """Items that rows and columns share, where there are any: cells starts[r] … starts[r + 1] − 1
    are those of row r."""

    starts: Ints
    column: Ints
    overlap: Ints


class Matching(NamedTuple):
    """Rows and columns matched one to one, −1 for none, and their potentials.

    Potentials are at least 0, count ≤ u[row] + v[column] in every cell, with equality in cells that
    are matched, and 0 on rows and columns that are not: whole numbers, so ties are told exactly.
    """

    column_of: Ints
    row_of: Ints
    u: Ints
    v: Ints


def matching_room(n_cells: int, n_sides: int) -> Ints:
    """Room for the cells and the matching of that many rows or columns, and scratch."""
    return np.empty((17, max(n_cells, n_sides) + 1), np.int64)


@part_of_kernel
def cells_and_matching(room: Ints) -> tuple[Cells, Matching]:
    """The parts of the room that have names; those from row 7 on are scratch."""
    return Cells(room[0], room[1], room[2]), Matching(room[3], room[4], room[5], room[6])


def match_rows(reference: Int32s, k: int, rows: Int32s, k_rows: Ints) -> tuple[Int32s, Ints]:
    """The reference cluster that each cluster of each row is matched to, and the items it shares.

    The matching is one to one with the largest total overlap; clusters without common items are
    not matched, and numbered −1, −2, … instead. Ties: the reference's clusters choose in the
    order of their numbers, each the largest overlap that keeps the total, and among equal ones
    the row's first cluster. Returned are ``match[row, cluster]`` and the total of each row.
    """
    k_most = int(k_rows.max())
    match, total = np.empty((len(rows), k_most), np.int32), np.empty(len(rows), np.int64)
    room = matching_room(min(reference.size, k * k_most), max(k, k_most))
    members, begins = np.empty(reference.size, np.int64), np.zeros(k + 1, np.int64)
    table = np.empty(2 * reference.size + 64, np.int64)
    _match_rows(
        *(writable(reference), members, begins, writable(rows), writable(k_rows)),
        *(match, total, table, room),
    )
    return match, total


@inner_kernel
def assign(n: int, m: int, cells: Cells, found: Matching, room: Ints) -> None:
    """A matching of rows and columns with the largest total, by shortest augmenting paths."""
    starts, column, count = cells
    column_of, row_of, u, v = found
    distance, came, done = room[7], room[8], room[9]
    seen, tree, depth = room[10], room[11], room[12]
    for c in range(m):
        row_of[c] = -1
        v[c] = 0
        distance[c] = _FAR
        done[c] = 0
    for r in range(n):
        column_of[r] = -1
        u[r] = 0
        for e in range(starts[r], starts[r + 1]):
            if count[e] > u[r]:
                u[r] = count[e]
        for e in range(starts[r], starts[r + 1]):
            if count[e] == u[r] and row_of[column[e]] < 0:
                column_of[r] = column[e]
                row_of[column[e]] = r
                break
    for start in range(n):
        if column_of[start] >= 0 or u[start] == 0:
            continue
        n_seen, n_tree = 0, 0
        row, d = np.int64(start), np.int64(0)
        # A path may end at a free column, or at a row that is left without one.
        end, left_out, last = u[start], row, np.int64(-1)
        while True:
            tree[n_tree] = row
            depth[row] = d
            n_tree += 1
            if d + u[row] < end:
                end = d + u[row]
                left_out = row
            for e in range(starts[row], starts[row + 1]):
                c = column[e]
                cost = d + u[row] + v[c] - count[e]
                if done[c] == 0 and cost < distance[c]:
                    if distance[c] == _FAR:
                        seen[n_seen] = c
                        n_seen += 1
                    distance[c] = cost
                    came[c] = row
            nearest = np.int64(-1)
            for index in range(n_seen):
                c = seen[index]
                if done[c] == 0 and (nearest < 0 or distance[c] < distance[nearest]):
                    nearest = c
            if nearest < 0 or distance[nearest] >= end:
                break
            d = distance[nearest]
            done[nearest] = 1
            if row_of[nearest] < 0:
                last, end = nearest, d
                break
            row = row_of[nearest]
        for index in range(n_tree):
            if end > depth[tree[index]]:
                u[tree[index]] -= end - depth[tree[index]]
        for index in range(n_seen):
            c = seen[index]
            if done[c] == 1:
                v[c] += end - distance[c]
            distance[c] = _FAR
            done[c] = 0
        if last < 0:
            if left_out == start:
                continue
            last = column_of[left_out]
            column_of[left_out] = -1
        while last >= 0:
            row = came[last]
            before = column_of[row]
            column_of[row] = last
            row_of[last] = row
            last = before if row != start else np.int64(-1)


@inner_kernel
def _seat_row(
    row: Any, taken: Any, m: Any, cells: Cells, found: Matching, fixed: Ints, room: Ints
) -> bool:
    """Match a row that needs a column, moving rows that are not fixed, at the same total."""
    starts, column, count = cells
    column_of, row_of, u, v = found
    came, queue = room[14], room[15]
    for c in range(m):
        came[c] = -1
    queue[0] = row
    head, tail = 0, 1
    while head < tail:
        mover = queue[head]
        head += 1
        for e in range(starts[mover], starts[mover + 1]):
            c = column[e]
            if c == taken or came[c] >= 0 or count[e] != u[mover] + v[c]:
                continue
            holder = row_of[c]
            if holder >= 0 and fixed[holder] == 1:
                continue
            came[c] = mover
            if holder < 0 or u[holder] == 0:
                if holder >= 0:
                    column_of[holder] = -1
                at = c
                while True:
                    mover = came[at]
                    before = column_of[mover]
                    column_of[mover] = at
                    row_of[at] = mover
                    if mover == row:
                        return True
                    at = before
            queue[tail] = holder
            tail += 1
    return False


@inner_kernel
def _settle_ties(n: int, m: int, cells: Cells, found: Matching, room: Ints) -> None:
    """Among the matchings of largest total the first: row by row the largest cell, then the
    first column."""
    starts, column, count = cells
    column_of, row_of, u, v = found
    starts_t, row_t, count_t, filled = room[16], room[7], room[8], room[9]
    fixed, fixed_t, kept, kept_t = room[10], room[11], room[12], room[13]
    cells_t, found_t = Cells(starts_t, row_t, count_t), Matching(row_of, column_of, v, u)
    # The cells by column, for columns that need a row.
    for c in range(m + 1):
        starts_t[c] = 0
    for e in range(starts[n]):
        starts_t[column[e] + 1] += 1
    for c in range(m):
        filled[c] = starts_t[c]
        starts_t[c + 1] += starts_t[c]
        fixed_t[c] = 0
    for r in range(n):
        fixed[r] = 0
        for e in range(starts[r], starts[r + 1]):
            row_t[filled[column[e]]] = r
            count_t[filled[column[e]]] = count[e]
            filled[column[e]] += 1
    for r in range(n):
        last_count, last_column = np.int64(_FAR), np.int64(-1)
        while True:
            best, best_count = np.int64(-1), np.int64(0)
            for e in range(starts[r], starts[r + 1]):
                c, x = column[e], count[e]
                if x != u[r] + v[c] or (row_of[c] >= 0 and fixed[row_of[c]] == 1):
                    continue
                after = x < last_count or (x == last_count and c > last_column)
                if after and (x > best_count or (x == best_count and c < best)):
                    best, best_count = c, x
            if best < 0:
                break
            last_count, last_column = best_count, best
            old, loser = column_of[r], row_of[best]
            possible = True
            fixed[r] = 1
            fixed_t[best] = 1
            if best != old:
                for i in range(n):
                    kept[i] = column_of[i]
                for c in range(m):
                    kept_t[c] = row_of[c]
                if old >= 0:
                    row_of[old] = -1
                if loser >= 0:
                    column_of[loser] = -1
                column_of[r] = best
                row_of[best] = r
                # Rows and columns with a potential above 0 are matched in every best matching.
                if loser >= 0 and u[loser] > 0:
                    possible = _seat_row(loser, best, m, cells, found, fixed, room)
                if possible and old >= 0 and v[old] > 0 and row_of[old] < 0:
                    possible = _seat_row(old, r, n, cells_t, found_t, fixed_t, room)
                if not possible:
                    for i in range(n):
                        column_of[i] = kept[i]
                    for c in range(m):
                        row_of[c] = kept_t[c]
                    fixed[r] = 0
                    fixed_t[best] = 0
            if possible:
                break


@kernel
def _match_rows(
    reference: Int32s,
    members: Ints,
    begins: Ints,
    rows: Int32s,
    k_rows: Ints,
    match: Int32s,
    total: Ints,
    table: Ints,
    room: Ints,
) -> None:
    """See ``match_rows``. ``begins``, all 0, and ``members`` become the items by cluster."""
    k = begins.size - 1
    for i in range(reference.size):
        begins[reference[i]] += 1
    for c in range(1, k):
        begins[c] += begins[c - 1]
    begins[k] = reference.size
    for i in range(reference.size - 1, -1, -1):
        begins[reference[i]] -= 1
        members[begins[reference[i]]] = i
    cells, found = cells_and_matching(room)
    starts, column, count = cells
    row_of, cell_of = found.row_of, room[7]
    for r in range(rows.shape[0]):
        k_row = k_rows[r]
        # Items that clusters share, where there are any: starts[c] to starts[c + 1] of c.
        n_cells = 0
        starts[0] = 0
        for t in range(k_row):
            cell_of[t] = -1
            row_of[t] = -1
        is_dense = k * k_row <= table.size
        if is_dense:  # half the time that finding cells one by one takes
            for cell in range(k * k_row):
                table[cell] = 0
            for i in range(reference.size):
                table[np.uint64(reference[i]) * np.uint64(k_row) + np.uint64(rows[r, i])] += 1
        for c in range(k):
            if is_dense:
                for t in range(k_row):
                    if table[c * k_row + t] > 0:
                        column[n_cells] = t
                        count[n_cells] = table[c * k_row + t]
                        n_cells += 1
            else:
                for index in range(begins[c], begins[c + 1]):
                    t = rows[r, members[index]]
                    if cell_of[t] < starts[c]:
                        cell_of[t] = n_cells
                        column[n_cells] = t
                        count[n_cells] = 0
                        n_cells += 1
                    count[cell_of[t]] += 1
            starts[c + 1] = n_cells
        apart = True
        shared = np.int64(0)
        for c in range(k):
            best = np.int64(-1)
            for e in range(starts[c], starts[c + 1]):
                if best < 0 or (
                    count[e] > count[best] or (count[e] == count[best] and column[e] < column[best])
                ):
                    best = np.int64(e)
            if best < 0:
                continue
            if row_of[column[best]] >= 0:
                apart = False
                break
            row_of[column[best]] = c
            shared += count[best]
        if not apart:  # else every cluster has its first choice, which no assignment can better
            assign(k, k_row, cells, found, room)
            shared = np.int64(0)
            for c in range(k):
                shared += found.u[c]
            for t in range(k_row):
                shared += found.v[t]
            _settle_ties(k, k_row, cells, found, room)
        unmatched = 0
        for t in range(k_row):
            if row_of[t] < 0:
                unmatched -= 1
                match[r, t] = unmatched
            else:
                match[r, t] = row_of[t]
        total[r] = shared


def batch_rows(n_rows: int, n_items: int, n_cells: int) -> int:
    """Rows whose tables, of ``n_cells`` each, are made at a time."""
    return max(1, min(_CELLS // n_cells, max(_BATCH, _LABELS // n_items), n_rows))


def count_overlaps(estimate: Int32s, k: int, rows: Int32s, k_most: int) -> Int32s:
    """Items that cluster t of a row and cluster c of the estimate share, at [row, t, c]."""
    shared = np.zeros((len(rows), k_most, k), np.int32)
    _count_overlaps(writable(estimate), writable(rows), shared)
    return shared


@kernel
def _count_overlaps(estimate: Int32s, rows: Int32s, shared: Int32s) -> None:
    for r in range(rows.shape[0]):
        for i in range(estimate.size):
            shared[r, np.uint32(rows[r, i]), np.uint32(estimate[i])] += 1


def new_comparison(n_items: int, k: int) -> list[Floats]:
    """The sums of ``add_comparison``, all 0: placed, companions, information, unchanged, similar,
    mass."""
    shapes = [(n_items, k + 1), (k, n_items), (n_items,), (k,), (k,), (1,)]
    return [np.zeros(shape) for shape in shapes]


def add_comparison(
    estimate: Int32s,
    sizes: Ints,
    rows: Int32s,
    k_rows: Ints,
    weights: Floats,
    jaccard: float,
    match: Int32s,
    shared: Int32s,
    logs: Floats,
    sums: list[Floats],
) -> None:
    """Accumulate each row's statistics of an estimate in ``new_comparison``.

    ``estimate`` and ``rows`` have the labels of the items whose sums are asked for, ``sizes``,
    ``match`` (K where a cluster is matched to none) and ``shared`` are those of all items, and
    ``logs`` are the binary logarithms of their numbers.
    Over rows r of weight w, with C(i) the row's cluster of item i and E_k the
    estimate's cluster k:
    placed[i, k] += w where C(i) is matched to E_k, placed[i, K] += w where to none;
    companions[k, i] += w·|C(i) ∩ E_k|, item i itself included where it is in E_k;
    information[i] += w·(log2|C(i)| + log2|E(i)| − 2·log2|C(i) ∩ E(i)|);
    unchanged[k] += w where E_k is a cluster of the row;
    similar[k] += w where a cluster of the row overlaps E_k by Jaccard ≥ jaccard;
    mass += w.
    """
    n_rows, k_most, k = shared.shape
    # What a row adds for an item depends on the item's two clusters alone.
    step = min(n_rows, _BATCH)
    _compare(
        writable(estimate), sizes, writable(rows), writable(k_rows), writable(weights), jaccard,
        writable(match), writable(shared), logs, np.zeros((step, k, k_most)),
        np.zeros((step, k_most, k)), np.zeros(k), *sums,
    )  # fmt: skip


@kernel
def _compare(
    estimate: Int32s,
    sizes: Ints,
    rows: Int32s,
    k_rows: Ints,
    weights: Floats,
    jaccard: float,
    match: Int32s,
    shared: Int32s,
    logs: Floats,
    adds_companions: Floats,
    adds_information: Floats,
    closest: Floats,
    placed: Floats,
    companions: Floats,
    information: Floats,
    unchanged: Floats,
    similar: Floats,
    mass: Floats,
) -> None:
    """See ``add_comparison``."""
    k_estimate, step = sizes.size, adds_companions.shape[0]
    for start in range(0, rows.shape[0], step):
        stop = min(start + step, rows.shape[0])
        for r in range(start, stop):
            mass[0] += weights[r]
            for k in range(k_estimate):
                closest[k] = 0.0
            for t in range(k_rows[r]):
                size = 0
                for k in range(k_estimate):
                    size += shared[r, t, k]
                for k in range(k_estimate):
                    cell = shared[r, t, k]
                    adds_companions[r - start, k, t] = weights[r] * cell
                    if cell > 0:
                        closest[k] = max(closest[k], cell / (sizes[k] + size - cell))
                        adds_information[r - start, t, k] = weights[r] * (
                            logs[size] + logs[sizes[k]] - 2.0 * logs[cell]
                        )
            for k in range(k_estimate):
                if closest[k] == 1.0:
                    unchanged[k] += weights[r]
                if closest[k] >= jaccard:
                    similar[k] += weights[r]
        # One sum after the other, by unsigned labels: four times as fast as all sums of an item at
        # once, with the test for negative numbers that a signed index has.
        for first in range(0, estimate.size, _TILE):  # the sums of a tile stay in cache
            last = min(first + _TILE, estimate.size)
            for r in range(start, stop):
                row, weight, matched = rows[r], weights[r], match[r]
                for i in range(first, last):
                    placed[i, np.uint64(matched[np.uint32(row[i])])] += weight
                terms = adds_information[r - start]
                for i in range(first, last):
                    information[i] += terms[np.uint32(row[i]), np.uint32(estimate[i])]
                for k in range(k_estimate):
                    sums, adds = companions[k], adds_companions[r - start, k]
                    for i in range(first, last):
                        sums[i] += adds[np.uint32(row[i])]


@kernel
def pairs_together(columns: Unsigned, first: Ints, second: Ints, counts: Ints) -> None:
    """In how many draws the two items of each pair share a cluster; compiles in 0.09 s.

    columns holds one row of labels per item: a pair is then two runs of memory that are compared
    several labels at a time. NumPy takes fifteen times as long.
    """
    for p in range(first.size):
        one = columns[first[p]]
        other = columns[second[p]]
        count = np.int32(0)
        for r in range(columns.shape[1]):
            count += np.int32(one[r] == other[r])
        counts[p] = count
