"""Scans over draws: one function, run on every block of them, combined in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita import _storage
from partita._resources import require_memory, run, stream
from partita._validate import choice, number
from partita._wording import words
from partita.draws import Draws
from partita.kernels.arrays import Array, Bools, Floats, Int32s, Ints, UInt64s, Unsigned
from partita.labels import Labels
from partita.mcmc import mcse_mean

if TYPE_CHECKING:
    from partita.dask import RemoteLabels


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive draws, as small as they are stored.

    Attributes
    ----------
    labels : ndarray of unsigned int, shape (n, n_items)
    start : int
        Number of the first draw.
    n_clusters : ndarray of int64, shape (n,)
    probabilities : ndarray of float, shape (n,)
        Their share of the whole mass.
    is_weighted : bool
        Whether draws differ in weight; where not, counts are exact and shares come last.
    """

    labels: Unsigned
    start: int
    n_clusters: Ints
    probabilities: Floats
    is_weighted: bool

    @property
    def rows(self) -> Labels:
        """The labels in the dtype of the kernels, a copy."""
        return self.labels.astype(np.int32)

    @property
    def counts(self) -> Floats:
        """The weights, or 1 for each draw where they do not differ, so that sums are whole."""
        return self.probabilities if self.is_weighted else np.ones(self.n_clusters.size)


R = TypeVar("R")
P = TypeVar("P")
Sums = tuple[Array, ...]

GATHERED_LABELS = 1 << 26
"""Labels up to which draws on workers are fetched for a search that needs them whole."""

Say = Callable[[str], None]


def block_of(draws: Draws, where: slice) -> Block:
    """Some consecutive draws as a block, in memory."""
    return Block(draws.labels_at(where), *_block_metadata(draws, where))


def _block_metadata(draws: Draws, where: slice) -> tuple[Any, ...]:
    """What a block has besides its labels. Copies: kernels compile anew for arrays to read only."""
    number = draws.n_clusters[where].copy()
    if draws.weights is not None:
        return where.start, number, draws.weights[where].copy(), True
    return where.start, number, np.full(number.size, 1.0 / draws.n_draws), False


def block_slices(draws: Draws, rows: int | None = None) -> list[slice]:
    """Where the blocks are; a pass that needs other blocks than usual says how many ``rows``.

    Blocks of other sizes end where the draws that lie together end; see ``_storage.block_slices``.
    """
    return _storage.block_slices(draws.n_draws, draws.n_items, rows)


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
    >>> from partita.scan import map_blocks
    >>> draws = pt.Draws([[0, 0, 1], [0, 1, 2], [0, 0, 0]])
    >>> list(map_blocks(lambda block: int(block.n_clusters.sum()), draws, rows=2))
    [5, 1]
    """
    work = block_slices(draws, rows)
    if (remote := _remote_labels(draws)) is not None:
        return remote.map(
            partial(_call_on_block, function),
            [(where, _block_metadata(draws, where)) for where in work],
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
    work = _storage.block_groups(draws.n_draws, draws.n_items, rows)

    def done(number: int) -> None:
        if say is not None:
            say(f"{work[number][-1].stop:,} of {draws.n_draws:,} {words(draws.kind).draws}")

    if (remote := _remote_labels(draws)) is not None:
        groups = [[(where, _block_metadata(draws, where)) for where in group] for group in work]
        return remote.total(partial(_call_on_block, function), groups, done)
    blocks = ([block_of(draws, where) for where in group] for group in work)
    results = stream(lambda group: sum_arrays(map(function, group)), blocks, n_jobs)

    def told() -> Iterator[Sums]:
        for place, result in enumerate(results):
            done(place)
            yield result

    return sum_arrays(told())


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
    batches = [parts[some] for some in _storage.cut(0, len(parts), at_once or len(parts))]
    if is_remote(draws):
        # All blocks for some parts, then for others: the workers are all busy.
        for number, batch in enumerate(batches):
            work = partial(_call_on_parts, function=function, prepare=prepare, parts=batch)
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
    sets: Sequence[tuple[Ints, tuple[Any, ...]]],
    *,
    n_jobs: int | None = None,
    is_up: Callable[[], bool] = lambda: False,
) -> Iterator[R]:
    """``function(labels, *more)`` for sets of draws that lie anywhere, in order.

    Each set comes as the numbers of its draws, and what else the function
    takes; ``labels`` are theirs, in the dtype of the kernels. Sets that are left when time
    ``is_up`` are not looked at.
    """
    left = iter(sets)
    started = iter(lambda: None if is_up() else next(left, None), None)
    if (remote := _remote_labels(draws)) is not None:
        return remote.map(partial(_call_on_int32, function), started)
    rows = ((draws.labels_at(numbers), more) for numbers, more in started)
    return stream(lambda task: _call_on_int32(function, task[0], *task[1]), rows, n_jobs)


def gather(draws: Draws) -> Draws:
    """The draws with their labels in memory, gathered from workers if they are there."""
    return draws._with(labels=draws.labels) if is_remote(draws) else draws


def gather_if_small(draws: Draws) -> Draws:
    """Gather remote draws if they have at most GATHERED_LABELS; return them unchanged otherwise."""
    return gather(draws) if is_small(draws) else draws


def is_remote(draws: Draws) -> bool:
    """Whether the labels live on workers."""
    return _remote_labels(draws) is not None


def _remote_labels(draws: Draws) -> RemoteLabels | None:
    stored: Any = draws.stored
    return None if stored is None or isinstance(stored, np.ndarray) else stored


def is_small(draws: Draws) -> bool:
    """Whether there are so few labels that they may be fetched from workers for a search."""
    return draws.n_draws * draws.n_items <= GATHERED_LABELS


def concatenate_arrays(results: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Arrays with one row per draw, from those of the blocks."""
    return tuple(np.concatenate(parts) for parts in zip(*results, strict=True))


def sum_arrays(results: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
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


# ------------------------------------------------------------------ what workers run, too


def _call_on_block(function: Callable[[Block], R], labels: Unsigned, *facts: Any) -> R:
    return function(Block(labels, *facts))


def _call_on_parts(
    block: Block,
    *,
    function: Callable[[Any, P], R],
    prepare: Callable[[Block], Any],
    parts: Sequence[P],
) -> list[R]:
    ready = prepare(block)
    return [function(ready, part) for part in parts]


def _call_on_int32(function: Callable[..., R], labels: Array, *more: Any) -> R:
    return function(labels.astype(np.int32), *more)


def gather_for(draws: Draws, question: str, say: Callable[[str], None]) -> Draws:
    """Gather all labels to this process; raises MemoryLimitError if they would not fit."""
    labels = _remote_labels(draws)
    if labels is None:
        return draws
    require_memory(
        labels.nbytes,
        f"{question} looks at all labels at once, not where they are; fetching {draws.n_draws:,} "
        f"draws of {draws.n_items:,} items from the cluster",
        "Ask it of fewer draws, as in draws[::10].",
    )
    of_all = f"of {draws.n_draws:,} {words(draws.kind).draws} fetched from the cluster"
    every = np.arange(draws.n_draws)
    return draws._with(labels=labels.rows(every, lambda done: say(f"{done:,} {of_all}")))


def _hashes(block: Block) -> tuple[UInt64s]:
    """The pass: a hash of each row."""
    from partita.kernels.labels import hash_rows

    return (hash_rows(block.rows),)


def _digests(block: Block, *, doubtful: Bools) -> UInt64s:
    """The pass over rows that share a hash: another, independent one; 0 for all other rows."""
    found = np.zeros(len(block.labels), np.uint64)
    for row in np.flatnonzero(doubtful[block.start : block.start + len(found)]):
        content = blake2b(block.labels[row].tobytes(), digest_size=8).digest()
        found[row] = int.from_bytes(content, "little")
    return found


def number_distinct(draws: Draws) -> Ints:
    """Number the distinct rows by first appearance, through 128 bits of each where they repeat.

    No label has to travel, wherever the draws live.
    """
    (hashes,) = concatenate_arrays(map_blocks(_hashes, draws))
    kept, number, count = np.unique(hashes, return_inverse=True, return_counts=True)
    if kept.size == hashes.size:
        return np.arange(hashes.size)
    doubtful = count[number] > 1
    digests = np.concatenate(list(map_blocks(partial(_digests, doubtful=doubtful), draws)))
    some = np.flatnonzero(doubtful)
    kinds, other = np.unique(digests[some], return_inverse=True)
    _, apart = np.unique(number[some] * kinds.size + other, return_inverse=True)
    number[some] = kept.size + apart
    return _by_first_appearance(number)


def _by_first_appearance(number: Ints) -> Ints:
    """Renumber groups by first appearance, without sorting."""
    rows = np.arange(number.size)
    first = np.zeros(int(number.max()) + 1, np.int64)
    first[number[::-1]] = rows[::-1]  # of several rows the last one written stays: the first
    is_first = first[number] == rows
    ranks: Ints = (np.cumsum(is_first) - 1)[first[number]]
    return ranks


FEW_DRAWS = 4
"""Draws per chain below which no effective number of draws can be estimated."""


def shapes_of(draws: Draws, n_ranks: int, n_jobs: int | None = None) -> tuple[Floats, Int32s]:
    """Entropy of each draw, and the sizes of its n_ranks largest clusters."""
    shapes = partial(_shapes, n_ranks=n_ranks)
    entropy, ranked = concatenate_arrays(map_blocks(shapes, draws, n_jobs=n_jobs))
    return entropy, ranked


def cluster_sizes(block: Block, most: int) -> Int32s:
    """Sizes of the clusters of each draw of a block, (n, most), 0 for none."""
    from partita.kernels.uncertainty import count_overlaps

    whole = np.zeros(block.labels.shape[1], np.int32)
    return count_overlaps(whole, 1, block.rows, most)[:, :, 0]


def _shapes(block: Block, *, n_ranks: int) -> tuple[Floats, Int32s]:
    from partita.kernels.contingency import entropy_terms

    n_rows, n_items = block.labels.shape
    sizes = cluster_sizes(block, int(block.n_clusters.max())).T
    terms = entropy_terms(n_items)
    # Cluster after cluster, so that equal clusters in another order end in the same bits.
    total = np.zeros(n_rows)
    for size in sizes:
        total += terms[size]
    ranked = np.zeros((n_rows, n_ranks), np.int32)
    largest = np.sort(sizes, axis=0)[::-1][:n_ranks]
    ranked[:, : len(largest)] = largest.T
    # log2 N as terms[N]/N, so that a single cluster has entropy exactly 0.
    return np.maximum((terms[n_items] - total) / n_items, 0.0), ranked


def chains_of(draws: Draws) -> tuple[Array, Ints]:
    """Names of the chains, and the number of each draw's; draws of unknown chain form one."""
    if draws.chain is None:
        return np.zeros(1, np.int64), np.zeros(draws.n_draws, np.int64)
    return np.unique(draws.chain, return_inverse=True)


def long_chains(draws: Draws) -> Bools:
    """Which chains are long enough to be compared with the longest.

    Chains below a tenth of the longest are not, nor are those below eight draws beside one that
    has eight or more: all chains are cut to the shortest that counts.
    """
    lengths = np.bincount(chains_of(draws)[1])
    longest = int(lengths.max())
    return np.asarray((10 * lengths >= longest) & ((lengths >= 8) | (longest < 8)))


def chain_rows(draws: Draws) -> Ints:
    """Numbers of the draws, one row per chain, in the order sampled.

    Draws of unknown chain form one chain. Chains of different length are cut to the shortest by
    dropping their earliest draws, those most likely to be burn-in. Chains that are too short
    beside the others (:func:`long_chains`) are left out.
    """
    if draws.chain is None:
        return np.arange(draws.n_draws)[None, :]
    _, number = chains_of(draws)
    kept = np.flatnonzero(long_chains(draws))
    shortest = int(np.bincount(number)[kept].min())
    return np.stack([np.flatnonzero(number == chain)[-shortest:] for chain in kept.tolist()])


def by_chain(draws: Draws, values: Floats) -> Floats:
    """One row of values per chain; see :func:`chain_rows`."""
    return np.asarray(values[chain_rows(draws)])


def error_of(draws: Draws, values: Floats, error: Callable[[Floats], float] = mcse_mean) -> float:
    """Monte Carlo error of one value per draw: 0 for a constant, NaN for chains that are short."""
    chains = by_chain(draws, values)
    if chains.shape[1] < FEW_DRAWS:
        return float("nan")
    return 0.0 if np.ptp(chains) == 0.0 else error(chains)


def weighted_error(draws: Draws, values: Floats) -> float:
    """Monte Carlo error of the mean of one value per draw under the weights of the draws.

    The mean Σwv has the error of the mean of M·w·(v − Σwv), by whose effective size the
    correlation within chains counts. Weighted draws without chains are taken for independent.
    """
    if draws.weights is None:
        return error_of(draws, values)
    weights = draws.probabilities
    away = weights * (values - float(weights @ values))
    if draws.chain is None:
        return math.sqrt(float(np.square(away).sum()))
    return error_of(draws, draws.n_draws * away)


def entropy_weights(draws: Draws, by: str | None, strength: float | None) -> Floats:
    """w ∝ w·exp(λ·H/log k), with H/log k := 0 for one cluster; see ``Draws.reweighted``."""
    choice(by, "by", ("entropy",))
    strength = number(strength, "strength")
    entropy, _ = shapes_of(draws, 1)
    k = draws.n_clusters
    balance = np.where(k > 1, entropy / np.log2(np.maximum(k, 2)), 0.0)
    log_weights = np.log(draws.probabilities) + strength * balance
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
