"""FeatureDraws: draws of a feature allocation, what becomes one, and their files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from partita import _validate as check
from partita._archive import write_npz
from partita._files import PathLike, atomic_path, require_path
from partita._resources import require_memory
from partita._result import frozen
from partita._storage import clean_kind
from partita._wording import Kind, counted, words
from partita.draws import Draws, DrawsBase, as_draws, concat_metadata, is_features
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    NotSupportedError,
    UnknownNameError,
    about,
)
from partita.kernels.arrays import Bools, Floats, Ints, UInt64s
from partita.labels import DrawsLike

MOST_FEATURES = 500
"""Features of one draw: two draws are compared in time K³, a tenth of a second here."""


class FeatureDraws(DrawsBase):
    """Draws of a feature allocation of N items: overlapping clusters.

    An allocation is a multiset of features, each a set of items; an item may be in none, one or
    many. It is written as an N × K matrix Z of zeros and ones, whose columns have no order.

    Parameters
    ----------
    matrices : list of array_like or scipy.sparse, each of shape (n_items, n_features)
        One allocation per draw; the number of features may differ. Also one array of shape
        (draw, item, feature) in which columns of zeros fill up the smaller draws, or an xarray
        DataArray with dimensions named ``draw`` (or ``sample``), ``feature``, perhaps ``chain``,
        the remaining one being the item.
    weights : array_like, shape (n_draws,), optional
        Positive weights of the draws; scaled to sum to 1. Equal when omitted.
    chain : array_like, shape (n_draws,), optional
        Which chain each draw came from; draws of a chain are in the order sampled.
    item_names : sequence of str, optional
        One unique name per item.
    kind : "posterior" or "ensemble", default "posterior"
        As of :class:`Draws`.

    Attributes
    ----------
    weights : ndarray of float, shape (n_draws,), or None
    chain : ndarray, shape (n_draws,), or None
    item_names : tuple of str, or None
    kind : "posterior", "ensemble" or "tilted"
    n_features : ndarray of int64, shape (n_draws,)
    n_memberships : ndarray of int64, shape (n_draws,)
        Number of ones of each draw.

    Notes
    -----
    Features without items are dropped; equal features are kept. The order of a draw's features
    is by size, the largest first, and by items among those of one size. N/8 bytes per feature.
    At most 500 features per draw: comparing two draws takes time K³.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws([[[1, 0], [1, 1], [0, 1]], [[1], [1], [1]]])
    >>> draws
    <FeatureDraws: 2 draws of 3 items, 1 to 2 features>
    >>> draws[0].astype(int)
    array([[1, 0],
           [1, 1],
           [0, 1]])
    >>> draws.sets(0)
    ((0, 1), (1, 2))
    """

    __slots__ = ("columns", "n_memberships", "offsets")

    columns: UInt64s
    """All features as words of bits, those of a draw below each other; see ``offsets``."""
    offsets: Ints
    """Where the features of each draw begin among the ``columns``, shape (n_draws + 1,)."""
    n_memberships: Ints
    """Number of memberships of each draw: the ones of its matrix."""

    part_name: ClassVar[str] = "feature"

    def __init__(
        self,
        matrices: Any,
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
        kind: Kind = "posterior",
    ) -> None:
        with about("matrices"):
            if check.has(matrices, "dims"):
                from partita.io.arrays import draws_first

                matrices, ids, names = draws_first(matrices, "item", "feature")
                chain = ids if chain is None else chain
                item_names = names if item_names is None else item_names
            columns, offsets, n_items = _packed_draws(matrices)
        self._set(columns, offsets, n_items, weights, chain, item_names, kind)

    def _set(
        self, columns: UInt64s, offsets: Ints, n_items: int, *fields: Any, **named: Any
    ) -> None:
        sizes = np.bitwise_count(columns).sum(axis=1, dtype=np.int64)
        points = {
            "columns": columns,
            "offsets": offsets,
            "n_memberships": np.diff(np.concatenate([[0], np.cumsum(sizes)])[offsets]),
        }
        self._set_fields(points, (offsets.size - 1, n_items), *fields, **named)

    def _points(self) -> dict[str, Any]:
        return {"columns": self.columns, "offsets": self.offsets, "n_items": self.n_items}

    def _points_at(self, index: Any) -> dict[str, Any]:
        chosen = np.arange(self.n_draws)[index]
        counts = self.n_features[chosen]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], counts)
        return {"columns": self.columns[rows], "offsets": offsets}

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (self.weights, self.chain, self.item_names, self.kind)
        return self._from_canonical, (self.columns, self.offsets, self.n_items, *facts)

    def __features__(self) -> FeatureDraws:
        return self

    # ------------------------------------------------------------------ other ways to make them

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[Iterable[Any]]],
        *,
        n_items: int | None = None,
        item_names: Sequence[str] | None = None,
        **fields: Any,
    ) -> Self:
        """Draws from the sets of items that are a draw's features.

        Items are positions, or names where ``item_names`` are given. ``n_items`` is needed
        without names: an item may be in no feature of any draw. Other arguments as of the class.

        Examples
        --------
        >>> import partita as pt
        >>> pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1, 2}]], n_items=4)
        <FeatureDraws: 2 draws of 4 items, 1 to 2 features>
        """
        if item_names is None and n_items is None:
            raise InvalidInputError(
                "n_items is missing: items that are in no feature cannot be seen in the sets. "
                "Give n_items=... or item_names=....",
                argument="n_items",
            )
        names = None if item_names is None else check.strings(item_names, "item_names")
        n = len(names or ()) if n_items is None else check.integer(n_items, "n_items", least=1)
        position = {} if names is None else {name: i for i, name in enumerate(names)}
        draws, matrices = _as_item_lists(sets), []
        require_memory(4 * n * sum(map(len, draws)), "these features", "Check n_items.")
        for m, features in enumerate(draws):
            matrix = np.zeros((n, len(features)), np.bool_)
            for k, feature in enumerate(features):
                for item in feature:
                    at: Any = position.get(item) if isinstance(item, str) else item
                    good = isinstance(at, (int, np.integer)) and not isinstance(at, bool)
                    if not good or not 0 <= at < n:
                        or_names = " or one of the item_names" if names else ""
                        raise InvalidInputError(
                            f"draw {m} has the item {item!r}; expected positions 0 … {n - 1}"
                            f"{or_names}.",
                            argument="sets",
                        )
                    matrix[at, k] = True
            matrices.append(matrix)
        with about("sets", "matrices"):
            return cls(matrices, item_names=names, **fields)

    @classmethod
    def from_partitions(cls, draws: DrawsLike) -> Self:
        """Partitions as feature allocations: each cluster is a feature, each item in one.

        Weights, chains, names and kind are kept. An estimate under FARO may then leave an item
        out of every feature, where the draws do not agree about it.

        Examples
        --------
        >>> import partita as pt
        >>> pt.FeatureDraws.from_partitions([[0, 0, 1], [0, 1, 2]]).n_features
        array([2, 3])
        """
        of = as_draws(draws)
        matrices = [row[:, None] == np.arange(int(row.max()) + 1) for row in of]
        return cls(
            matrices, weights=of.weights, chain=of.chain, item_names=of.item_names, kind=of.kind
        )

    @classmethod
    def from_stored(cls, columns: Any, offsets: Any, n_items: Any, **fields: Any) -> Self:
        """Draws from the contents of a file, checked; ValueError if they are inconsistent."""
        columns, offsets, n_items = map(np.asarray, (columns, offsets, n_items))
        whole = (
            columns.ndim == 2
            and columns.dtype == np.uint64
            and offsets.ndim == 1
            and offsets.dtype.kind in "iu"
            and offsets.size > 1
            and n_items.shape == ()
            and n_items.dtype.kind in "iu"
            and int(n_items) >= 1
            and columns.shape[1] == -(-int(n_items) // 64)
            and offsets[0] == 0
            and offsets[-1] == len(columns)
            and bool((np.diff(offsets.astype(np.int64)) >= 0).all())
            and bool(columns.any(axis=1).all())
        )
        spare = -int(n_items) % 64 if whole else 0
        if not whole or (spare and bool((columns[:, -1] & np.uint64((1 << spare) - 1)).any())):
            raise ValueError("its draws are not columns of bits with their offsets")
        ends = offsets.astype(np.int64)
        refuse_many(ends)
        owner = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        ordered, ends = sort_columns(columns, owner, ends.size - 1)
        return cls._from_canonical(ordered, ends, int(n_items), **fields)

    # ------------------------------------------------------------------ what is there

    @property
    def n_features(self) -> Ints:
        """Number of features of each draw."""
        return np.diff(self.offsets)

    def point(self, m: int) -> UInt64s:
        """The features of one draw as words of bits, shape (n_features, n_words)."""
        return self.columns[self.offsets[m] : self.offsets[m + 1]]

    def sets(self, m: int) -> tuple[tuple[int, ...], ...]:
        """The features of one draw as items, in order."""
        at = self._position(m)
        if at is None:
            raise check.unexpected(m, "m", "the number of a draw")
        return sets_of(self.point(at), self.n_items)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Bools: ...

    @overload
    def __getitem__(self, index: slice | ArrayLike) -> FeatureDraws: ...

    def __getitem__(self, index: Any) -> Bools | FeatureDraws:
        """``draws[3]`` is one N × K matrix; a slice, mask or list of positions gives draws."""
        at = self._position(index)
        if at is None:
            return self._chosen(index)
        return unpack_columns(self.point(at), self.n_items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureDraws):
            return NotImplemented
        return (
            self.n_items == other.n_items
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.columns, other.columns)
            and self._same_metadata(other)
        )

    def _lines(self) -> list[tuple[str, str]]:
        low, high = int(self.n_memberships.min()), int(self.n_memberships.max())
        memberships = f"{low:,} to {high:,} in a {words(self.kind).draw}"
        return [("features, overlapping", self._span()), ("memberships", memberships)]

    # ------------------------------------------------------------------ what a metric asks

    def clean(self, point: Any, argument: str = "allocation") -> UInt64s:
        """One allocation of these items, from any accepted input, as a point."""
        found = allocations(point, argument=argument)
        if found.n_items != self.n_items or found.n_draws != 1:
            raise InvalidInputError(
                f"{argument} has {counted(found.n_draws, 'allocation')} of "
                f"{counted(found.n_items, 'item')}; expected one of {self.n_items}: a matrix of "
                "zeros and ones with one row per item.",
                argument=argument,
            )
        return found.point(0)

    def canonical(self, point: Any) -> UInt64s:
        """A point from an N × K matrix of zeros and ones; points stay what they are."""
        values = np.asarray(point)
        if values.dtype == np.uint64:
            return values
        return canonical_columns(values.astype(np.bool_).T, np.array([0, values.shape[1]]))[0]

    def together(self, rows: Ints, first: Ints, second: Ints) -> Floats:
        """Number of features that two items share in each of some draws, for pairs of items."""
        dense = [unpack_columns(self.point(m), self.n_items) for m in rows.tolist()]
        shared = [(z[first] & z[second]).sum(axis=1) for z in dense]
        return np.array(shared, np.float64).reshape(rows.size, first.size)

    def features_per_item(self) -> Ints:
        """Number of features of each item in each draw, shape (n_draws, n_items)."""
        counts = np.zeros((self.n_draws, self.n_items), np.int64)
        for m in range(self.n_draws):
            counts[m] = unpack_columns(self.point(m), self.n_items).sum(axis=1)
        return counts

    def rows_at(self, draws: ArrayLike) -> list[UInt64s]:
        """Some draws by number, each as its :meth:`point`."""
        return [self.point(m) for m in np.asarray(draws, np.int64).tolist()]

    def from_points(self, points: Sequence[UInt64s]) -> Self:
        """Draws of exactly these points, of the same items, without weights."""
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in points], dtype=np.int64)])
        none = np.empty((0, self.columns.shape[1]), np.uint64)
        columns = np.concatenate([none, *points])
        return self._with(columns=columns, offsets=offsets, weights=None, chain=None)

    def shown(self, points: Sequence[UInt64s]) -> tuple[Bools, ...]:
        """Points as N × K matrices of zeros and ones."""
        return tuple(frozen(unpack_columns(point, self.n_items)) for point in points)

    def key(self, point: UInt64s) -> bytes:
        """A key that equal allocations of the same items share."""
        return point.tobytes()

    n_parts = n_features

    @property
    def extremes(self) -> dict[str, Ints]:
        """Bounds of a ball: fewest and most features, any, fewest and most memberships."""
        memberships = self.n_memberships
        return super().extremes | {"sparsest": -memberships, "densest": memberships}

    # ------------------------------------------------------------------ selection

    def select_items(self, items: ArrayLike) -> Self:
        """The same draws restricted to some items, given by position, mask or name."""
        chosen = self.item_positions(items)
        dense = unpack_columns(self.columns, self.n_items)[chosen].T
        columns, offsets = canonical_columns(dense, self.offsets)
        names = self.item_names
        kept = None if names is None else [names[i] for i in chosen.tolist()]
        return self._with(columns=columns, offsets=offsets, n_items=chosen.size, item_names=kept)

    @staticmethod
    def concat(parts: Sequence[FeatureDraws]) -> FeatureDraws:
        """One FeatureDraws from several of the same items, each keeping its share of the mass.

        Weights and chain ids as of :meth:`Draws.concat`.
        """
        fields = concat_metadata(parts)
        counts = np.concatenate([part.n_features for part in parts])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        columns = np.concatenate([part.columns for part in parts])
        return parts[0]._with(columns=columns, offsets=offsets, **fields)


# ------------------------------------------------------------------ columns of bits


def pack_columns(dense: Bools) -> UInt64s:
    """Rows of zeros and ones, one per feature, as words of bits."""
    bytes_of = np.packbits(dense, axis=1)
    n_words = -(-dense.shape[1] // 64)
    padded = np.zeros((len(dense), 8 * n_words), np.uint8)
    padded[:, : bytes_of.shape[1]] = bytes_of
    return padded.view(">u8").astype(np.uint64)


def unpack_columns(columns: UInt64s, n_items: int) -> Bools:
    """Features as the columns of an N × K matrix of zeros and ones."""
    bytes_of = columns.astype(">u8").view(np.uint8).reshape(len(columns), 8 * columns.shape[1])
    bits = np.unpackbits(bytes_of, axis=1, count=n_items).view(np.bool_)
    return np.ascontiguousarray(bits.T)


def sets_of(columns: UInt64s, n_items: int) -> tuple[tuple[int, ...], ...]:
    """Features as tuples of items."""
    return tuple(tuple(np.flatnonzero(c).tolist()) for c in unpack_columns(columns, n_items).T)


def canonical_columns(dense: Bools, offsets: Ints) -> tuple[UInt64s, Ints]:
    """Features of draws, one per row of zeros and ones: packed, in order, none of them empty."""
    owner = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    full = dense.any(axis=1)
    return sort_columns(pack_columns(dense[full]), owner[full], offsets.size - 1)


def sort_columns(columns: UInt64s, owner: Ints, n_draws: int) -> tuple[UInt64s, Ints]:
    """The columns of each draw by size, then by items; and where each draw begins."""
    sizes = np.bitwise_count(columns).sum(axis=1, dtype=np.int64)
    order = np.lexsort((*(~columns).T[::-1], -sizes, owner))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_draws))])
    return np.ascontiguousarray(columns[order]), offsets


def canonical_point(columns: UInt64s) -> UInt64s:
    """One allocation in canonical order, without empty features."""
    kept = columns[columns.any(axis=1)]
    return sort_columns(kept, np.zeros(len(kept), np.int64), 1)[0]


def _as_item_lists(sets: Any) -> list[list[list[Any]]]:
    """The items of each feature of each draw."""
    wanted = "for each draw its features, and for each feature its items, as in [[{0, 1}, {1, 2}]]"
    if isinstance(sets, FeatureDraws):
        raise check.unexpected(sets, "sets", wanted)
    try:
        check.refuse_views(sets, "sets", InvalidInputError)
        return [[list(feature) for feature in draw] for draw in sets]
    except InvalidInputError:
        raise
    except Exception:  # whatever an object of a user raises
        raise check.unexpected(sets, "sets", wanted) from None


def partitions_only(**given: tuple[object, object]) -> None:
    """Refuse arguments, each beside its default, that feature draws have no use for."""
    for name, (value, default) in given.items():
        if value is not default and not (np.isscalar(value) and value == default):
            raise NotSupportedError(
                f"{name}= is defined for partitions only; these are draws of feature "
                "allocations. Leave it out.",
                argument=name,
            )


def _packed_draws(matrices: Any) -> tuple[UInt64s, Ints, int]:
    """The columns of all draws, packed in order, with offsets and the number of items."""
    if isinstance(matrices, FeatureDraws):
        return matrices.columns, matrices.offsets, matrices.n_items
    is_listed = hasattr(type(matrices), "__len__") and bool(np.iterable(matrices))
    if isinstance(matrices, (str, bytes)) or not is_listed:
        raise check.unexpected(
            matrices,
            "matrices",
            "a list of N × K matrices of zeros and ones, or one array of shape (draw, item, "
            "feature). Files are read by pt.read_features",
        )
    if isinstance(matrices, np.ndarray) and matrices.ndim != 3 and matrices.dtype != object:
        raise InvalidInputError(
            f"matrices has shape {matrices.shape}; expected (draw, item, feature). For a single "
            "draw, pass matrices[None]."
        )
    if len(matrices) == 0:
        raise InvalidInputError("there are no draws; at least one matrix is needed.")
    dense = [binary_matrix(matrix, f"matrices[{m}]") for m, matrix in enumerate(matrices)]
    n_items = len(dense[0])
    for m, matrix in enumerate(dense):
        if len(matrix) != n_items:
            raise InvalidInputError(
                f"matrices[{m}] has {len(matrix)} items and those before have {n_items}; every "
                "draw needs the same items, one per row. Rows are items, columns are features."
            )
    offsets = np.concatenate([[0], np.cumsum([matrix.shape[1] for matrix in dense])])
    columns, offsets = canonical_columns(np.concatenate([m.T for m in dense]), offsets)
    refuse_many(offsets)
    return columns, offsets, n_items


def refuse_many(offsets: Ints) -> None:
    """Refuse draws of too many features."""
    counts = np.diff(offsets)
    if counts.max() > MOST_FEATURES:
        m = int(counts.argmax())
        raise InvalidInputError(
            f"draw {m} has {counts[m]:,} features; expected at most {MOST_FEATURES}, because two "
            "draws are compared in time K³. If rows are features and columns items, transpose "
            "each matrix; if many features have one item, leave those out and say so."
        )


def binary_matrix(matrix: Any, what: str) -> Bools:
    """One N × K matrix of zeros and ones."""
    if check.has(matrix, "tocsc") and check.has(matrix, "toarray"):
        matrix = matrix.toarray()
    values = check.plain_array(matrix, what, InvalidInputError)
    if values.ndim != 2 or values.shape[0] == 0:
        raise InvalidInputError(
            f"{what} has shape {values.shape}; expected (item, feature), at least one item. "
            "One feature is a matrix of one column; sets of items go to FeatureDraws.from_sets."
        )
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"{what} has dtype {values.dtype}; expected zeros and ones, or booleans."
        )
    odd = (values != 0) & (values != 1)
    if odd.any():
        i, k = (int(x[0]) for x in np.nonzero(odd))
        raise InvalidInputError(
            f"{what}[{i}, {k}] is {values[i, k]}; expected 0 or 1. Probabilities of membership are "
            "not draws; labels of partitions go to FeatureDraws.from_partitions."
        )
    found: Bools = values != 0
    return found


# ------------------------------------------------------------------ whatever holds them


def as_features(obj: Any) -> FeatureDraws:
    """Feature draws from whatever holds them; partitions are not among these."""
    if is_features(obj):
        found: FeatureDraws = obj.__features__()
        return found
    if isinstance(obj, Draws):
        raise InvalidInputError(
            "Draws of partitions were given; expected feature draws. "
            "FeatureDraws.from_partitions(draws) makes each cluster a feature.",
            argument="draws",
        )
    with about("draws", "matrices"):
        return FeatureDraws(obj)


def allocations(obj: Any, *, argument: str) -> FeatureDraws:
    """Allocations that stand for themselves: one matrix, a list of them, or feature draws.

    An N × K matrix of zeros and ones and anything with ``__allocation__`` is one allocation.
    """
    if is_features(obj) and not hasattr(type(obj), "__allocation__"):
        return as_features(obj)
    with about(argument, "matrices"):
        obj = _matrix_of(obj)
        first = obj[0] if isinstance(obj, (list, tuple)) and obj else obj
        if isinstance(first, (list, tuple)) and first and not isinstance(first[0], (list, tuple)):
            obj = check.plain_array(obj, argument, InvalidInputError)
        if isinstance(obj, (list, tuple)):
            return FeatureDraws([_matrix_of(each) for each in obj])
        is_cube = check.has(obj, "ndim") and obj.ndim == 3
        return FeatureDraws(obj if is_cube else [binary_matrix(obj, argument)])


def _matrix_of(obj: Any) -> Any:
    return obj.__allocation__() if hasattr(type(obj), "__allocation__") else obj


# ------------------------------------------------------------------ files


_FIELDS = ("weights", "chain", "item_names", "kind")
_LONG = ("draw", "feature", "item")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read_features(
    path: PathLike, *, var_name: str | None = None, kind: Kind | None = None
) -> FeatureDraws:
    """Read draws of a feature allocation from a file.

    Parameters
    ----------
    path : path
        - ``.npz``: as :func:`write_features` makes it, or with one array of zeros and ones of
          shape (draw, item, feature);
        - ``.rds``, ``.RData``: a list of R with one matrix of zeros and ones per draw, items in
          rows, as fangs has it; row names are names of items;
        - ``.csv``, ``.tsv``: a long table with the columns ``draw``, ``feature``, ``item`` and one
          row per membership, perhaps with ``chain``. What items are called are their names, in
          the order in which they first appear; a draw without features has one row in which
          feature and item are empty.
    var_name : str, optional
        The array of an npz file, or the path to an object of R, where there are several.
    kind : "posterior" or "ensemble", optional
        As of :class:`FeatureDraws`.

    Returns
    -------
    FeatureDraws

    Notes
    -----
    A long table does not say which items exist that are in no feature of any draw; matrices do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import partita as pt
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "draws.csv"
    >>> _ = file.write_text("draw,feature,item\\n1,1,a\\n1,1,b\\n1,2,b\\n2,1,a\\n")
    >>> pt.read_features(file)
    <FeatureDraws: 2 draws of 2 items, 1 to 2 features, named items>
    """
    file = check.path(path, "path")
    check.text_or_none(var_name, "var_name")
    if kind is not None:
        clean_kind(kind, None)
    suffix = file.suffix.lower()
    readers = {".npz": _read_npz, ".rds": _read_r, ".rdata": _read_r, ".rda": _read_r}
    if suffix not in readers and suffix not in _SEPARATORS:
        known = ", ".join([*readers, *_SEPARATORS])
        raise UnknownNameError(
            f"{file.name} cannot be read as feature draws: its suffix must be one of {known}.",
            argument="path",
        )
    require_path(file)
    with about("path"):
        found = readers[suffix](file, var_name) if suffix in readers else _read_long(file)
    return found if kind is None else found._with(kind=kind)


def write_features(draws: FeatureDraws, path: PathLike, *, overwrite: bool = False) -> None:
    """Write draws of a feature allocation: ``.npz`` keeps everything, ``.csv`` is a long table.

    Parameters
    ----------
    draws : FeatureDraws
    path : path
    overwrite : bool
        Replace a file that exists.

    Notes
    -----
    A long table keeps neither weights nor items that are in no feature.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import partita as pt
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "draws.npz"
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1, 2}]], n_items=4)
    >>> pt.write_features(draws, file)
    >>> pt.read_features(file) == draws
    True
    """
    of, file = as_features(draws), check.path(path, "path")
    if file.suffix.lower() not in (".npz", *_SEPARATORS):
        raise UnknownNameError(
            f"feature draws cannot be written to {file.name}; its suffix must be .npz, .csv or "
            ".tsv.",
            argument="path",
        )
    with atomic_path(file, overwrite=check.boolean(overwrite, "overwrite")) as target:
        if file.suffix.lower() != ".npz":
            _write_long(of, target)
            return
        stored = {name: getattr(of, name) for name in _FIELDS if getattr(of, name) is not None}
        points = {"columns": of.columns, "offsets": of.offsets, "n_items": of.n_items}
        write_npz(target, points | stored)


def _read_npz(file: Path, var_name: str | None) -> FeatureDraws:
    from partita.io.table import choose_variable, translate_errors

    # Opened first: NumPy leaves a file open that is damaged.
    with translate_errors(file, "npz"), file.open("rb") as stream:
        arrays = dict(np.load(stream, allow_pickle=False))
    if var_name is None and {"columns", "offsets", "n_items"} <= arrays.keys():
        return _from_arrays(arrays, file)
    cubes = [name for name, values in arrays.items() if values.ndim == 3]
    none = f"{file} has no array of shape (draw, item, feature)"
    return FeatureDraws(arrays[choose_variable({n: n for n in arrays}, cubes, var_name, none)])


def _from_arrays(arrays: dict[str, Any], file: Path) -> FeatureDraws:
    """Draws that ``write_features`` stored, checked: a file may be forged or damaged."""
    fields: dict[str, Any] = {name: arrays[name] for name in _FIELDS if name in arrays}
    if "item_names" in fields:
        fields["item_names"] = fields["item_names"].tolist()
    if "kind" in fields:
        fields["kind"] = str(fields["kind"])
    try:
        points = (arrays[name] for name in ("columns", "offsets", "n_items"))
        return FeatureDraws.from_stored(*points, **fields)
    except ValueError:
        raise FileFormatError(
            f"{file} does not hold feature draws as pt.write_features makes them."
        ) from None


def _read_r(file: Path, var_name: str | None) -> FeatureDraws:
    from partita.io.r import RList, RVector, at_path, load_r

    root = load_r(file)
    node = root if var_name is None else at_path(root, var_name)
    if node is None:
        raise InvalidInputError(f"{file} has nothing at {var_name!r}.", argument="var_name")

    def is_draws(part: Any) -> bool:
        return (
            isinstance(part, RList)
            and len(part.parts) > 0
            and all(isinstance(p, RVector) and p.values.ndim == 2 for p in part.parts)
        )

    while isinstance(node, RList) and not is_draws(node) and len(node.parts) == 1:
        node = node.parts[0]
    if not is_draws(node) and isinstance(node, RList):
        lists = [part for part in node.parts if is_draws(part)]
        node = lists[0] if len(lists) == 1 else node
    if not is_draws(node):
        raise InvalidInputError(
            f"{file} does not hold one list of matrices, each N × K of zeros and ones. Choose an "
            "object with var_name=..., as in var_name='samplesFA'.",
            argument="path",
        )
    first = node.parts[0]
    names = first.dimnames[0] if first.dimnames else None
    return FeatureDraws([part.values for part in node.parts], item_names=names)


def _read_long(file: Path) -> FeatureDraws:
    from partita.io.data_table import TextOptions, read_text_table

    table = read_text_table(file, TextOptions(header=True), "Write it as CSV in UTF-8.")
    cells = zip(table.names, table.cells or (), strict=True)
    columns = {name.lower().lstrip("."): column for name, column in cells}
    if not columns.keys() >= {*_LONG}:
        raise FileFormatError(
            f"{file} has the columns {', '.join(columns)}; expected a header with draw, feature "
            "and item, and one row per membership."
        )
    draws: dict[tuple[str, str], dict[str, list[str]]] = {}
    chains = columns.get("chain", ("",) * table.n_rows)
    rows = zip(table.lines or (), chains, *(columns[name] for name in _LONG), strict=True)
    for line, chain, draw, feature, item in rows:
        here = draws.setdefault((chain, draw), {})
        if feature and item and draw:
            here.setdefault(feature, []).append(item)
        elif feature or item:
            raise FileFormatError(
                f"{file}, row {line} lacks a draw, feature or item; each row is one membership."
            )
    items = list(dict.fromkeys(filter(None, columns["item"])))
    if not items:
        raise FileFormatError(f"{file} has no membership; at least one item is needed.")
    chain = [key[0] for key in draws] if "chain" in columns else None
    sets = [list(features.values()) for features in draws.values()]
    return FeatureDraws.from_sets(sets, item_names=items, chain=chain)


def _write_long(draws: FeatureDraws, file: Path) -> None:
    names = draws.item_names or tuple(map(str, range(draws.n_items)))
    heads = _LONG if draws.chain is None else ("chain", *_LONG)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, delimiter=_SEPARATORS[file.suffix.lower()])
        table.writerow(heads)
        for m in range(draws.n_draws):
            before = [] if draws.chain is None else [draws.chain[m]]
            features = draws.sets(m)
            if not features:
                table.writerow([*before, m, "", ""])
            for k, feature in enumerate(features):
                table.writerows([*before, m, k, names[i]] for i in feature)
