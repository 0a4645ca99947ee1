"""Passes over draws: one function, run on every block of them, combined in order.

A pass is a function of a block of draws (and of one part of the work, where a
block is worth several). Which draws make a block depends on their number and
length alone, and results come back in the order of the blocks, so that sums
are the same to the last bit whatever runs them: threads, processes, or the
workers of a cluster, where draws that live there are passed over where they
are. A pass takes what it needs as arguments and gives back its result; it
writes nothing in place, because a worker elsewhere shares no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run, stream
from partita._vocabulary import words
from partita.partitions import pieces
from partita.partitions.block import Block as Block
from partita.partitions.draws import Draws
from partita.partitions.remote import RemoteLabels

R = TypeVar("R")
P = TypeVar("P")
Sums = tuple[NDArray[Any], ...]

GATHERED_LABELS = 1 << 26
"""Labels up to which draws on workers are fetched for a search that needs them whole."""

Say = Callable[[str], None]


def block_of(draws: Draws, where: slice) -> Block:
    """Some consecutive draws as a block, in memory."""
    labels = draws.stored
    if isinstance(labels, RemoteLabels):
        return Block(labels.rows(np.arange(where.start, where.stop)), *_facts(draws, where))
    return Block(labels[where], *_facts(draws, where))


def _facts(draws: Draws, where: slice) -> tuple[Any, ...]:
    """What a block has besides its labels."""
    shares = draws.probabilities[where]
    return where.start, draws.n_clusters[where], shares, draws.weights is not None


def block_slices(draws: Draws, rows: int | None = None) -> list[slice]:
    """Where the blocks are; a pass that needs other blocks than usual says how many ``rows``.

    Blocks of other sizes end where the draws that lie together end; see ``pieces``.
    """
    return pieces.pieces(draws.n_draws, draws.n_items, rows)


def map_blocks(
    function: Callable[[Block], R],
    draws: Draws,
    *,
    rows: int | None = None,
    n_jobs: int | None = None,
) -> Iterator[R]:
    """``function(block)`` for every block of draws, in order.

    The function is a pass: of a block alone, without side effects. ``rows`` are the draws of a
    block, where the usual number does not suit. No result depends on ``n_jobs``, and workers of a
    cluster have their own.

    Examples
    --------
    >>> import partita as pt
    >>> from partita.partitions.passes import map_blocks
    >>> draws = pt.Draws([[0, 0, 1], [0, 1, 2], [0, 0, 0]])
    >>> list(map_blocks(lambda block: int(block.n_clusters.sum()), draws, rows=2))
    [5, 1]
    """
    work = block_slices(draws, rows)
    labels = draws.stored
    if isinstance(labels, RemoteLabels):
        return labels.map(
            partial(_seen, function), [(where, _facts(draws, where)) for where in work]
        )
    # Blocks are views; a process elsewhere is sent its block and no other draws.
    return stream(function, (block_of(draws, where) for where in work), n_jobs)


def sum_blocks(
    function: Callable[[Block], Sums],
    draws: Draws,
    *,
    rows: int | None = None,
    n_jobs: int | None = None,
    say: Say | None = None,
) -> Sums:
    """The arrays that ``function(block)`` returns, added up over all blocks.

    Groups of consecutive blocks are added up where they lie, then the groups'
    sums in order: on a cluster each of them stays on the workers, and one set
    of arrays comes back. The parameters are those of :func:`map_blocks`; ``say`` is told how many
    draws are done.
    """
    work = pieces.groups(draws.n_draws, draws.n_items, rows)

    def done(number: int) -> None:
        if say is not None:
            say(f"{work[number][-1].stop:,} of {draws.n_draws:,} {words(draws.kind).draws}")

    labels = draws.stored
    if isinstance(labels, RemoteLabels):
        groups = [[(where, _facts(draws, where)) for where in group] for group in work]
        return labels.total(partial(_seen, function), groups, done)
    blocks = ([block_of(draws, where) for where in group] for group in work)
    results = stream(partial(_group_sum, function), blocks, n_jobs)
    return summed(_told(results, done))


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
    """``function(prepare(block), part)`` for every block and part; the blocks of a part in order.

    For a pass whose work on one block is itself divided, such as the rows of a
    similarity matrix. ``at_once`` bounds the results that wait to be combined.
    """
    batches = list(_batches(parts, at_once or len(parts)))
    if isinstance(draws.stored, RemoteLabels):
        # All blocks for some parts, then for others: the workers are all busy.
        for number, batch in enumerate(batches):
            work = partial(_several, function=function, prepare=prepare, parts=batch)
            for results in map_blocks(work, draws, rows=rows):
                yield from zip(batch, results, strict=True)
            if say is not None:
                say(f"{number + 1:,} of {len(batches):,} parts")
        return
    for where in block_slices(draws, rows):
        block = prepare(block_of(draws, where))
        for batch in batches:
            yield from zip(batch, run(partial(function, block), batch, n_jobs), strict=True)
        if say is not None:
            say(f"{where.stop:,} of {draws.n_draws:,} {words(draws.kind).draws}")


def map_sets(
    function: Callable[..., R],
    draws: Draws,
    sets: Sequence[tuple[NDArray[np.int64], tuple[Any, ...]]],
    *,
    n_jobs: int | None = None,
    is_up: Callable[[], bool] = lambda: False,
    instead: Callable[..., R] | None = None,
) -> Iterator[R]:
    """``function(labels, *more)`` for sets of draws that lie anywhere, in order.

    Each set comes as the numbers of its draws, and what else the function
    takes; ``labels`` are theirs, in the dtype of the kernels. From the moment
    on that time ``is_up`` the remaining sets get ``instead(*more)``.
    """
    labels = draws.stored
    left = iter(sets)
    started = iter(lambda: None if is_up() else next(left, None), None)
    if isinstance(labels, RemoteLabels):
        yield from labels.map_sets(partial(_widened, function), started)
    else:
        rows = ((labels[numbers], more) for numbers, more in started)
        yield from stream(partial(_on_set, function), rows, n_jobs)
    if instead is not None:
        yield from (instead(*more) for _, more in left)


def here(draws: Draws) -> Draws:
    """The draws with their labels in memory: fetched from workers, where they live there."""
    return draws._with(labels=draws.labels) if isinstance(draws.stored, RemoteLabels) else draws


def near(draws: Draws) -> Draws:
    """For a search that looks at draws again and again: few of them are fetched, many stay."""
    return here(draws) if is_small(draws) else draws


def is_remote(draws: Draws) -> bool:
    """Whether the labels live on workers."""
    return isinstance(draws.stored, RemoteLabels)


def is_small(draws: Draws) -> bool:
    """Whether there are so few labels that they may be fetched from workers for a search."""
    return draws.n_draws * draws.n_items <= GATHERED_LABELS


def concatenated(results: Iterable[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Arrays with one row per draw, from those of the blocks."""
    return tuple(np.concatenate(parts) for parts in zip(*results, strict=True))


def summed(results: Iterable[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Arrays added up in the order of the blocks, holding one set of sums: the first ones."""
    iterator = iter(results)
    # Views of something else are not written to.
    totals = tuple(
        part if part.flags.owndata and part.flags.writeable else np.array(part)
        for part in next(iterator)
    )
    for parts in iterator:
        for total, part in zip(totals, parts, strict=True):
            total += part
    return totals


def _batches(work: Sequence[P], size: int) -> Iterator[list[P]]:
    iterator = iter(work)
    while batch := list(islice(iterator, size)):
        yield batch


def _told(results: Iterable[R], done: Callable[[int], None]) -> Iterator[R]:
    for number, result in enumerate(results):
        done(number)
        yield result


# ------------------------------------------------------------------ what workers run, too


def _seen(
    function: Callable[[Block], R], labels: NDArray[np.unsignedinteger[Any]], *facts: Any
) -> R:
    return function(Block(labels, *facts))


def _group_sum(function: Callable[[Block], Sums], blocks: Sequence[Block]) -> Sums:
    return summed(map(function, blocks))


def _several(
    block: Block,
    *,
    function: Callable[[Any, P], R],
    prepare: Callable[[Block], Any],
    parts: Sequence[P],
) -> list[R]:
    ready = prepare(block)
    return [function(ready, part) for part in parts]


def _widened(function: Callable[..., R], labels: NDArray[Any], *more: Any) -> R:
    return function(labels.astype(np.int32), *more)


def _on_set(function: Callable[..., R], task: tuple[NDArray[Any], tuple[Any, ...]]) -> R:
    return _widened(function, task[0], *task[1])
