"""Sets of items on whose grouping draws agree: greedy growth, and branch and bound.

Branch and bound works on bit sets of draws, 64 draws to a word. A candidate is an item
together with its place: a cluster of the set chosen so far, or a new one. Its bits are
the draws that agree with the set once the candidate is in it.

Kernels that may take long read ``stop[0]`` between steps and return what they have once
another thread has set it.
"""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints, UInt64s
from partita.kernels.contingency import count_bits

_FEW = 8
"""Clusters a table of agreeing weights begins with; it doubles as they appear."""


@part_of_kernel
def count_labels(partial: Int32s) -> int:
    """Number of clusters of a partial partition."""
    k = 0
    for i in range(partial.size):
        k = max(k, partial[i] + 1)
    return k


def agreeing(rows: Int32s, partial: Int32s) -> Bools:
    """Which rows group the items with partial labels (≥ 0) exactly as those labels do."""
    holds = np.empty(len(rows), np.bool_)
    _fill_agreeing(rows, partial, holds)
    return holds


@array_kernel
def _fill_agreeing(rows: Int32s, partial: Int32s, out: Bools) -> None:
    n = rows.shape[1]
    label_of = np.empty(max(1, count_labels(partial)), np.int32)
    cluster_of = np.empty(n, np.int32)
    for r in range(rows.shape[0]):
        label_of[:] = -1
        cluster_of[:] = -1
        same = True
        for i in range(n):
            c = partial[i]
            if c < 0:
                continue
            label = rows[r, i]
            if label_of[c] < 0 and cluster_of[label] < 0:
                label_of[c] = label
                cluster_of[label] = c
            elif label_of[c] != label or cluster_of[label] != c:
                same = False
                break
        out[r] = same


@array_kernel
def agreeing_prefix(rows: Int32s, order: Ints, place: Int32s, out: Ints) -> None:
    """For each row, the number of items of a path, from its start, that the row groups alike.

    The path puts item order[s] into cluster place[s]; clusters are numbered 0, 1, … in order
    of appearance.
    """
    n = rows.shape[1]
    label_of = np.empty(order.size + 1, np.int32)
    cluster_of = np.empty(n, np.int32)
    for r in range(rows.shape[0]):
        label_of[:] = -1
        cluster_of[:] = -1
        agreed = 0
        for s in range(order.size):
            c = place[s]
            label = rows[r, order[s]]
            if label_of[c] < 0 and cluster_of[label] < 0:
                label_of[c] = label
                cluster_of[label] = c
            elif label_of[c] != label or cluster_of[label] != c:
                break
            agreed += 1
        out[r] = agreed


@kernel
def _add_row(
    row: Int32s,
    weight: float,
    first_of: Ints,
    k: int,
    cluster_of: Ints,
    agree: Floats,
    fresh: Floats,
) -> None:
    """Add a row's weight to where it puts each item: into a cluster of the core, or apart."""
    for c in range(k):
        cluster_of[row[first_of[c]]] = c
    for j in range(row.size):
        c = cluster_of[row[j]]
        if c >= 0:
            agree[c, j] += weight
        else:
            fresh[j] += weight
    for c in range(k):
        cluster_of[row[first_of[c]]] = -1


@kernel
def _take_in(
    rows: Int32s,
    weights: Floats,
    item: int,
    place: int,
    first_of: Ints,
    k: int,
    cluster_of: Ints,
    alive: Bools,
    agree: Floats,
    fresh: Floats,
) -> float:
    """Drop the rows that put an item elsewhere; the weight of those that stay.

    place is one of the k clusters, or k for a new one, whose column is then filled.
    """
    total = 0.0
    for r in range(rows.shape[0]):
        if not alive[r]:
            continue
        row = rows[r]
        label = row[item]
        stays = True
        if place < k:
            stays = row[first_of[place]] == label
        else:
            for other in range(k):
                if row[first_of[other]] == label:
                    stays = False
                    break
        weight = weights[r]
        if not stays:
            alive[r] = False
            _add_row(row, -weight, first_of, k, cluster_of, agree, fresh)
            continue
        total += weight
        if place == k:
            for j in range(row.size):
                moved = weight if row[j] == label else 0.0
                agree[k, j] += moved
                fresh[j] -= moved
    return total


@array_kernel
def grow(
    rows: Int32s,
    weights: Floats,
    partial: Int32s,
    waiting: Bools,
    floor: float,
    tolerance: float,
    order: Ints,
    mass: Floats,
    alive: Bools,
    reach: Floats,
    target: Int32s,
    stop: Bools,
) -> int:
    """Add items to a partial partition, each time the one that keeps most weight; how many.

    partial holds the labels so far (−1: outside; clusters are numbered without
    gaps) and receives those of the items added. order and mass receive the
    items added, in turn, and the weight of the rows that agree after each. It
    ends when every item is in or the weight would fall below the floor. Items
    that are waiting come in only when no other can. Items with a target (≥ 0) come in
    with those of the same target and apart from those of another; others, and all where
    target is empty, wherever most rows have them. On return alive marks the
    rows that agree, and reach[j] is the weight left after adding item j
    (of the items outside).
    """
    m, n = rows.shape
    k = count_labels(partial)
    capacity = max(_FEW, 2 * k)
    agree = np.zeros((capacity, n))
    fresh = np.zeros(n)
    first_of = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        if partial[i] >= 0:
            first_of[partial[i]] = i
    cluster_of = np.full(n, np.int64(-1))
    _fill_agreeing(rows, partial, alive)
    total = 0.0
    for r in range(m):
        if alive[r]:
            total += weights[r]
            _add_row(rows[r], weights[r], first_of, k, cluster_of, agree, fresh)
    added = 0
    patient = False
    for j in range(n):
        patient = patient or waiting[j]
    choice = np.empty(n, np.int64)
    # The best cluster of each item. Only the newest is compared while no row is dropped.
    nearest = np.zeros(n, np.int64)
    nearest_weight = np.empty(n)
    since = 0
    cluster_of_target = np.full(n, np.int64(-1))
    for i in range(target.size):
        if partial[i] >= 0 and target[i] >= 0:
            cluster_of_target[target[i]] = partial[i]
    while not stop[0]:
        best = -1
        for j in range(n):
            if partial[j] >= 0:
                continue
            if since == 0:
                nearest_weight[j] = -1.0
            for c in range(since, k):
                if agree[c, j] > nearest_weight[j]:
                    nearest_weight[j] = agree[c, j]
                    nearest[j] = c
            c_best = k
            w_best = fresh[j]
            if target.size > 0 and target[j] >= 0:
                if cluster_of_target[target[j]] >= 0:
                    c_best = cluster_of_target[target[j]]
                    w_best = agree[c_best, j]
            elif nearest_weight[j] > w_best:
                w_best = nearest_weight[j]
                c_best = nearest[j]
            reach[j] = w_best
            choice[j] = c_best
            if patient and waiting[j]:
                continue
            if c_best < k and w_best >= total - tolerance:
                # It costs no row: nothing changes for the others, so take it on the way.
                partial[j] = c_best
                order[added] = j
                mass[added] = total
                added += 1
            elif best < 0 or w_best > reach[best]:
                best = j
        if best < 0 or reach[best] < floor - tolerance:
            if patient:
                patient = False
                since = k
                continue
            return added
        c = choice[best]
        if c == k:
            if k == capacity:
                wider = np.zeros((2 * capacity, n))
                for row in range(capacity):  # a slice would compile, and load, its error message
                    for j in range(n):
                        wider[row, j] = agree[row, j]
                agree = wider
                capacity *= 2
            first_of[k] = best
            if target.size > 0 and target[best] >= 0:
                cluster_of_target[target[best]] = k
        before = total
        total = _take_in(rows, weights, best, c, first_of, k, cluster_of, alive, agree, fresh)
        since = k if total == before else 0
        if c == k:
            k += 1
        partial[best] = c
        order[added] = best
        mass[added] = total
        added += 1
    return added


@kernel
def pack_pairs(columns: Int32s, out: UInt64s) -> None:
    """Bits of the draws in which two items are together, for every pair of rows of columns."""
    n, m = columns.shape
    one = np.uint64(1)
    for i in range(n):
        for j in range(i + 1):
            for word in range(out.shape[2]):
                bits = np.uint64(0)
                for b in range(min(64, m - 64 * word)):
                    r = 64 * word + b
                    if columns[i, r] == columns[j, r]:
                        bits |= one << np.uint64(b)
                out[i, j, word] = bits
                out[j, i, word] = bits


@kernel
def bits_weight(bits: UInt64s, weights: Floats) -> float:
    """Weight of the draws in a bit set; their number when no weights are given."""
    total = 0.0
    one = np.uint64(1)
    for word in range(bits.size):
        x = bits[word]
        if weights.size == 0:
            total += np.float64(count_bits(x))
        else:
            position = 64 * word
            while x != np.uint64(0):
                if x & one:
                    total += weights[position]
                x >>= one
                position += 1
    return total


@kernel
def _meet(a: UInt64s, b: UInt64s, out: UInt64s) -> None:
    for word in range(out.size):
        out[word] = a[word] & b[word]


@kernel
def _meet_without(a: UInt64s, b: UInt64s, c: UInt64s, out: UInt64s) -> None:
    for word in range(out.size):
        out[word] = a[word] & b[word] & ~c[word]


@array_kernel
def _compatible(
    bits: UInt64s,
    item: Ints,
    place: Ints,
    n: int,
    new: int,
    together: UInt64s,
    weights: Floats,
    floor: float,
    joined: Bools,
) -> None:
    """Whether two candidates can both come in, for every pair of the first n."""
    work = np.empty(bits.shape[1], np.uint64)
    for i in range(n):
        joined[i, i] = False
        for j in range(i):
            fits = False
            if item[i] != item[j]:
                if place[i] == new and place[j] == new:
                    pair = together[item[i], item[j]]
                    _meet_without(bits[i], bits[j], pair, work)
                    fits = bits_weight(work, weights) >= floor
                    if not fits:
                        _meet(bits[i], bits[j], work)
                        _meet(work, pair, work)
                        fits = bits_weight(work, weights) >= floor
                else:
                    _meet(bits[i], bits[j], work)
                    fits = bits_weight(work, weights) >= floor
            joined[i, j] = fits
            joined[j, i] = fits


@array_kernel
def colour_classes(joined: Bools, n: int, order: Ints, colour: Ints) -> int:
    """Colour the first n vertices so that joined ones differ; order them by colour.

    A set of pairwise joined vertices has at most as many members as there are
    colours. Vertices with most neighbours are coloured first.
    """
    degree = np.zeros(n, np.int64)
    for i in range(n):
        for j in range(n):
            if joined[i, j]:
                degree[i] += 1
    turn = np.argsort(-degree, kind="mergesort")
    of_vertex = np.full(n, np.int64(-1))
    used = np.zeros(n + 1, np.bool_)
    highest = 0
    for at in range(n):
        v = turn[at]
        used[: highest + 1] = False
        for j in range(n):
            if joined[v, j] and of_vertex[j] >= 0:
                used[of_vertex[j]] = True
        c = 0
        while used[c]:
            c += 1
        of_vertex[v] = c
        highest = max(highest, c + 1)
    at = 0
    for c in range(highest):
        for index in range(n):
            v = turn[index]
            if of_vertex[v] == c:
                order[at] = v
                colour[at] = c + 1
                at += 1
    return highest


@kernel
def _extend(
    bits: UInt64s,
    item: Ints,
    place: Ints,
    order: Ints,
    at: int,
    new: int,
    together: UInt64s,
    weights: Floats,
    floor: float,
    joined: Bools,
    next_bits: UInt64s,
    next_item: Ints,
    next_place: Ints,
) -> int:
    """Candidates that remain once the one at a position of the order has come in."""
    chosen = order[at]
    n = 0
    for before in range(at):
        j = order[before]
        if not joined[chosen, j]:
            continue
        if place[chosen] == new and place[j] == new:
            pair = together[item[chosen], item[j]]
            _meet(bits[chosen], bits[j], next_bits[n])
            _meet(next_bits[n], pair, next_bits[n])
            if bits_weight(next_bits[n], weights) >= floor:
                next_item[n] = item[j]
                next_place[n] = new
                n += 1
            _meet_without(bits[chosen], bits[j], pair, next_bits[n])
            if bits_weight(next_bits[n], weights) >= floor:
                next_item[n] = item[j]
                next_place[n] = new + 1
                n += 1
        else:
            _meet(bits[chosen], bits[j], next_bits[n])
            next_item[n] = item[j]
            next_place[n] = place[j]
            n += 1
    return n


@array_kernel
def branch_and_bound(
    together: UInt64s,
    everyone: UInt64s,
    weights: Floats,
    floor: float,
    n_places: int,
    work: float,
    best: Ints,
    best_size: int,
    stop: Bools,
) -> tuple[int, int, float]:
    """The largest set of items that the floor allows: size, proven bound, work left.

    best receives the place of each item in a larger set than best_size, if there
    is one, −1 outside. n_places is the most candidates of one item. It stops when
    the work (pairs of candidates compared) is used up; the bound holds anyway.
    """
    n_items, _, n_words = together.shape
    width = n_items * n_places + 1
    depth_most = n_items + 1
    bits = np.empty((1, width, n_words), np.uint64)
    item = np.empty((depth_most, width), np.int64)
    place = np.empty((depth_most, width), np.int64)
    order = np.empty((depth_most, width), np.int64)
    colour = np.empty((depth_most, width), np.int64)
    joined = np.empty((1, width, width), np.bool_)
    new = np.zeros(depth_most, np.int64)
    at = np.zeros(depth_most, np.int64)
    chosen_item = np.empty(depth_most, np.int64)
    chosen_place = np.empty(depth_most, np.int64)
    for i in range(n_items):
        bits[0, i] = everyone
        item[0, i] = i
        place[0, i] = 0
    _compatible(bits[0], item[0], place[0], n_items, 0, together, weights, floor, joined[0])
    bound = colour_classes(joined[0], n_items, order[0], colour[0])
    at[0] = n_items - 1
    depth = 0
    while depth >= 0:
        if at[depth] < 0 or depth + colour[depth, at[depth]] <= best_size:
            depth -= 1
            continue
        if work <= 0.0 or stop[0]:
            return best_size, max(best_size, min(bound, colour[0, at[0] + (depth > 0)])), work
        here = at[depth]
        at[depth] -= 1
        v = order[depth, here]
        chosen_item[depth] = item[depth, v]
        chosen_place[depth] = place[depth, v]
        if depth + 1 > best_size:
            best_size = depth + 1
            best[:] = -1
            for d in range(depth + 1):
                best[chosen_item[d]] = chosen_place[d]
        if depth + 1 == depth_most or here == 0:
            continue
        if depth + 1 == bits.shape[0]:
            deeper = np.empty((depth + 2, width, n_words), np.uint64)
            deeper[: depth + 1] = bits
            bits = deeper
            more = np.empty((depth + 2, width, width), np.bool_)
            more[: depth + 1] = joined
            joined = more
        count = _extend(
            bits[depth],
            item[depth],
            place[depth],
            order[depth],
            here,
            new[depth],
            together,
            weights,
            floor,
            joined[depth],
            bits[depth + 1],
            item[depth + 1],
            place[depth + 1],
        )
        if count == 0:
            continue
        new[depth + 1] = new[depth] + (place[depth, v] == new[depth])
        _compatible(
            bits[depth + 1],
            item[depth + 1],
            place[depth + 1],
            count,
            new[depth + 1],
            together,
            weights,
            floor,
            joined[depth + 1],
        )
        work -= 0.5 * count * count
        colour_classes(joined[depth + 1], count, order[depth + 1], colour[depth + 1])
        at[depth + 1] = count - 1
        depth += 1
    return best_size, best_size, work


@array_kernel
def best_places(rows: Int32s, weights: Floats, partial: Int32s, place: Int32s) -> None:
    """Where the rows that agree with partial labels put each item outside, most of their weight.

    A cluster of the set, or the number of its clusters for a new one, which wins ties.
    """
    m, n = rows.shape
    k = count_labels(partial)
    agree = np.zeros((max(1, k), n))
    fresh = np.zeros(n)
    first_of = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        if partial[i] >= 0:
            first_of[partial[i]] = i
    cluster_of = np.full(n, np.int64(-1))
    alive = np.empty(m, np.bool_)
    _fill_agreeing(rows, partial, alive)
    for r in range(m):
        if alive[r]:
            _add_row(rows[r], weights[r], first_of, k, cluster_of, agree, fresh)
    for j in range(n):
        place[j] = k
        most = fresh[j]
        for c in range(k):
            if agree[c, j] > most:
                most = agree[c, j]
                place[j] = c


@array_kernel
def weight_with_item(
    rows: Int32s, weights: Floats, partial: Int32s, place: Int32s, out: Floats
) -> None:
    """Weight of the rows that agree with partial labels and have an item at its place, by item.

    Of the items with a label, the weight of the rows that agree.
    """
    m, n = rows.shape
    k = count_labels(partial)
    cluster_of = np.full(n, np.int64(-1))
    alive = np.empty(m, np.bool_)
    _fill_agreeing(rows, partial, alive)
    out[:] = 0.0
    for r in range(m):
        if not alive[r]:
            continue
        for i in range(n):
            if partial[i] >= 0:
                cluster_of[rows[r, i]] = partial[i]
        for j in range(n):
            c = cluster_of[rows[r, j]]
            if partial[j] >= 0 or c == place[j] or (c < 0 and place[j] == k):
                out[j] += weights[r]
        for i in range(n):
            if partial[i] >= 0:
                cluster_of[rows[r, i]] = -1
