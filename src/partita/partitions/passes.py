"""Passes over draws: one function, run on every block of them, combined in order.

A pass is a function of a block of draws (and of one part of the work, where a
block is worth several). Which draws make a block depends on their number and
length alone, and results come back in the order of the blocks, so that sums
are the same to the last bit whatever runs them: threads, processes, or other
machines. A pass takes what it needs as arguments and gives back its result; it
writes nothing in place, because a worker elsewhere shares no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.partitions.arrays import Labels
from partita.partitions.draws import Draws

R = TypeVar("R")
P = TypeVar("P")

_MOST_DRAWS, _MOST_LABELS = 2_048, 1 << 22
"""Draws and labels of one block: enough to be worth a task, small enough to convert."""

_AT_ONCE = 8
"""Results that wait to be combined; each may be as large as the answer."""

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive draws, as small as they are stored.

    Attributes
    ----------
    start : int
        Number of the first draw.
    labels : ndarray of unsigned int, shape (n, n_items)
    n_clusters : ndarray of int64, shape (n,)
    probabilities : ndarray of float, shape (n,)
        Their share of the whole mass.
    is_weighted : bool
        Whether draws differ in weight; where not, counts are exact and shares come last.
    """

    start: int
    labels: NDArray[np.unsignedinteger[Any]]
    n_clusters: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    is_weighted: bool

    @property
    def rows(self) -> Labels:
        """The labels in the dtype of the kernels, a copy."""
        return self.labels.astype(np.int32)

    @property
    def counts(self) -> NDArray[np.float64]:
        """The weights, or 1 for each draw where they do not differ, so that sums are whole."""
        return self.probabilities if self.is_weighted else np.ones(self.n_clusters.size)


def block_of(draws: Draws, where: slice) -> Block:
    """Some consecutive draws as a block."""
    return Block(
        where.start,
        draws.labels[where],
        draws.n_clusters[where],
        draws.probabilities[where],
        draws.weights is not None,
    )


def block_slices(draws: Draws, rows: int | None = None) -> list[slice]:
    """Where the blocks are; a pass that needs other blocks than usual says how many ``rows``."""
    usual = max(1, min(_MOST_DRAWS, _MOST_LABELS // draws.n_items))
    return list(draws.blocks(rows or usual))


def map_blocks(
    function: Callable[[Block], R],
    draws: Draws,
    *,
    rows: int | None = None,
    n_jobs: int | None = None,
    say: Say | None = None,
) -> Iterator[R]:
    """``function(block)`` for every block of draws, in order.

    Parameters
    ----------
    function : callable
        A pass: of a block alone, without side effects.
    draws : Draws
    rows : int, optional
        Draws per block, where the usual number does not suit.
    n_jobs : int, optional
        Threads; every core by default. No result depends on it.
    say : callable, optional
        Told how many draws are done.

    Examples
    --------
    >>> import partita as pt
    >>> from partita.partitions.passes import map_blocks
    >>> draws = pt.Draws([[0, 0, 1], [0, 1, 2], [0, 0, 0]])
    >>> list(map_blocks(lambda block: int(block.n_clusters.sum()), draws, rows=2))
    [5, 1]
    """
    for batch in _batches(block_slices(draws, rows)):
        # Blocks are views; a worker elsewhere is sent its block and no other draws.
        yield from run(function, [block_of(draws, where) for where in batch], n_jobs)
        if say is not None:
            say(f"{batch[-1].stop:,} of {draws.n_draws:,} draws")


def map_parts(
    function: Callable[[Any, P], R],
    draws: Draws,
    parts: Sequence[P],
    *,
    prepare: Callable[[Block], Any],
    rows: int | None = None,
    n_jobs: int | None = None,
    at_once: int | None = None,
    say: Say | None = None,
) -> Iterator[tuple[P, R]]:
    """``function(prepare(block), part)`` for every block and part, parts within blocks, in order.

    For a pass whose work on one block is itself divided, such as the rows of a
    similarity matrix. ``at_once`` bounds the results that wait to be combined.
    """
    done = 0
    for where in block_slices(draws, rows):
        block = prepare(block_of(draws, where))
        for batch in _batches(parts, at_once or len(parts)):
            yield from zip(batch, run(partial(function, block), batch, n_jobs), strict=True)
        done = where.stop
        if say is not None:
            say(f"{done:,} of {draws.n_draws:,} draws")


def concatenated(results: Iterable[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Arrays with one row per draw, from those of the blocks."""
    return tuple(np.concatenate(parts) for parts in zip(*results, strict=True))


def summed(results: Iterable[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Arrays added up in the order of the blocks, holding one set of sums."""
    iterator = iter(results)
    totals = tuple(np.array(part) for part in next(iterator))
    for parts in iterator:
        for total, part in zip(totals, parts, strict=True):
            total += part
    return totals


def _batches(work: Sequence[P], size: int = _AT_ONCE) -> Iterator[list[P]]:
    iterator = iter(work)
    while batch := list(islice(iterator, size)):
        yield batch
