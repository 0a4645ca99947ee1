"""Labels that live on the workers of a Dask cluster, in stores of consecutive draws.

The driver knows their shape, their dtype and a future of each store. A store is
the result of a task that reads or makes its labels, so that one that was lost
with its worker is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._dask import cancel, explained, held, in_order, only_result, settle
from partita._memory import require_memory
from partita.kernels.arrays import Ints
from partita.partitions.cleaning import smallest_unsigned
from partita.partitions.pieces import store_rows, stores
from partita.partitions.remote_tasks import (
    Small,
    added,
    columns_of,
    on_group,
    on_piece,
    on_set,
    rows_of,
)

R = TypeVar("R")


class RemoteLabels:
    """Canonical labels on workers.

    Attributes
    ----------
    client : distributed.Client
    futures : tuple of Future
        One for each store of :func:`partita.partitions.pieces.stores`.
    shape : (int, int)
        Draws and items.
    dtype : dtype
        The smallest for all draws; a store's own may be smaller.
    """

    __slots__ = ("client", "dtype", "futures", "shape")

    def __init__(
        self, client: Any, futures: Sequence[Any], shape: tuple[int, int], dtype: np.dtype[Any]
    ) -> None:
        self.client = client
        self.futures = tuple(futures)
        self.shape = shape
        self.dtype = dtype

    @property
    def size(self) -> int:
        """Number of labels."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes that the labels would take together."""
        return self.size * self.dtype.itemsize

    def inside(self, piece: slice) -> tuple[Any, slice]:
        """The future of the store that holds a piece, and where the piece is in it."""
        store, first = divmod(piece.start, store_rows(self.shape[1]))
        return self.futures[store], slice(first, first + piece.stop - piece.start)

    # ------------------------------------------------------------------ passes

    def map(
        self, function: Callable[..., R], work: Sequence[tuple[slice, tuple[Any, ...]]]
    ) -> Iterator[R]:
        """``function(labels of a piece, *more)`` for each piece of work, in order."""
        shipped = held(self.client, function)

        def submit(task: tuple[slice, tuple[Any, ...]]) -> Any:
            store, where = self.inside(task[0])
            return self._submit(on_piece, shipped, store, where, self.dtype, task[1])

        yield from in_order(self.client, submit, work)

    def total(
        self,
        function: Callable[..., tuple[NDArray[Any], ...]],
        work: Sequence[Sequence[tuple[slice, tuple[Any, ...]]]],
        say: Callable[[int], None],
    ) -> tuple[NDArray[Any], ...]:
        """Sums over groups of pieces, added up in order on the workers; one set of them comes."""
        shipped = held(self.client, function)
        chain: list[Any] = []
        # No wish where a task should run: one for a worker that dies has been seen to wait forever.
        for group in work:
            places = [self.inside(piece) for piece, _ in group]
            mine = list(dict.fromkeys(store for store, _ in places))
            found = self._submit(
                on_group,
                shipped,
                mine,
                [(mine.index(store), where) for store, where in places],
                self.dtype,
                [more for _, more in group],
            )
            chain.append(self._submit(added, chain[-1], found) if chain else found)
        last = chain[-1]
        try:
            for number in range(len(chain) - 1):
                with explained(self.client):
                    settle(self.client, chain[number])  # the last one tells of an error
                chain[number] = None  # its sums need not be kept
                say(number)
            # What came over the wire may be read-only.
            return tuple(np.require(part, None, "W") for part in only_result(self.client, last))
        except BaseException:
            cancel(self.client, [last, *filter(None, chain)])
            raise

    def map_sets(
        self, function: Callable[..., R], sets: Iterable[tuple[NDArray[np.int64], tuple[Any, ...]]]
    ) -> Iterator[R]:
        """``function(labels of some draws, *more)`` for sets of draws from anywhere, in order."""
        shipped = held(self.client, function)

        def submit(task: tuple[Ints, tuple[Any, ...]]) -> Any:
            parts, order = self._parts(task[0])
            return self._submit(on_set, shipped, parts, order, self.dtype, task[1])

        yield from in_order(self.client, submit, sets)

    # ------------------------------------------------------------------ some of the labels

    def rows(self, draws: NDArray[np.int64], say: Callable[[int], None] | None = None) -> Small:
        """The labels of some draws, in the order given; ``say`` is told how many are here."""
        require_memory(
            draws.size * self.shape[1] * self.dtype.itemsize,
            f"fetching {draws.size:,} draws of {self.shape[1]:,} items from the cluster",
            "Take fewer draws, as in draws[::10].",
        )
        out = np.empty((draws.size, self.shape[1]), self.dtype)
        work = list(_by_store(draws, store_rows(self.shape[1])))

        def submit(task: tuple[int, Ints, Ints]) -> Any:
            return self._submit(rows_of, self.futures[task[0]], task[1])

        done = 0
        for (_, _, to), found in zip(work, in_order(self.client, submit, work), strict=True):
            out[to] = found
            done += to.size
            if say is not None:
                say(done)
        return out

    def gathered(self) -> Small:
        """All labels, at the driver."""
        require_memory(
            self.nbytes,
            f"fetching {self.shape[0]:,} draws of {self.shape[1]:,} items from the cluster",
            "They can stay there: partita's functions take the draws themselves. For some of the "
            "labels take draws[0] or draws[::10].",
        )
        return self.rows(np.arange(self.shape[0]))

    def select(self, draws: NDArray[np.int64]) -> RemoteLabels:
        """Some draws, in the order given, where the workers are."""
        shape = (draws.size, self.shape[1])
        futures = [
            self._submit(on_set, None, *self._parts(draws[store]), self.dtype, ())
            for store in stores(*shape)
        ]
        return RemoteLabels(self.client, futures, shape, self.dtype)

    def followed_by(self, others: Sequence[RemoteLabels]) -> RemoteLabels:
        """These draws and those of others of the same items, one after the other."""
        every = [self, *others]
        ends = np.cumsum([one.shape[0] for one in every])
        shape = (int(ends[-1]), self.shape[1])
        dtype = np.result_type(*[one.dtype for one in every])
        futures = []
        for store in stores(*shape):
            parts: list[Any] = []
            for one, end in zip(every, ends.tolist(), strict=True):
                first = end - one.shape[0]
                mine = np.arange(max(store.start, first), min(store.stop, end)) - first
                parts += one._parts(mine)[0] if mine.size else []
            order = np.arange(store.stop - store.start)
            futures.append(self._submit(on_set, None, parts, order, dtype, ()))
        return RemoteLabels(self.client, futures, shape, dtype)

    def columns(self, items: NDArray[np.int64]) -> tuple[RemoteLabels, NDArray[np.int64]]:
        """Some items, canonical again, and the numbers of clusters."""
        rows = np.arange(self.shape[0])
        shape = (rows.size, items.size)
        shipped = held(self.client, items)
        made = []
        for store in stores(*shape):
            parts, order = self._parts(rows[store])
            made.append(self._submit(columns_of, shipped, parts, order))
        return finish(self.client, made, shape)

    def _parts(self, draws: Ints) -> tuple[list[Any], Ints]:
        """Futures whose rows together are these draws, and where each of the rows belongs."""
        work = list(_by_store(draws, store_rows(self.shape[1])))
        parts = [self._submit(rows_of, self.futures[store], rows) for store, rows, _ in work]
        return parts, np.concatenate([to for _, _, to in work])

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False)


def finish(
    client: Any, made: Sequence[Any], shape: tuple[int, int]
) -> tuple[RemoteLabels, NDArray[np.int64]]:
    """Remote labels from futures of (labels, numbers of clusters), one for each store."""
    from operator import itemgetter

    labels = [client.submit(itemgetter(0), one, pure=False) for one in made]
    counts = np.concatenate(
        list(in_order(client, lambda one: client.submit(itemgetter(1), one, pure=False), made))
    )
    dtype = smallest_unsigned(int(counts.max()) - 1)
    return RemoteLabels(client, labels, shape, dtype), counts


def sent(client: Any, labels: Small) -> RemoteLabels:
    """Labels from here, on workers; the scheduler keeps what they are made from."""
    shape = (int(labels.shape[0]), int(labels.shape[1]))
    futures = [held(client, np.ascontiguousarray(labels[store])) for store in stores(*shape)]
    return RemoteLabels(client, futures, shape, labels.dtype)


def _by_store(draws: Ints, step: int) -> Iterator[tuple[int, Ints, Ints]]:
    """For each store that holds some of the draws: its number, their rows in it, their places."""
    store = draws // step
    for number in np.unique(store).tolist():
        to = np.flatnonzero(store == number)
        yield number, draws[to] - number * step, to
