"""Sets of items on whose grouping draws agree: greedy growth, and branch and bound.

Branch and bound works on bit sets of draws, 64 draws to a word. A candidate is an item
together with its place: a cluster of the set chosen so far, or a new one. Its bits are
the draws that agree with the set once the candidate is in it.

Kernels that may take long read ``stop[0]`` between steps and return what they have once
another thread has set it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel, inner_kernel, kernel, part_of_kernel, writable
from partita.kernels.arrays import Bools, Floats, Int32s, Ints, UInt64s
from partita.kernels.contingency import count_bits

_FEW = 8
"""Clusters a table of agreeing weights begins with; it doubles as they appear."""


def agreeing(rows: Int32s, partial: Int32s) -> Bools:
    """Which rows group the items with partial labels (≥ 0) exactly as those labels do."""
    items = np.flatnonzero(partial >= 0)
    return np.equal(agreeing_prefix(rows, items, partial[items]), items.size)


def agreeing_prefix(rows: Int32s, order: Ints, place: Int32s) -> Ints:
    """For each row, the number of items of a path, from its start, that the row groups alike.

    The path puts item order[s] into cluster place[s], a number below that of all items.
    """
    found = np.empty(len(rows), np.int64)
    work = np.empty((2, rows.shape[1] + 1), np.int32)
    _agreeing_prefix(writable(rows), writable(order), writable(place), work, found)
    return found


@kernel
def _agreeing_prefix(rows: Int32s, order: Ints, place: Int32s, work: Int32s, out: Ints) -> None:
    label_of, cluster_of = work[0], work[1]
    for r in range(rows.shape[0]):
        for i in range(label_of.size):
            label_of[i] = -1
            cluster_of[i] = -1
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


class Places(NamedTuple):
    """Weights of the rows by where they put each item: ``agree`` into a cluster of the core, whose
    first item is ``first_of``, ``fresh`` apart from all. ``cluster_of`` is scratch, all −1."""

    first_of: Ints
    cluster_of: Ints
    agree: Floats
    fresh: Floats


@part_of_kernel
def _add_row(row: Int32s, weight: float, k: int, places: Places) -> None:
    """Add a row's weight to where it puts each item."""
    first_of, cluster_of, agree, fresh = places
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


@part_of_kernel
def _take_in(
    rows: Int32s, weights: Floats, item: int, place: int, k: int, places: Places, alive: Bools
) -> float:
    """Drop the rows that put an item elsewhere; the weight of those that stay.

    place is one of the k clusters, or k for a new one, whose column is then filled.
    """
    first_of, _, agree, fresh = places
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
            _add_row(row, -weight, k, places)
            continue
        total += weight
        if place == k:
            for j in range(row.size):
                moved = weight if row[j] == label else 0.0
                agree[k, j] += moved
                fresh[j] -= moved
    return total


def grow(
    rows: Int32s,
    weights: Floats,
    partial: Int32s,
    floor: float,
    tolerance: float,
    *,
    waiting: Bools,
    target: Int32s,
    stop: Bools,
) -> tuple[Ints, Floats]:
    """Add items to a partial partition, each time the one that keeps most weight.

    partial holds the labels so far (−1: outside; clusters are numbered without
    gaps) and receives those of the items added. Returned are the
    items added, in turn, and the weight of the rows that agree before and after each. It
    ends when every item is in or the weight would fall below the floor. Items
    that are waiting come in only when no other can. Items with a target (≥ 0) come in
    with those of the same target and apart from those of another; others, and all where
    target is empty, wherever most rows have them.
    """
    n, k = partial.size, int(partial.max(initial=-1)) + 1
    alive, order, mass = agreeing(rows, partial), np.empty(n, np.int64), np.empty(n + 1)
    mass[0] = weights[alive].sum()
    agree, sums = np.zeros((max(_FEW, 2 * k), n)), np.zeros((3, n))
    work = np.full((5, n), -1, np.int64)
    _place_first(partial, work[0])
    added = _grow(
        *(rows, weights, partial, waiting, floor, tolerance, order, mass[1:], alive),
        *(writable(target), stop, k, agree, sums, work),
    )
    return order[:added], mass[: added + 1]


def _place_first(partial: Int32s, first_of: Ints) -> None:
    """The first item of each cluster."""
    inside = np.flatnonzero(partial >= 0)[::-1]
    first_of[partial[inside]] = inside  # of several the last one written stays: the first


@array_kernel
def _grow(
    rows: Int32s,
    weights: Floats,
    partial: Int32s,
    waiting: Bools,
    floor: float,
    tolerance: float,
    order: Ints,
    mass: Floats,
    alive: Bools,
    target: Int32s,
    stop: Bools,
    k: int,
    agree: Floats,
    sums: Floats,
    work: Ints,
) -> int:
    """See ``grow``; from ``agree`` on scratch."""
    m, n = rows.shape
    capacity = agree.shape[0]
    fresh, nearest_weight, reach = sums[0], sums[1], sums[2]
    # ``nearest`` is the best cluster of each item. Only the newest is compared while no row is
    # dropped.
    first_of, cluster_of, cluster_of_target, choice, nearest = (
        work[0], work[1], work[2], work[3], work[4],
    )  # fmt: skip
    places, total = Places(first_of, cluster_of, agree, fresh), 0.0
    for r in range(m):
        if alive[r]:
            total += weights[r]
            _add_row(rows[r], weights[r], k, places)
    added = 0
    patient = False
    for j in range(n):
        patient = patient or waiting[j]
    since = 0
    for i in range(target.size):
        if partial[i] >= 0 and target[i] >= 0:
            cluster_of_target[target[i]] = partial[i]
    while not stop[0]:
        best = -1
        for j in range(n):
            if partial[j] >= 0:
                continue
            near, near_weight = nearest[j], nearest_weight[j]
            if since == 0:
                near_weight = -1.0
            for c in range(since, k):
                if agree[c, j] > near_weight:
                    near, near_weight = c, agree[c, j]
            nearest[j], nearest_weight[j] = near, near_weight
            c_best = k
            w_best = fresh[j]
            if target.size > 0 and target[j] >= 0:
                if cluster_of_target[target[j]] >= 0:
                    c_best = cluster_of_target[target[j]]
                    w_best = agree[c_best, j]
            elif near_weight > w_best:
                w_best = near_weight
                c_best = near
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
                agree, capacity = wider, 2 * capacity
                places = Places(first_of, cluster_of, agree, fresh)
            first_of[k] = best
            if target.size > 0 and target[best] >= 0:
                cluster_of_target[target[best]] = k
        before = total
        total = _take_in(rows, weights, best, c, k, places, alive)
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


class Agreement(NamedTuple):
    """Bits of the draws in which two items are together, for every pair, and what must remain."""

    together: UInt64s
    weights: Floats
    floor: float


class Candidates(NamedTuple):
    """Items, their places, and the bits of the draws that agree once one of them is in."""

    bits: UInt64s
    item: Ints
    place: Ints


@inner_kernel
def _meet(a: UInt64s, b: UInt64s, pair: UInt64s, how: int, weights: Floats, out: UInt64s) -> float:
    """The draws in two bit sets, and in a third (how = 1) or outside it (how = 2): their weight."""
    everywhere = np.uint64(0) if how > 0 else ~np.uint64(0)
    turned = np.uint64(0) if how == 1 else ~np.uint64(0)
    for word in range(out.size):
        out[word] = a[word] & b[word] & ((pair[word] ^ turned) | everywhere)
    return bits_weight(out, weights)


@inner_kernel
def _join_compatible(
    found: Candidates, n: int, new: int, agreement: Agreement, joined: Bools, work: UInt64s
) -> None:
    """Whether two candidates can both come in, for every pair of the first n."""
    bits, item, place = found
    together, weights, floor = agreement
    for i in range(n):
        joined[i, i] = False
        for j in range(i):
            fits = False
            if item[i] != item[j]:
                # Two that open a cluster open the same one, or one each.
                both = int(place[i] == new and place[j] == new)
                pair = together[item[i], item[j]]
                fits = _meet(bits[i], bits[j], pair, 2 * both, weights, work) >= floor or (
                    both == 1 and _meet(bits[i], bits[j], pair, 1, weights, work) >= floor
                )
            joined[i, j] = fits
            joined[j, i] = fits


@array_kernel
def colour_classes(joined: Bools, n: int, order: Ints, colour: Ints) -> int:
    """Colour the first n vertices so that joined ones differ; order them by colour.

    A set of pairwise joined vertices has at most as many members as there are
    colours. Vertices with most neighbours are coloured first.
    """
    work = np.zeros((5, n + 1), np.int64)
    degree, begins, turn, of_vertex, used = work[0], work[1], work[2], work[3], work[4]
    for i in range(n):
        of_vertex[i] = -1
        for j in range(n):
            if joined[i, j]:
                degree[i] += 1
        begins[n - 1 - degree[i]] += 1
    before = np.int64(0)
    for d in range(n):
        before, begins[d] = before + begins[d], before
    for i in range(n):
        turn[begins[n - 1 - degree[i]]] = i
        begins[n - 1 - degree[i]] += 1
    highest = 0
    for at in range(n):
        v = turn[at]
        for j in range(n):
            if joined[v, j] and of_vertex[j] >= 0:
                used[of_vertex[j]] = v + 1
        c = 0
        while used[c] == v + 1:
            c += 1
        of_vertex[v] = c
        if c + 1 > highest:
            highest = c + 1
    at = 0
    for c in range(highest):
        for index in range(n):
            v = turn[index]
            if of_vertex[v] == c:
                order[at] = v
                colour[at] = c + 1
                at += 1
    return highest


@inner_kernel
def _extend(
    found: Candidates, order: Ints, at: int, new: int, agreement: Agreement, after: Candidates
) -> int:
    """Candidates that remain once the one at a position of the order has come in."""
    bits, item, place = found
    together, weights, floor = agreement
    chosen = order[at]
    n = 0
    for before in range(at):
        j = order[before]
        if item[j] == item[chosen]:
            continue
        both = int(place[chosen] == new and place[j] == new)
        pair = together[item[chosen], item[j]]
        for how in range(both, 2 * both + 1):
            if _meet(bits[chosen], bits[j], pair, how, weights, after.bits[n]) >= floor:
                after.item[n] = item[j]
                after.place[n] = place[j] + (how == 2)
                n += 1
    return n


@array_kernel
def branch_and_bound(
    agreement: Agreement,
    everyone: UInt64s,
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
    n_items, _, n_words = agreement.together.shape
    width, depth_most = n_items * n_places + 1, n_items + 1
    # Memory that is never written to is never taken: few depths are reached.
    bits = np.empty((depth_most, width, n_words), np.uint64)
    numbers = np.empty((4, depth_most, width), np.int64)
    item, place, order, colour = numbers[0], numbers[1], numbers[2], numbers[3]
    joined = np.empty((width, width), np.bool_)
    new, at, chosen = np.zeros((3, depth_most), np.int64)
    meet = np.empty(n_words, np.uint64)
    for i in range(n_items):
        for word in range(n_words):
            bits[0, i, word] = everyone[word]
        item[0, i] = i
        place[0, i] = 0
    depth = 0
    count = n_items
    bound = n_items
    while depth >= 0:
        if count > 0:  # the candidates at this depth are new
            here = Candidates(bits[depth], item[depth], place[depth])
            _join_compatible(here, count, new[depth], agreement, joined, meet)
            n_colours = colour_classes(joined, count, order[depth], colour[depth])
            if depth == 0:
                bound = n_colours
            at[depth] = count - 1
            count = 0
        if at[depth] < 0 or depth + colour[depth, at[depth]] <= best_size:
            depth -= 1
            continue
        if work <= 0.0 or stop[0]:
            return best_size, max(best_size, min(bound, colour[0, at[0] + (depth > 0)])), work
        turn = at[depth]
        at[depth] -= 1
        chosen[depth] = order[depth, turn]
        if depth + 1 > best_size:
            best_size = depth + 1
            for i in range(n_items):
                best[i] = -1
            for d in range(depth + 1):
                best[item[d, chosen[d]]] = place[d, chosen[d]]
        if depth + 1 == depth_most or turn == 0:
            continue
        here = Candidates(bits[depth], item[depth], place[depth])
        after = Candidates(bits[depth + 1], item[depth + 1], place[depth + 1])
        count = _extend(here, order[depth], turn, new[depth], agreement, after)
        if count == 0:
            continue
        new[depth + 1] = new[depth] + (place[depth, chosen[depth]] == new[depth])
        work -= 0.5 * count * count
        depth += 1
    return best_size, best_size, work


def weights_of_places(rows: Int32s, weights: Floats, partial: Int32s) -> Floats:
    """Weight of the rows that agree with partial labels and put each item apart from them, in the
    first row, or into one of their clusters, in the others.
    """
    n, k = partial.size, int(partial.max(initial=-1)) + 1
    kept = np.flatnonzero(agreeing(rows, partial))
    work, sums = np.full((2, n), -1, np.int64), np.zeros((k + 1, n))
    _place_first(partial, work[0])
    _add_rows(rows, writable(weights), kept, k, work, sums[1:], sums[0])
    return sums


@kernel
def _add_rows(
    rows: Int32s, weights: Floats, kept: Ints, k: int, work: Ints, agree: Floats, fresh: Floats
) -> None:
    for index in range(kept.size):
        r = kept[index]
        _add_row(rows[r], weights[r], k, Places(work[0], work[1], agree, fresh))
