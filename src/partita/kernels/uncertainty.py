"""What draws say about each item and cluster of an estimate, and shapes of partitions.

Clusters of a draw are matched one to one to those of a reference by the largest total overlap.
Their table of overlaps has at most as many cells as there are items, so it is kept as rows of
cells, and the assignment is solved on those alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints

_BATCH, _CELLS = 16, 1 << 18
"""Rows that are compared together, and most cells of their tables; one row where that is more."""

_TILE = 256
"""Items whose sums are filled together."""

_FAR = 1 << 60
"""Farther than any path."""


def members_of(reference: Int32s, k: int) -> tuple[Ints, Ints]:
    """Items in the order of their clusters, and where each cluster begins among them."""
    members = np.argsort(reference, kind="stable").astype(np.int64)
    begins = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(reference, minlength=k), out=begins[1:])
    return members, begins


@array_kernel
def overlaps(
    members: Ints, begins: Ints, row: Int32s, k_row: int, starts: Ints, column: Ints, count: Ints
) -> None:
    """Items that each reference cluster shares with each cluster of a row, where there are any.

    The cells of reference cluster r are starts[r] to starts[r + 1]: column and count.
    """
    cell_of = np.full(k_row, np.int64(-1))
    cells = 0
    starts[0] = 0
    for r in range(begins.size - 1):
        for index in range(begins[r], begins[r + 1]):
            t = row[members[index]]
            if cell_of[t] < starts[r]:
                cell_of[t] = cells
                column[cells] = t
                count[cells] = 0
                cells += 1
            count[cell_of[t]] += 1
        starts[r + 1] = cells


@array_kernel
def assign(
    starts: Ints, column: Ints, count: Ints, column_of: Ints, row_of: Ints, u: Ints, v: Ints
) -> None:
    """A matching of rows and columns with the largest total, by shortest augmenting paths.

    On return the potentials are at least 0, count ≤ u[row] + v[column] in every cell, with
    equality in cells that are matched, and 0 on rows and columns that are not: whole numbers,
    so ties are told exactly.
    """
    n, m = column_of.size, row_of.size
    column_of[:] = -1
    row_of[:] = -1
    v[:] = 0
    for r in range(n):
        u[r] = 0
        for e in range(starts[r], starts[r + 1]):
            u[r] = max(u[r], count[e])
        for e in range(starts[r], starts[r + 1]):
            if count[e] == u[r] and row_of[column[e]] < 0:
                column_of[r] = column[e]
                row_of[column[e]] = r
                break
    far = np.int64(_FAR)
    distance = np.full(m, far)
    came = np.empty(m, np.int64)
    done = np.zeros(m, np.bool_)
    seen = np.empty(m, np.int64)
    tree = np.empty(n, np.int64)
    depth = np.empty(n, np.int64)
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
                if not done[c] and cost < distance[c]:
                    if distance[c] == far:
                        seen[n_seen] = c
                        n_seen += 1
                    distance[c] = cost
                    came[c] = row
            nearest = np.int64(-1)
            for index in range(n_seen):
                c = seen[index]
                if not done[c] and (nearest < 0 or distance[c] < distance[nearest]):
                    nearest = c
            if nearest < 0 or distance[nearest] >= end:
                break
            d = distance[nearest]
            done[nearest] = True
            if row_of[nearest] < 0:
                last, end = nearest, d
                break
            row = row_of[nearest]
        for index in range(n_tree):
            u[tree[index]] -= max(np.int64(0), end - depth[tree[index]])
        for index in range(n_seen):
            c = seen[index]
            if done[c]:
                v[c] += end - distance[c]
            distance[c] = far
            done[c] = False
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


@array_kernel
def _seat_row(
    row: Any,
    taken: Any,
    starts: Ints,
    column: Ints,
    count: Ints,
    column_of: Ints,
    row_of: Ints,
    u: Ints,
    v: Ints,
    fixed: Bools,
) -> bool:
    """Match a row that needs a column, moving rows that are not fixed, at the same total."""
    came = np.full(row_of.size, np.int64(-1))
    queue = np.empty(column_of.size, np.int64)
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
            if holder >= 0 and fixed[holder]:
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


@array_kernel
def _settle_ties(
    starts: Ints, column: Ints, count: Ints, column_of: Ints, row_of: Ints, u: Ints, v: Ints
) -> None:
    """Among the matchings of largest total the first: row by row the largest cell, then the
    first column."""
    n, m = column_of.size, row_of.size
    # The cells by column, for columns that need a row.
    starts_t = np.zeros(m + 1, np.int64)
    for e in range(starts[n]):
        starts_t[column[e] + 1] += 1
    for c in range(m):
        starts_t[c + 1] += starts_t[c]
    filled = starts_t[:m].copy()
    row_t = np.empty(starts[n], np.int64)
    count_t = np.empty(starts[n], np.int64)
    for r in range(n):
        for e in range(starts[r], starts[r + 1]):
            row_t[filled[column[e]]] = r
            count_t[filled[column[e]]] = count[e]
            filled[column[e]] += 1
    fixed = np.zeros(n, np.bool_)
    fixed_t = np.zeros(m, np.bool_)
    kept = np.empty(n, np.int64)
    kept_t = np.empty(m, np.int64)
    for r in range(n):
        last_count, last_column = np.int64(_FAR), np.int64(-1)
        while True:
            best, best_count = np.int64(-1), np.int64(0)
            for e in range(starts[r], starts[r + 1]):
                c, x = column[e], count[e]
                if x != u[r] + v[c] or (row_of[c] >= 0 and fixed[row_of[c]]):
                    continue
                after = x < last_count or (x == last_count and c > last_column)
                if after and (x > best_count or (x == best_count and c < best)):
                    best, best_count = c, x
            if best < 0:
                break
            last_count, last_column = best_count, best
            old, loser = column_of[r], row_of[best]
            possible = True
            if best != old:
                kept[:] = column_of
                kept_t[:] = row_of
                if old >= 0:
                    row_of[old] = -1
                if loser >= 0:
                    column_of[loser] = -1
                column_of[r] = best
                row_of[best] = r
                fixed[r] = True
                fixed_t[best] = True
                # Rows and columns with a potential above 0 are matched in every best matching.
                if loser >= 0 and u[loser] > 0:
                    possible = _seat_row(
                        loser, best, starts, column, count, column_of, row_of, u, v, fixed
                    )
                if possible and old >= 0 and v[old] > 0 and row_of[old] < 0:
                    possible = _seat_row(
                        old, r, starts_t, row_t, count_t, row_of, column_of, v, u, fixed_t
                    )
                if not possible:
                    column_of[:] = kept
                    row_of[:] = kept_t
                    fixed[r] = False
                    fixed_t[best] = False
            if possible:
                fixed[r] = True
                fixed_t[best] = True
                break


@array_kernel
def match_row(members: Ints, begins: Ints, row: Int32s, k_row: int, match: Ints) -> None:
    """The reference cluster that each cluster of a row is matched to; −1 for none.

    The reference is given by :func:`members_of`. The matching is one to one with the largest
    total overlap; clusters without common items are not matched. Ties: the reference's clusters
    choose in the order of their numbers, each the largest overlap that keeps the total, and
    among equal ones the row's first cluster.
    """
    k = begins.size - 1
    starts = np.empty(k + 1, np.int64)
    column = np.empty(row.size, np.int64)
    count = np.empty(row.size, np.int64)
    overlaps(members, begins, row, k_row, starts, column, count)
    match[:k_row] = -1
    apart = True
    for r in range(k):
        best = np.int64(-1)
        for e in range(starts[r], starts[r + 1]):
            if best < 0 or (
                count[e] > count[best] or (count[e] == count[best] and column[e] < column[best])
            ):
                best = np.int64(e)
        if best < 0:
            continue
        if match[column[best]] >= 0:
            apart = False
            break
        match[column[best]] = r
    if apart:  # every cluster has its first choice, which no assignment can better
        return
    column_of = np.empty(k, np.int64)
    row_of = np.empty(k_row, np.int64)
    u = np.empty(k, np.int64)
    v = np.empty(k_row, np.int64)
    assign(starts, column, count, column_of, row_of, u, v)
    _settle_ties(starts, column, count, column_of, row_of, u, v)
    match[:k_row] = row_of


def align_rows(
    reference: Int32s, k_reference: int, rows: Int32s, k_rows: Ints, out: Int32s
) -> None:
    """Rows in the numbers of the reference's clusters; −1, −2, … where there is no counterpart."""
    _align_rows(*members_of(reference, k_reference), rows, k_rows, out)


@array_kernel
def _align_rows(members: Ints, begins: Ints, rows: Int32s, k_rows: Ints, out: Int32s) -> None:
    for r in range(rows.shape[0]):
        match = np.empty(k_rows[r], np.int64)
        match_row(members, begins, rows[r], k_rows[r], match)
        unmatched = 0
        for t in range(k_rows[r]):
            if match[t] < 0:
                unmatched -= 1
                match[t] = unmatched
        for i in range(rows.shape[1]):
            out[r, i] = match[rows[r, i]]


@part_of_kernel
def add_row(
    row: Int32s,
    estimate: Int32s,
    weight: float,
    match: Ints,
    size_of: Int32s,
    adds_companions: Floats,
    adds_information: Floats,
    adds_own: Floats,
    placed: Floats,
    companions: Floats,
    own: Floats,
    information: Floats,
    alone: Floats,
) -> None:
    """Add what a row says about some items.

    One sum after the other, by unsigned labels: four times as fast as all sums of an item at
    once, with the test for negative numbers that a signed index has.
    """
    for i in range(row.size):
        placed[i, np.uint64(match[np.uint32(row[i])])] += weight
    for i in range(row.size):
        t = np.uint32(row[i])
        information[i] += adds_information[t, np.uint32(estimate[i])]
        own[i] += adds_own[t, np.uint32(estimate[i])]
        alone[i] += weight if size_of[t] == 1 else 0.0
    for k in range(companions.shape[0]):
        sums, adds = companions[k], adds_companions[k]
        for i in range(row.size):
            sums[i] += adds[np.uint32(row[i])]


@array_kernel
def compare_with_estimate(
    estimate: Int32s,
    sizes: Ints,
    members: Ints,
    begins: Ints,
    rows: Int32s,
    k_rows: Ints,
    weights: Floats,
    logs: Floats,
    jaccard: float,
    begin: int,
    placed: Floats,
    companions: Floats,
    own: Floats,
    information: Floats,
    alone: Floats,
    unchanged: Floats,
    similar: Floats,
) -> None:
    """Add what each row says about an estimate, given by its labels and cluster sizes.

    Of the items, only from ``begin`` on and as many as ``alone`` has room for.
    Over rows r of weight w, with C(i) the row's cluster of item i and E_k the
    estimate's cluster k:
    placed[i, k] += w where C(i) is matched to E_k, placed[i, K] += w where to none;
    companions[k, i] += w·|C(i) ∩ E_k|, item i itself included where it is in E_k;
    own[i] += w·(|C(i) ∩ E(i)| − 1), the other members of its own cluster, so that an item that
    is with none of them has exactly 0;
    information[i] += w·(log2|C(i)| + log2|E(i)| − 2·log2|C(i) ∩ E(i)|);
    alone[i] += w where |C(i)| = 1;
    unchanged[k] += w where E_k is a cluster of the row;
    similar[k] += w where a cluster of the row overlaps E_k by Jaccard ≥ jaccard.
    """
    n = estimate.size
    k_estimate = sizes.size
    k_most = 1
    for r in range(k_rows.size):
        k_most = max(k_most, k_rows[r])
    # Several rows at a time, and their items in tiles: the sums of a tile stay in cache.
    batch = max(1, min(_BATCH, _CELLS // (k_most * k_estimate), rows.shape[0]))
    shared = np.zeros((batch, k_most, k_estimate), np.int32)
    size_of = np.zeros((batch, k_most), np.int32)
    match = np.zeros((batch, k_most), np.int64)
    # What a row adds for an item depends on the item's two clusters alone.
    adds_companions = np.zeros((batch, k_estimate, k_most))
    adds_information = np.zeros((batch, k_most, k_estimate))
    adds_own = np.zeros((batch, k_most, k_estimate))
    closest = np.zeros(k_estimate)
    for start in range(0, rows.shape[0], batch):
        stop = min(start + batch, rows.shape[0])
        for r in range(start, stop):
            b = r - start
            shared[b, : k_rows[r]] = 0
            for i in range(n):
                shared[b, np.uint32(rows[r, i]), np.uint32(estimate[i])] += 1
            for t in range(k_rows[r]):
                size_of[b, t] = 0
                for k in range(k_estimate):
                    size_of[b, t] += shared[b, t, k]
            match_row(members, begins, rows[r], k_rows[r], match[b])
            for t in range(k_rows[r]):
                if match[b, t] < 0:
                    match[b, t] = k_estimate
            closest[:] = 0.0
            for t in range(k_rows[r]):
                for k in range(k_estimate):
                    cell = shared[b, t, k]
                    adds_companions[b, k, t] = weights[r] * cell
                    if cell > 0:
                        adds_own[b, t, k] = weights[r] * (cell - 1)
                        closest[k] = max(closest[k], cell / (sizes[k] + size_of[b, t] - cell))
                        adds_information[b, t, k] = weights[r] * (
                            logs[size_of[b, t]] + logs[sizes[k]] - 2.0 * logs[cell]
                        )
            for k in range(k_estimate):
                if closest[k] == 1.0:
                    unchanged[k] += weights[r]
                if closest[k] >= jaccard:
                    similar[k] += weights[r]
        for first in range(0, alone.size, _TILE):
            last = min(first + _TILE, alone.size)
            for r in range(start, stop):
                add_row(
                    rows[r, begin + first : begin + last],
                    estimate[begin + first : begin + last],
                    weights[r],
                    match[r - start],
                    size_of[r - start],
                    adds_companions[r - start],
                    adds_information[r - start],
                    adds_own[r - start],
                    placed[first:last],
                    companions[:, first:last],
                    own[first:last],
                    information[first:last],
                    alone[first:last],
                )


@array_kernel
def shapes(rows: Int32s, k_rows: Ints, terms: Floats, entropy: Floats, ranked: Int32s) -> None:
    """Entropy in bits of each row, and its cluster sizes from largest to smallest.

    terms holds x·log2(x). Only as many sizes are kept as ``ranked`` has columns;
    missing clusters have size 0.
    """
    n = rows.shape[1]
    kept = ranked.shape[1]
    for r in range(rows.shape[0]):
        count = np.zeros(k_rows[r], np.int32)
        for i in range(n):
            count[np.uint32(rows[r, i])] += 1
        total = 0.0
        largest = np.int32(0)
        for k in range(count.size):
            total += terms[count[k]]
            largest = max(largest, count[k])
        # log2 N as terms[N]/N, so that a single cluster has entropy exactly 0.
        entropy[r] = max((terms[n] - total) / n, 0.0)
        if kept == 1:
            ranked[r, 0] = largest
        else:
            count.sort()
            for k in range(kept):
                ranked[r, k] = count[count.size - 1 - k] if k < count.size else 0


@array_kernel
def count_together(columns: NDArray[np.unsignedinteger[Any]], first: Ints, second: Ints) -> Ints:
    """In how many draws the two items of each pair share a cluster.

    columns holds one row of labels per item: a pair is then two runs of memory
    that are compared several labels at a time.
    """
    counts = np.zeros(first.size, np.int64)
    for p in range(first.size):
        one = columns[first[p]]
        other = columns[second[p]]
        count = np.int32(0)
        for r in range(columns.shape[1]):
            count += np.int32(one[r] == other[r])
        counts[p] = count
    return counts
