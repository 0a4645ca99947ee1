"""Least cost of a group of draws that at most n partitions must serve, by subsets."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Ints


@part_of_kernel
def cover_values(d: Floats, mass: Floats, value: Floats) -> None:
    """Fill value[S], S a bit mask: the largest total of disjoint pairs and triangles inside S.

    A pair counts its distance, a triangle half its perimeter, each times the
    smallest mass in it: what draws that share one partition cost at least.
    """
    m = mass.size
    pair = np.zeros((m, m))
    triangle = np.zeros((m, m, m))
    for i in range(m):
        for j in range(i + 1, m):
            lighter = min(mass[i], mass[j])
            pair[i, j] = lighter * d[i, j]
            for k in range(j + 1, m):
                half = 0.5 * (d[i, j] + d[j, k] + d[i, k])
                triangle[i, j, k] = min(lighter, mass[k]) * half
    inside = np.empty(m, np.int64)
    value[0] = 0.0
    for subset in range(1, 1 << m):
        size = 0
        for i in range(m):
            inside[size] = i
            size += (subset >> i) & 1
        i = inside[0]
        rest = subset ^ (1 << i)
        best = value[rest]
        for a in range(1, size):
            j = inside[a]
            without = rest ^ (1 << j)
            best = max(best, value[without] + pair[i, j])
            for b in range(a + 1, size):
                k = inside[b]
                best = max(best, value[without ^ (1 << k)] + triangle[i, j, k])
        value[subset] = best


@part_of_kernel
def split_value(cover: Floats, m: int, n: int, least: Floats, finer: Floats) -> float:
    """Min over splits of all m draws into at most n blocks of the sum of the blocks' covers.

    ``least`` and ``finer`` are scratch of 2^m cells. With r blocks, the block
    of a subset's first draw is tried in every way: 3^m / 2 for each r < n.
    """
    whole = (1 << m) - 1
    least[:] = cover[: whole + 1]
    for r in range(2, n + 1):
        first = whole if r == n else 1
        finer[0] = 0.0
        for subset in range(first, whole + 1):
            low = subset & -subset
            rest = subset ^ low
            best = least[subset]
            part = rest  # the subset of the rest that leaves the first draw's block
            while part > 0:
                best = min(best, cover[subset ^ part] + least[part])
                part = (part - 1) & rest
            finer[subset] = best
        if r < n:
            least[:] = finer
    return float(finer[whole] if n > 1 else cover[whole])


@array_kernel
def groups_value(d: Floats, mass: Floats, size: int, n: int) -> float:
    """Sum of the least costs of consecutive groups of ``size`` draws; the last may be smaller."""
    cover = np.empty(1 << size)
    least = np.empty(1 << size)
    finer = np.empty(1 << size)
    total = 0.0
    for start in range(0, mass.size, size):
        stop = min(start + size, mass.size)
        m = stop - start
        if m <= n:
            continue
        cover_values(d[start:stop, start:stop], mass[start:stop], cover)
        total += split_value(cover, m, n, least[: 1 << m], finer[: 1 << m])
    return total


@array_kernel
def exchange(gain: Floats, group: Ints, n_groups: int, passes: int) -> None:
    """Exchange draws between groups while that raises the sum of ``gain`` within groups."""
    m = group.size
    attached = np.zeros((m, n_groups))
    for i in range(m):
        for j in range(m):
            attached[i, group[j]] += gain[i, j]
    for _ in range(passes):
        moved = False
        for i in range(m):
            a = group[i]
            best, partner = 1e-12, -1
            for j in range(m):
                b = group[j]
                if b == a:
                    continue
                more = attached[i, b] + attached[j, a] - attached[i, a] - attached[j, b]
                more -= 2.0 * gain[i, j]
                if more > best:
                    best, partner = more, j
            if partner < 0:
                continue
            b = group[partner]
            for j in range(m):
                change = gain[j, partner] - gain[j, i]
                attached[j, a] += change
                attached[j, b] -= change
            group[i], group[partner] = b, a
            moved = True
        if not moved:
            return
