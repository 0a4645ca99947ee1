"""One-to-one assignment of the clusters of two partitions, by largest total overlap."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Bools, Int32s, Ints


@array_kernel
def assign_rows(table: Ints, column_of: Ints, row_of: Ints, u: Ints, v: Ints) -> None:
    """A largest-total assignment of rows to columns, one shortest augmenting path per row.

    table has at least as many columns as rows. On return row r has column
    column_of[r], and the potentials satisfy table[r, c] ≤ u[r] + v[c], with
    equality where assigned and v = 0 on columns left free: whole numbers, so
    ties are told exactly.
    """
    n, m = table.shape
    far = np.int64(1) << np.int64(60)
    column_of[:n] = -1
    row_of[:m] = -1
    v[:m] = 0
    for r in range(n):
        u[r] = table[r, 0]
        for c in range(1, m):
            u[r] = max(u[r], table[r, c])
    slack = np.empty(m, np.int64)
    came = np.empty(m, np.int64)
    done = np.empty(m, np.bool_)
    for start in range(n):
        slack[:] = far
        done[:] = False
        row = start
        entered = -1
        while True:
            step = far
            nearest = -1
            for c in range(m):
                if not done[c]:
                    cost = u[row] + v[c] - table[row, c]
                    if cost < slack[c]:
                        slack[c] = cost
                        came[c] = entered
                    if slack[c] < step:
                        step = slack[c]
                        nearest = c
            u[start] -= step
            for c in range(m):
                if done[c]:
                    u[row_of[c]] -= step
                    v[c] += step
                else:
                    slack[c] -= step
            done[nearest] = True
            entered = nearest
            if row_of[nearest] < 0:
                break
            row = row_of[nearest]
        while entered >= 0:
            before = came[entered]
            taken = start if before < 0 else row_of[before]
            row_of[entered] = taken
            column_of[taken] = entered
            entered = before


@array_kernel
def _swap_in(
    table: Ints,
    row: int,
    column: int,
    column_of: Ints,
    row_of: Ints,
    u: Ints,
    v: Ints,
    fixed: Bools,
) -> bool:
    """Give a row another column without changing the total, if that can be done.

    The row that had the column must reach the column given up, or a free one,
    through cells that are assigned in some best assignment.
    """
    m = table.shape[1]
    old = column_of[row]
    loser = row_of[column]
    if loser < 0:
        if v[old] != 0:  # a column with a price is taken in every best assignment
            return False
        row_of[old] = -1
        row_of[column] = row
        column_of[row] = column
        return True
    came = np.full(m, np.int64(-2))
    came[column] = -1
    queue = np.empty(m, np.int64)
    queue[0] = column
    head, tail, last = 0, 1, -1
    while head < tail and last < 0:
        at = queue[head]
        head += 1
        mover = row_of[at]
        for c in range(m):
            if came[c] == -2 and table[mover, c] == u[mover] + v[c]:
                holder = row_of[c]
                if c == old or (holder < 0 and v[old] == 0):
                    came[c] = at
                    last = c
                    break
                if holder >= 0 and holder != row and not fixed[holder]:
                    came[c] = at
                    queue[tail] = c
                    tail += 1
    if last < 0:
        return False
    row_of[old] = -1
    at = last
    while came[at] >= 0:
        mover = row_of[came[at]]
        row_of[at] = mover
        column_of[mover] = at
        at = came[at]
    row_of[column] = row
    column_of[row] = column
    return True


@array_kernel
def _settle_ties(table: Ints, column_of: Ints, row_of: Ints, u: Ints, v: Ints) -> None:
    """Among the best assignments the first: row by row the largest cell, then the first column."""
    n, m = table.shape
    fixed = np.zeros(n, np.bool_)
    for r in range(n):
        tried = np.zeros(m, np.bool_)
        while True:
            best = -1
            for c in range(m):
                if tried[c] or table[r, c] == 0 or table[r, c] != u[r] + v[c]:
                    continue
                free = row_of[c] < 0 or not fixed[row_of[c]]
                if free and (best < 0 or table[r, c] > table[r, best]):
                    best = c
            if best < 0:
                break
            tried[best] = True
            if best == column_of[r] or _swap_in(table, r, best, column_of, row_of, u, v, fixed):
                fixed[r] = True
                break


@array_kernel
def match_clusters(shared: Int32s, k_row: int, match: Ints) -> None:
    """The cluster of the estimate each cluster of a draw is matched to; −1 for none.

    shared[t, k] counts the items in cluster t of the draw and k of the
    estimate, for t < k_row. The matching is one to one with the largest total
    overlap; clusters without common items are not matched. Ties: the
    estimate's clusters choose in the order of their numbers, each the largest
    overlap that keeps the total, and among equal ones the draw's first cluster.
    """
    k_estimate = shared.shape[1]
    match[:k_row] = -1
    apart = True
    for k in range(k_estimate):
        best = 0
        for t in range(1, k_row):
            if shared[t, k] > shared[best, k]:
                best = t
        if match[best] >= 0:
            apart = False
            break
        match[best] = k
    if apart:  # every cluster has its first choice, which no assignment can better
        return
    m = max(k_estimate, k_row)
    table = np.zeros((k_estimate, m), np.int64)
    for t in range(k_row):
        for k in range(k_estimate):
            table[k, t] = shared[t, k]
    column_of = np.empty(k_estimate, np.int64)
    row_of = np.empty(m, np.int64)
    u = np.empty(k_estimate, np.int64)
    v = np.empty(m, np.int64)
    assign_rows(table, column_of, row_of, u, v)
    _settle_ties(table, column_of, row_of, u, v)
    match[:k_row] = -1
    for k in range(k_estimate):
        t = column_of[k]
        if table[k, t] > 0:
            match[t] = k


@array_kernel
def align_rows(
    reference: Int32s, k_reference: int, rows: Int32s, k_rows: Ints, out: Int32s
) -> None:
    """Rows in the numbers of the reference's clusters; −1, −2, … where there is no counterpart."""
    n = reference.size
    for r in range(rows.shape[0]):
        shared = np.zeros((k_rows[r], k_reference), np.int32)
        for i in range(n):
            shared[rows[r, i], reference[i]] += 1
        match = np.empty(k_rows[r], np.int64)
        match_clusters(shared, k_rows[r], match)
        unmatched = 0
        for t in range(k_rows[r]):
            if match[t] < 0:
                unmatched -= 1
                match[t] = unmatched
        for i in range(n):
            out[r, i] = match[rows[r, i]]
