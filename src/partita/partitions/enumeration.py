"""Counting and listing partitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from partita._validate import whole
from partita.errors import InvalidInputError
from partita.partitions.labels import Labels

MAX_ENUMERATED = 12
"""Most items whose partitions are listed: Bell(12) is 4.2 million, Bell(13) 27.6 million."""

_LARGEST = 10_000
"""Most items whose partitions are counted: the numbers have 27,665 digits there."""


def bell_number(n: int) -> int:
    """Number of partitions of n items, exactly.

    B(n) = Σ_k S(n, k), with S the Stirling numbers of the second kind.

    Parameters
    ----------
    n : int
        Number of items, at least 0.

    Returns
    -------
    int
        A Python integer of any size; ``math.log`` takes it whole.

    Notes
    -----
    Bell's triangle, O(n²) additions.

    References
    ----------
    Rota, G.-C. (1964), The number of partitions of a set. American
    Mathematical Monthly 71.

    Examples
    --------
    >>> import partita as pt
    >>> [pt.bell_number(n) for n in range(7)]
    [1, 1, 2, 5, 15, 52, 203]
    """
    row = [1]
    for _ in range(whole(n, "n", most=_LARGEST)):
        row = list(accumulate([row[-1], *row]))
    return row[0]


def stirling_number(n: int, k: int) -> int:
    """Number of partitions of n items into k clusters (Stirling, second kind), exactly.

    S(n, k) = (1/k!) Σ_j (−1)^(k−j) C(k, j) jⁿ

    Parameters
    ----------
    n, k : int
        Numbers of items and of clusters, at least 0.

    Returns
    -------
    int

    Notes
    -----
    O(k) products of Python integers.

    References
    ----------
    Graham, R. L., Knuth, D. E. and Patashnik, O. (1994), Concrete
    Mathematics, section 6.1.

    Examples
    --------
    >>> import partita as pt
    >>> [pt.stirling_number(4, k) for k in range(1, 5)]
    [1, 7, 6, 1]
    """
    n, k = whole(n, "n", most=_LARGEST), whole(k, "k", most=_LARGEST)
    if k > n:
        return 0
    terms = (math.comb(k, j) * j**n * (1 if (k - j) % 2 == 0 else -1) for j in range(k + 1))
    total: int = sum(terms)
    return total // math.factorial(k)


def all_partitions(n: int) -> Iterator[Labels]:
    """Every partition of n items, once, from one cluster to all singletons.

    Restricted growth strings in lexicographic order. For exact answers on
    small problems, and as an oracle in tests.

    Parameters
    ----------
    n : int
        Number of items, 1 to 12.

    Yields
    ------
    ndarray of int32, shape (n,)
        Canonical labels.

    Notes
    -----
    Lazy; :func:`bell_number` of n in all: 4,213,597 for n = 12.

    Examples
    --------
    >>> import partita as pt
    >>> [c.tolist() for c in pt.all_partitions(3)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    blocks = partition_blocks(n, 256)
    return (row for block in blocks for row in block)


def partition_blocks(n: int, rows: int) -> Iterator[Labels]:
    """Every partition of n items in matrices of up to ``rows`` rows, for searches in bulk."""
    items = whole(n, "n")
    if not 1 <= items <= MAX_ENUMERATED:
        # Counted only where that is quick: the numbers grow faster than exponentially.
        many = f"{bell_number(items):.3g}" if items <= 200 else "more than 1e+275"
        raise InvalidInputError(
            f"n={n}; partitions are listed for 1 to {MAX_ENUMERATED} items, and {items:,} items "
            f"have {many} of them. Draw some with random_partition instead.",
            argument="n",
        )
    return _blocks(items, rows)


def _blocks(n: int, rows: int) -> Iterator[Labels]:
    from partita.kernels.partitions.enumeration import fill_partitions

    current = np.zeros(n, np.int32)
    first = 1  # the kernel writes successors: the one-cluster partition is put in here
    while True:
        block = np.zeros((rows, n), np.int32)
        filled = first + fill_partitions(current, block[first:])
        if filled:
            yield block[:filled]
        if filled < rows:
            return
        first = 0
