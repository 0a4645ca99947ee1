"""The lowest eigenvalues of a small symmetric matrix.

Written out because many matrices are taken in turn by threads of our own: the
threads of a linear algebra library would wait for each other between them.
"""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Floats

_HALVINGS = 60
"""Bisections of an interval that holds an eigenvalue: it ends at the spacing of floats."""


@part_of_kernel
def tridiagonal(matrix: Floats, diagonal: Floats, beside: Floats) -> None:
    """Householder's reduction of a symmetric matrix, which is destroyed.

    ``beside[i]`` stands between the diagonal's places i and i + 1.
    """
    m = diagonal.size
    v = np.zeros(m)
    p = np.zeros(m)
    for k in range(m - 1):
        diagonal[k] = matrix[k, k]
        norm = 0.0
        for i in range(k + 1, m):
            norm += matrix[k, i] * matrix[k, i]
        norm = np.sqrt(norm)
        first = matrix[k, k + 1]
        beside[k] = -norm if first > 0.0 else norm
        if norm == 0.0 or k == m - 2:
            beside[k] = first
            continue
        for i in range(k + 1, m):
            v[i] = matrix[k, i]
            p[i] = 0.0
        v[k + 1] = first - beside[k]
        scale = 1.0 / (norm * norm - first * beside[k])
        for j in range(k + 1, m):
            share = v[j] * scale
            for i in range(k + 1, m):
                p[i] += share * matrix[j, i]
        along = 0.0
        for i in range(k + 1, m):
            along += p[i] * v[i]
        along *= 0.5 * scale
        for i in range(k + 1, m):
            p[i] -= along * v[i]
        for j in range(k + 1, m):
            a, b = v[j], p[j]
            for i in range(k + 1, m):
                matrix[j, i] -= a * p[i] + b * v[i]
    diagonal[m - 1] = matrix[m - 1, m - 1]


@part_of_kernel
def count_below(diagonal: Floats, beside: Floats, limit: float, tiny: float) -> int:
    """Eigenvalues of a tridiagonal matrix below a limit: the negative pivots."""
    below = 0
    pivot = 1.0
    for i in range(diagonal.size):
        coupling = beside[i - 1] * beside[i - 1] if i > 0 else 0.0
        pivot = diagonal[i] - limit - coupling / pivot
        if abs(pivot) < tiny:
            pivot = -tiny
        if pivot < 0.0:
            below += 1
    return below


@array_kernel
def negative_sum(matrix: Floats, count: int) -> float:
    """Sum of the ``count`` lowest eigenvalues of a symmetric matrix, those above 0 left out.

    Each is taken from below, by bisection. O(m³), and O(m) for each bisection.
    The matrix is destroyed.
    """
    m = matrix.shape[0]
    diagonal = np.zeros(m)
    beside = np.zeros(m)
    tridiagonal(matrix, diagonal, beside)
    least = np.inf
    most = -np.inf
    for i in range(m):
        radius = abs(beside[i]) + (abs(beside[i - 1]) if i > 0 else 0.0)
        least = min(least, diagonal[i] - radius)
        most = max(most, diagonal[i] + radius)
    tiny = 1e-300 + 1e-30 * (most - least)
    total = 0.0
    low = least
    for number in range(min(count, m)):
        high = most
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if count_below(diagonal, beside, middle, tiny) > number:
                high = middle
            else:
                low = middle
        if low >= 0.0:
            break
        total += low
    return total
