"""Label vectors: the door through which every partition enters."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.errors import InvalidLabelsError, about
from partita.partitions.arrays import Labels, first_appearance, plain_array
from partita.partitions.noise import whole_labels
from partita.partitions.types import LabelsLike

__all__ = [
    "Labels",
    "as_label_rows",
    "as_labels",
    "by_size",
    "canonical",
    "cluster_sizes",
    "cross_table",
    "n_clusters",
]


def as_labels(
    labels: LabelsLike,
    *,
    n_items: int | None = None,
    argument: str = "labels",
    what: str | None = None,
) -> Labels:
    """One partition from whatever holds it, canonical; checks the length when it is known.

    Taken are label vectors, anything with ``__labels__`` (estimates,
    summaries, balls), draws of a single partition, a column or a row of a
    table, and files of these. An error is about the ``argument``, and says ``what`` came.
    """
    said = what or _said(argument)
    with about(argument, "draws"):
        values = plain_labels(labels, said, single=True)
        if values.ndim != 1:
            raise InvalidLabelsError(
                f"{said} have shape {values.shape}; expected one label per item, shape (n_items,)."
            )
        vector: Labels = _canonical_rows(values[None, :], n_items, said)[0]
    return vector


def as_label_rows(
    labels: LabelsLike, *, n_items: int | None = None, argument: str = "labels"
) -> Labels:
    """Several partitions as canonical rows, shape (n, n_items); a vector becomes one row."""
    said = _said(argument)
    with about(argument, "draws"):
        values = plain_labels(labels, said, single=False, n_items=n_items)
        # A vector of objects is one partition (a column of strings), or it holds rows of its own.
        if values.ndim == 1 and not (values.dtype.kind == "O" and any(np.ndim(v) for v in values)):
            values = values[None, :]
        if values.ndim != 2:
            raise InvalidLabelsError(
                f"{said} have shape {values.shape}; expected (n_items,) or "
                "(n_partitions, n_items), rows of equal length."
            )
        return _canonical_rows(values, n_items, said)


def _said(argument: str) -> str:
    """What came, in an error: an argument that is a noun is not itself the labels."""
    nouns = ("estimate", "center", "reference")
    return f"labels of the {argument}" if argument in nouns else argument


def plain_labels(obj: Any, what: str, *, single: bool, n_items: int | None = None) -> NDArray[Any]:
    """Labels as they came, in one array: a vector, or one partition per row.

    With the number of items known, a table or file of one column and as many rows is a vector.
    """
    if hasattr(type(obj), "__labels__"):
        return plain_array(obj.__labels__(), what)
    if isinstance(obj, (np.ndarray, list, tuple)):
        return plain_array(obj, what)
    if hasattr(type(obj), "__draws__"):
        draws = obj.__draws__()
        return _only(draws, what) if single else np.asarray(draws.labels)
    # Files, tables and named arrays are read one floor up.
    label_array = import_module("partita.io.read").label_array
    found: NDArray[Any] = label_array(obj, what, single=single)
    if not single and n_items not in (None, 1) and found.shape == (n_items, 1):
        found = label_array(obj, what, single=True)
    return found


def _only(draws: Any, what: str) -> NDArray[Any]:
    if draws.n_draws != 1:
        raise InvalidLabelsError(
            f"{what} are {draws.n_draws:,} draws; expected one partition. Pick one, as in "
            "draws[0], or summarise them with estimate."
        )
    return np.asarray(draws[0])


def _canonical_rows(values: NDArray[Any], n_items: int | None, what: str) -> Labels:
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
    first_appearance(whole_labels(values, what), out)
    return out


def canonical(labels: LabelsLike) -> Labels:
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
    with about("labels", "draws"):
        values = plain_labels(labels, "labels", single=False)
    return as_labels(values) if values.ndim == 1 else as_label_rows(values)


def by_size(labels: LabelsLike) -> Labels:
    """Relabel a partition, or each row, as results report it: the largest cluster is 0.

    Ties go by first item. Cost O(N + K log K) per partition.

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


def n_clusters(labels: LabelsLike) -> int:
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
    return int(as_labels(labels).max()) + 1


def cluster_sizes(labels: LabelsLike) -> NDArray[np.int64]:
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
    return np.bincount(as_labels(labels)).astype(np.int64)


def cross_table(a: LabelsLike, b: LabelsLike) -> NDArray[np.int64]:
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
    rows = as_labels(a, argument="a")
    columns = as_labels(b, n_items=rows.size, argument="b")
    return shared_items(rows, columns)


def shared_items(rows: Labels, columns: Labels) -> NDArray[np.int64]:
    """Cross tabulation of labels 0, 1, … in their own numbering."""
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    require_memory(
        8 * shape[0] * shape[1],
        f"the cross table of {shape[0]:,} × {shape[1]:,} clusters",
        "Coarser partitions have smaller tables; meet(a, b) has only the cells that occur.",
    )
    cells = rows.astype(np.int64) * shape[1] + columns
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)
