"""Label vectors: the door through which every partition enters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.errors import InvalidLabelsError

_WIDEST = 1 << 22
"""Labels that spread over a wider range are numbered first, to be looked up in a table."""

Labels = NDArray[np.int32]
"""One partition: canonical labels, 0-based in order of first appearance."""


def integers(
    values: NDArray[Any], what: str = "labels", *, first_draw: int = 0
) -> NDArray[np.int64]:
    """Labels of any accepted kind as int64, with equal labels exactly where they were equal.

    Integers, booleans, whole-valued floats (CmdStan writes 1-based floats) and
    strings are accepted; missing, fractional or infinite labels are refused.
    ``first_draw`` is the number of the first row, for messages about a block.
    """
    kind = values.dtype.kind
    if kind in "iub":
        return values.astype(np.int64, order="C")  # one memory order, one compiled kernel
    if kind == "f":
        return _whole_floats(values, what, first_draw)
    if kind in "UST":
        if values.size and np.any(values == ""):
            raise InvalidLabelsError(
                f"{what} contain an empty string at {_first(values == '', first_draw)}; every "
                "item needs a label in every draw. Drop the item or the draw, or give it a label "
                "of its own."
            )
        return np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)
    if kind == "O":
        return _objects(values, what, first_draw)
    raise InvalidLabelsError(
        f"{what} have dtype {values.dtype}; expected integers, whole-valued floats, "
        "booleans or strings."
    )


def _whole_floats(values: NDArray[Any], what: str, first_draw: int) -> NDArray[np.int64]:
    missing = np.isnan(values)
    if missing.any():
        raise InvalidLabelsError(
            f"{what} contain NaN at {_first(missing, first_draw)}; every item needs a label in "
            "every draw. Drop the item or the draw before partita sees it."
        )
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2.0**63)
    if not whole.all():
        first = tuple(int(i[0]) for i in np.nonzero(~whole))
        hint = ""
        square = values.ndim == 2 and values.shape[0] == values.shape[1]
        if square and values.min() >= 0 and values.max() <= 1 and np.allclose(values, values.T):
            hint = (
                " The array is square, symmetric and within [0, 1]: if it is a posterior "
                "similarity matrix, pass it as similarity=..., not as draws."
            )
        where = (first[0] + first_draw, *first[1:])
        raise InvalidLabelsError(
            f"{what} must be whole numbers, but {what}[{_index(where)}] is "
            f"{float(values[first])!r}.{hint}"
        )
    return values.astype(np.int64, order="C")


def _objects(values: NDArray[Any], what: str, first_draw: int) -> NDArray[np.int64]:
    flat = values.ravel()
    missing = np.array(
        [v is None or v != v or str(v) in ("<NA>", "NaT") for v in flat], dtype=bool
    ).reshape(values.shape)
    if missing.any():
        raise InvalidLabelsError(
            f"{what} contain a missing value at {_first(missing, first_draw)}; every item needs a "
            "label in every draw. Drop the item or the draw before partita sees it."
        )
    kinds = {str if isinstance(v, str) else type(v) for v in flat}
    if kinds == {str}:
        return integers(flat.astype(str).reshape(values.shape), what, first_draw=first_draw)
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        # Not through floats, which would merge different labels above 2^53.
        return np.unique(flat, return_inverse=True)[1].reshape(values.shape).astype(np.int64)
    try:
        numbers = flat.astype(np.float64)
    except (TypeError, ValueError):
        names = ", ".join(sorted(k.__name__ for k in kinds))
        raise InvalidLabelsError(
            f"{what} mix or hold objects of type {names}; expected integers, whole-valued floats, "
            "booleans or strings of one kind."
        ) from None
    return _whole_floats(numbers.reshape(values.shape), what, first_draw)


def _index(position: tuple[int, ...]) -> str:
    return ", ".join(str(i) for i in position)


def _first(mask: NDArray[np.bool_], first_draw: int) -> str:
    position = tuple(int(i[0]) for i in np.nonzero(mask))
    if len(position) == 1:
        return f"item {position[0]}"
    return f"draw {position[0] + first_draw}, item {position[1]}"


def first_appearance(rows: NDArray[np.int64], out: Labels) -> int:
    """Write rows of integers as canonical labels; return the most clusters of a row."""
    from partita.kernels.partitions.labels import canonicalise_rows

    lowest, highest = int(rows.min()), int(rows.max())
    if highest - lowest >= _WIDEST:
        rows = np.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype(np.int64)
        lowest, highest = 0, int(rows.max())
    return canonicalise_rows(rows, lowest, highest - lowest + 1, out)


def as_vector(labels: ArrayLike, *, n_items: int | None = None, what: str = "labels") -> Labels:
    """One partition from any label vector, canonical; checks the length when it is known."""
    values = np.asarray(getattr(labels, "labels", labels))
    if values.ndim != 1:
        raise InvalidLabelsError(
            f"{what} have shape {values.shape}; expected one label per item, shape (n_items,)."
        )
    vector: Labels = as_matrix(values[None, :], n_items=n_items, what=what)[0]
    return vector


def as_matrix(labels: ArrayLike, *, n_items: int | None = None, what: str = "labels") -> Labels:
    """Several partitions as canonical rows, shape (n, n_items); a vector becomes one row."""
    try:
        values = np.asarray(getattr(labels, "labels", labels))
    except ValueError:
        raise InvalidLabelsError(
            f"{what} have rows of different lengths; each partition must label every item."
        ) from None
    # A vector of objects is one partition (a column of strings) unless it holds rows of its own.
    if values.ndim == 1 and not (values.dtype.kind == "O" and any(np.ndim(v) for v in values)):
        values = values[None, :]
    if values.ndim != 2:
        raise InvalidLabelsError(
            f"{what} have shape {values.shape}; expected (n_items,) or (n_partitions, n_items), "
            "rows of equal length."
        )
    if values.shape[1] == 0 or values.shape[0] == 0:
        raise InvalidLabelsError(
            f"{what} have shape {values.shape}: there must be at least one partition and one item."
        )
    if n_items is not None and values.shape[1] != n_items:
        raise InvalidLabelsError(
            f"{what} have {values.shape[1]} items, but {n_items} were expected. "
            "Labels run over items: one per column of the draws."
        )
    out = np.empty(values.shape, np.int32)
    first_appearance(integers(values, what), out)
    return out


def canonical(labels: ArrayLike) -> Labels:
    """Relabel a partition as 0, 1, … in order of first appearance.

    Two label vectors describe the same partition exactly when their canonical
    forms are equal.

    Parameters
    ----------
    labels : array_like, shape (n_items,) or (n, n_items)
        Integers, whole-valued floats, booleans or strings.

    Returns
    -------
    ndarray of int32, same shape

    Notes
    -----
    Cost O(N) per partition.

    Examples
    --------
    >>> import partita as pt
    >>> pt.canonical([5, 5, 2, 9])
    array([0, 0, 1, 2], dtype=int32)
    """
    values = np.asarray(labels)
    return as_vector(values) if values.ndim == 1 else as_matrix(values)


def by_size(labels: ArrayLike) -> Labels:
    """Relabel a partition as results report it: the largest cluster is 0, ties by first item.

    Parameters
    ----------
    labels : array_like, shape (n_items,) or (n, n_items)

    Returns
    -------
    ndarray of int32, same shape

    Notes
    -----
    Cost O(N + K log K) per partition.

    Examples
    --------
    >>> from partita.partitions.labels import by_size
    >>> by_size([7, 3, 3, 5])
    array([1, 0, 0, 2], dtype=int32)
    """
    rows = canonical(labels)
    if rows.ndim == 2:
        return np.array([by_size(row) for row in rows], np.int32).reshape(rows.shape)
    # Canonical labels count clusters by their first item, so a stable sort breaks ties by it.
    order = np.argsort(-np.bincount(rows), kind="stable")
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return rank[rows]


def n_clusters(labels: ArrayLike) -> int:
    """Count the clusters of a partition, whatever its labels are.

    Parameters
    ----------
    labels : array_like, shape (n_items,)

    Returns
    -------
    int

    Notes
    -----
    O(N).

    Examples
    --------
    >>> import partita as pt
    >>> pt.n_clusters([5, 5, 2, 9])
    3
    """
    return int(as_vector(labels).max()) + 1


def cluster_sizes(labels: ArrayLike) -> NDArray[np.int64]:
    """Sizes of the clusters, in order of first appearance.

    Parameters
    ----------
    labels : array_like, shape (n_items,)

    Returns
    -------
    ndarray of int64, shape (n_clusters,)

    Notes
    -----
    O(N).

    Examples
    --------
    >>> import partita as pt
    >>> pt.cluster_sizes(["b", "b", "a", "b"])
    array([3, 1])
    """
    return np.bincount(as_vector(labels)).astype(np.int64)


def cross_table(a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """Cross tabulation of two partitions: entry (i, j) counts items in cluster i of a and j of b.

    Parameters
    ----------
    a, b : array_like, shape (n_items,)

    Returns
    -------
    ndarray of int64, shape (n_clusters(a), n_clusters(b))
        Rows and columns in order of first appearance.

    Notes
    -----
    O(N + K_a K_b).

    Examples
    --------
    >>> import partita as pt
    >>> pt.cross_table([0, 0, 1, 1], [0, 0, 0, 1])
    array([[2, 0],
           [1, 1]])
    """
    rows = as_vector(a, what="a")
    columns = as_vector(b, n_items=rows.size, what="b")
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    cells = rows.astype(np.int64) * shape[1] + columns
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)
