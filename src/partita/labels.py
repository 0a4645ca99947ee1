"""Label vectors: what may stand for one, noise labels, the canonical form, and counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from partita._imports import require
from partita._resources import require_memory
from partita._validate import boolean, integers, place_of, plain_array, unexpected
from partita.errors import InvalidInputError, InvalidLabelsError, about
from partita.kernels.arrays import Array, Int32s, Integers, Ints

if TYPE_CHECKING:
    import pandas as pd

    from partita.draws import Draws


class SupportsDraws(Protocol):
    """Objects that hold draws: Fit, Summary and CredibleBall, and classes of your own."""

    def __draws__(self) -> Draws:
        """The draws."""


class SupportsLabels(Protocol):
    """Objects that stand for one partition: PointEstimate, Summary and CredibleBall."""

    def __labels__(self) -> Integers:
        """One label per item."""


class _Variables(Protocol):
    """An xarray Dataset."""

    @property
    def data_vars(self) -> Any: ...


class _Groups(Protocol):
    """An xarray DataTree."""

    @property
    def children(self) -> Any: ...


class _NamedGroups(Protocol):
    """An ArviZ InferenceData."""

    def groups(self) -> Any: ...


class _Columns(Protocol):
    """A DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


class _ColumnNames(Protocol):
    """An Arrow table."""

    @property
    def column_names(self) -> Any: ...


class _Client(Protocol):
    """A client of Dask."""

    @property
    def submit(self) -> Any: ...

    @property
    def scheduler(self) -> Any: ...


Engine: TypeAlias = Literal["dask"] | _Client
"""A Dask client, or "dask" for the current one."""

Path: TypeAlias = str | os.PathLike[str]

Tree: TypeAlias = _Groups | _NamedGroups
"""ArviZ containers of a posterior."""

Foreign: TypeAlias = _Variables | Tree | _Columns | _ColumnNames

DataLike: TypeAlias = ArrayLike | _Columns | _ColumnNames
"""Observations in memory, one row per item: arrays and tables."""

DataSource: TypeAlias = DataLike | Path
"""Observations in memory or in a file."""

DrawsLike: TypeAlias = ArrayLike | Path | Foreign | SupportsDraws
"""Everything :func:`partita.as_draws` takes: arrays of shape (draw, item) or (chain, draw, item),
tables, named arrays, paths, and what has ``__draws__``."""

LabelsLike: TypeAlias = DrawsLike | SupportsLabels
"""Everything that can stand for one partition or, where several are asked for, one per row."""


Meaning = Literal["singletons", "cluster"]

NoiseRule = tuple[Any, Meaning]
"""A label value, and what it means: "singletons" (each item alone) or "cluster" (one cluster)."""


_RULE: ContextVar[NoiseRule | None] = ContextVar("noise", default=None)


@contextmanager
def reading_noise(noise: NoiseRule | None) -> Iterator[None]:
    """Labels read in this block follow the rule; without one an outer rule stays in force."""
    if noise is None:
        yield
        return
    token = _RULE.set(_clean(noise))
    try:
        yield
    finally:
        _RULE.reset(token)


def current_noise_rule() -> NoiseRule | None:
    """The rule, for a worker elsewhere to read by."""
    return _RULE.get()


def _clean(noise: Any) -> NoiseRule:
    pair = isinstance(noise, (tuple, list)) and len(noise) == 2
    if not pair or noise[1] not in ("singletons", "cluster"):
        raise unexpected(
            noise,
            "noise",
            "a label and what it means, as in (-1, 'singletons') "
            "(each such item is alone) or (-1, 'cluster') (they form one cluster)",
        )
    label = noise[0]
    number = isinstance(label, (int, float, np.integer, np.floating)) and label == label
    if not isinstance(label, str) and not (number and label % 1 == 0 and abs(label) < 2**63):
        raise unexpected(noise, "noise", "a whole number or text as the label of noise")
    return label if isinstance(label, str) else int(label), noise[1]


def whole_labels(values: Array, what: str = "labels", *, first_draw: int = 0) -> Ints:
    """Labels of any accepted kind as int64, noise placed as the rule in force says.

    Without a rule, −1 beside non-negative labels is refused.
    """
    if values.dtype == np.int64:
        # The kernels would compile anew for another memory order or a read-only array.
        numbers = np.require(values, np.int64, ["C", "W"])
    else:
        numbers = integers(values, what, first_draw=first_draw)
    rule = _RULE.get()
    if rule is None:
        _refuse_unexplained(values, numbers, what, first_draw)
        return numbers
    label, meaning = rule
    _refuse_other_kind(values, label, meaning)
    if meaning == "cluster":
        return numbers
    noisy = values == (label.encode() if values.dtype.kind == "S" else label)
    if not np.any(noisy):
        return numbers
    # Labels beyond all others, a different one for each item.
    beyond = int(numbers.max()) + 1 + np.arange(numbers.shape[-1])
    return np.where(noisy, beyond, numbers)


def _refuse_other_kind(values: Array, label: Any, meaning: str) -> None:
    """Text never equals a number: a rule for the other kind would be ignored."""
    kind = values.dtype.kind
    text = kind in "UST" or (kind == "O" and isinstance(values.flat[0], str))
    if values.size and text != isinstance(label, str):
        came, are = ("a number", "text") if text else ("text", "numbers")
        example = (str(label) if text else -1, meaning)
        raise InvalidInputError(
            f"noise={(label, meaning)!r} names {came}, and the labels are {are}; "
            f"expected a label of their kind, as in noise={example!r}.",
            argument="noise",
        )


def _refuse_unexplained(values: Array, numbers: Ints, what: str, first_draw: int) -> None:
    if values.dtype.kind not in "ifO" or not values.size:
        return
    given: Array = numbers
    if values.dtype.kind == "O":  # numbered by now, so ask the objects themselves, but not texts
        given = np.array([-2 if type(v) is str else v for v in values.flat] + [None])[:-1]
    noisy = np.asarray(given == -1, np.bool_).reshape(values.shape)
    if not noisy.any() or not (given >= 0).any():
        return
    raise InvalidLabelsError(
        f"{what} hold −1 beside non-negative labels (first at {place_of(noisy, first_draw)}). "
        "DBSCAN and HDBSCAN mark noise so, but a partition must place every item: say what it "
        "means with noise=(-1, 'singletons') (each such item is alone) or noise=(-1, 'cluster') "
        "(they form one cluster). If −1 marks items whose cluster is left open, see "
        "pt.lattice.PartialPartition."
    )


_WIDEST = 1 << 22
"""Labels that spread over a wider range are numbered first, to be looked up in a table."""

Labels = Int32s
"""One partition: canonical labels, 0-based in order of first appearance."""

_TILE = 512
"""Draws that are turned together: their rows stay in cache."""


def by_item(labels: Array, dtype: type[np.unsignedinteger[Any]]) -> Array:
    """A copy with one row for each item."""
    turned = np.empty(labels.shape[::-1], dtype)
    for start in range(0, len(labels), _TILE):
        turned[:, start : start + _TILE] = labels[start : start + _TILE].T
    return turned


def first_appearance(rows: Ints) -> tuple[Labels, Ints]:
    """Rows of integers as canonical labels, and each row's number of clusters."""
    from partita.kernels.labels import canonicalise_rows

    lowest, highest = int(rows.min()), int(rows.max())
    if highest - lowest >= _WIDEST:
        rows = np.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype(np.int64)
        lowest, highest = 0, int(rows.max())
    width = highest - lowest + 1
    found, counts = np.empty(rows.shape, np.int32), np.empty(len(rows), np.int64)
    canonicalise_rows(
        rows, lowest, np.zeros(width, np.int64), np.empty(width, np.int32), found, counts
    )
    return found, counts


def as_labels(
    labels: LabelsLike,
    *,
    n_items: int | None = None,
    names: tuple[str, ...] | None = None,
    argument: str = "labels",
    what: str | None = None,
) -> Labels:
    """One partition from whatever holds it, canonical; checks length and names that are known.

    Taken are label vectors, anything with ``__labels__`` (estimates,
    summaries, balls), draws of a single partition, a column or a row of a
    table, and files of these. An error is about the ``argument``, and says ``what`` came.
    """
    said = what or _describe_argument(argument)
    with about(argument, "draws"):
        values = plain_labels(labels, said, single=True)
        if values.ndim != 1:
            raise InvalidLabelsError(
                f"{said} have shape {values.shape}; expected one label per item, shape (n_items,)."
            )
        vector: Labels = _canonical_rows(values[None, :], n_items, said)[0]
        _refuse_another_order(labels, names, said)
    return vector


def as_label_rows(
    labels: LabelsLike,
    *,
    n_items: int | None = None,
    names: tuple[str, ...] | None = None,
    argument: str = "labels",
) -> Labels:
    """Several partitions as canonical rows, shape (n, n_items); a vector becomes one row."""
    said = _describe_argument(argument)
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
        rows = _canonical_rows(values, n_items, said)
        _refuse_another_order(labels, names, said)
        return rows


def names_of_items(obj: Any) -> tuple[str, ...] | None:
    """Names of items beside labels: those of draws, the columns of a table, a Series' index."""
    named: Any = obj.__draws__() if hasattr(type(obj), "__draws__") else obj
    if hasattr(type(named), "item_names"):
        own: tuple[str, ...] | None = named.item_names
        return own
    held = (getattr(obj, attribute, None) for attribute in ("column_names", "columns", "index"))
    names = next((each for each in held if isinstance(each, Iterable)), None)
    return None if names is None else tuple(map(str, names))


def _refuse_another_order(obj: Any, names: tuple[str, ...] | None, what: str) -> None:
    """Labels are compared place by place: the same names in another order would be mixed up."""
    own = None if names is None else names_of_items(obj)
    if own is None or names is None or own == names or set(own) != set(names):
        return
    place = next(i for i, (a, b) in enumerate(zip(own, names, strict=True)) if a != b)
    raise InvalidInputError(
        f"{what}: the same items are named in another order; item {place} is {own[place]!r}, and "
        f"{names[place]!r} was expected. Put them in one order, or give labels without names."
    )


def _describe_argument(argument: str) -> str:
    """What came, in an error: an argument that is a noun is not itself the labels."""
    nouns = ("estimate", "center", "reference")
    return f"labels of the {argument}" if argument in nouns else argument


def plain_labels(obj: Any, what: str, *, single: bool, n_items: int | None = None) -> Array:
    """Labels as they came, in one array: a vector, or one partition per row.

    With the number of items known, a table or file of one column and as many rows is a vector.
    """
    if hasattr(type(obj), "__labels__"):
        return plain_array(obj.__labels__(), what)
    if isinstance(obj, (np.ndarray, list, tuple)):
        return plain_array(obj, what)
    if hasattr(type(obj), "__draws__"):
        draws = obj.__draws__()
        return _single_partition(draws, what) if single else np.asarray(draws.labels)
    # Files, tables and named arrays are read in partita.io.
    label_array = import_module("partita.io.read").label_array
    found: Array = label_array(obj, what, single=single)
    if not single and n_items not in (None, 1) and found.shape == (n_items, 1):
        found = label_array(obj, what, single=True)
    return found


def _single_partition(draws: Any, what: str) -> Array:
    if draws.n_draws != 1:
        raise InvalidLabelsError(
            f"{what} are {draws.n_draws:,} draws; expected one partition. Pick one, as in "
            "draws[0], or summarise them with estimate."
        )
    return np.asarray(draws[0])


def _canonical_rows(values: Array, n_items: int | None, what: str) -> Labels:
    if values.shape[1] == 0 or values.shape[0] == 0:
        raise InvalidLabelsError(
            f"{what} have shape {values.shape}: there must be at least one partition and one item."
        )
    if n_items is not None and values.shape[1] != n_items:
        raise InvalidLabelsError(
            f"{what}: labels of {values.shape[1]} items, but {n_items} were expected. All "
            "partitions must be of the same items."
        )
    return first_appearance(whole_labels(values, what))[0]


def relabel(labels: Integers) -> Labels:
    """Canonical labels of integers from 0 on that partita made itself, without any checks.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.labels import relabel
    >>> relabel(np.array([4, 4, 1, 3]))
    array([0, 0, 1, 2], dtype=int32)
    """
    if labels.ndim == 2:
        return np.array([relabel(row) for row in labels], np.int32).reshape(labels.shape)
    first, _ = _first_items(labels)
    return _renumbered(labels, np.argsort(first, kind="stable"))


def _first_items(labels: Integers) -> tuple[Ints, Ints]:
    """First item and size of every cluster; a number that is not used comes last."""
    sizes = np.bincount(labels)
    first = np.full(sizes.size, labels.size)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # the last to be written stays
    return first, sizes


def _renumbered(labels: Integers, order: Ints) -> Labels:
    """Labels after clusters were put in that order."""
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    renumbered: Labels = rank[labels]
    return renumbered


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
    >>> from partita.labels import by_size
    >>> by_size([7, 3, 3, 5])
    array([1, 0, 0, 2], dtype=int32)
    """
    rows = labels if _is_numbered(labels) else canonical(labels)
    if rows.ndim == 2:
        return np.array([by_size(row) for row in rows], np.int32).reshape(rows.shape)
    first, sizes = _first_items(rows)
    return _renumbered(rows, np.lexsort((first, -sizes)))


def _is_numbered(labels: object) -> TypeGuard[Integers]:
    """Whether these are whole numbers from 0 on, at most as many as there are items."""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu" or labels.size == 0:
        return False
    return bool(labels.min() >= 0 and labels.max() < labels.shape[-1])


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


def cluster_sizes(labels: LabelsLike) -> Ints:
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


def cross_table(a: LabelsLike, b: LabelsLike) -> Ints:
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
    columns = as_labels(b, n_items=rows.size, names=names_of_items(a), argument="b")
    return shared_items(rows, columns)


def shared_items(rows: Labels, columns: Labels) -> Ints:
    """Cross tabulation of labels 0, 1, … in their own numbering."""
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    require_memory(
        8 * shape[0] * shape[1],
        f"the cross table of {shape[0]:,} × {shape[1]:,} clusters",
        "Coarser partitions have smaller tables; meet(a, b) has only the cells that occur.",
    )
    cells = rows.astype(np.int64) * shape[1] + columns
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)


def best_matching(overlap: Ints) -> Ints:
    """Row matched to each column, −1 for none, so that the matched entries add up to the most."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(overlap, maximize=True)
    found = np.full(overlap.shape[1], -1, np.int64)
    common = overlap[rows, columns] > 0
    found[columns[common]] = rows[common]
    return found


def from_one(labels: Array, one_based: bool) -> Array:
    """Labels as a table shows them: counted from 1 where asked, −1 for none as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.labels import from_one
    >>> from_one(np.array([0, 1, -1]), True)
    array([ 1,  2, -1])
    """
    return np.where(labels >= 0, labels + 1, labels) if boolean(one_based, "one_based") else labels


def items_from_one(names: tuple[str, ...] | None, n_items: int, one_based: bool) -> list[Any]:
    """Items as a table calls them: by name, else counted from 0 or from 1."""
    first = int(boolean(one_based, "one_based"))
    return list(names) if names is not None else list(range(first, n_items + first))


def as_numbered(labels: LabelsLike, draws: Draws, argument: str) -> Labels:
    """One partition from whatever holds it, with its own numbers where they are 0 … K − 1.

    Labels of an estimate keep their numbers, so that tables made from it speak
    of the same clusters; all others are numbered by size, as results are.
    """
    canonical = draws.clean(labels, argument)
    given: Any = labels
    if hasattr(type(given), "__labels__"):
        given = given.__labels__()
    if isinstance(given, (np.ndarray, list, tuple)):
        values = np.asarray(given)
        whole = values.dtype.kind in "iu" and values.shape == canonical.shape
        if whole and values.min() == 0 and values.max() == canonical.max():
            return values.astype(np.int32)
    return by_size(canonical)


def data_frame(
    columns: Any, *, of: str, index: Iterable[Any] | None = None, name: str | None = None
) -> pd.DataFrame:
    """A pandas table; an error says ``of`` what. ``name`` is that of the index."""
    pandas = require("pandas", extra="pandas", purpose=f"a table of {of}")
    rows = None if index is None else pandas.Index(index, name=name)
    frame: pd.DataFrame = pandas.DataFrame(columns, index=rows)
    return frame
