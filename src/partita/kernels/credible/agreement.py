"""Branch and bound over sets of items on whose grouping enough draws agree.

Sets of draws are bit sets, 64 draws to a word. A candidate is an item together
with its place: a cluster of the set chosen so far, or a new one. Its bits are
the draws that agree with the set once the candidate is in it.
"""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints, UInt64s
from partita.kernels.bits import count_bits


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
        if work <= 0.0:
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
