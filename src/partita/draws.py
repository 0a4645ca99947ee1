"""Draws: the container in which partitions flow through the library, and what becomes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from partita import _storage
from partita import _validate as check
from partita._result import Page, frozen
from partita._storage import clean_chain, clean_kind, clean_names, clean_weights
from partita._wording import Kind, counted, span, words
from partita.errors import InvalidInputError, InvalidLabelsError, NotSupportedError, about
from partita.kernels.arrays import Array, Floats, Ints, Unsigned
from partita.labels import (
    DrawsLike,
    Labels,
    LabelsLike,
    NoiseRule,
    as_label_rows,
    as_labels,
    by_size,
    reading_noise,
    relabel,
)

if TYPE_CHECKING:
    from partita.dask import RemoteLabels
    from partita.samplers.priors import PartitionPrior
    from partita.samplers.sensitivity import Reweighting


def positions_in_chain(chain: Array | None, n_draws: int) -> Ints:
    """Number of each draw within its chain."""
    if chain is None:
        return np.arange(n_draws)
    position = np.empty(n_draws, np.int64)
    for name in np.unique(chain):
        mine = np.flatnonzero(chain == name)
        position[mine] = np.arange(mine.size)
    return position


def systematic(probabilities: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Positions of a systematic sample, in order; a heavy draw may come several times."""
    edges = np.cumsum(probabilities)
    points = (np.arange(size) + rng.random()) / size * edges[-1]
    index: Ints = np.searchsorted(edges, points)
    return np.minimum(index, probabilities.size - 1)


Stored = Union[Unsigned, "RemoteLabels"]
"""Canonical labels in memory, in a file that is mapped there, or on the workers of a cluster."""


AnyDraws = Any
"""Draws or FeatureDraws: questions that need only a metric ask no more than ``DrawsBase`` has."""

Point = Any
"""A drawn point as kernels take it: canonical int32 labels, or columns of an allocation."""


class DrawsBase:
    """Base class of draws: weights, chains, names, kind, and selection.

    A subclass holds the points that were drawn: partitions or feature allocations. Functions that
    need only a metric (ball, representatives, modes, p-values, diagnostics) never look inside a
    point. They use the methods under "what needs only a metric".
    """

    __slots__ = ("_numbered", "chain", "item_names", "kind", "n_draws", "n_items", "weights")

    n_draws: int
    """Number of draws."""
    n_items: int
    """Number of items."""
    weights: Floats | None
    """Weights that sum to 1, or None when all draws weigh the same."""
    chain: Array | None
    """Chain of each draw, or None when unknown."""
    item_names: tuple[str, ...] | None
    """Names of the items, or None."""
    kind: Kind
    """What the rows are: draws of a "posterior", runs of an "ensemble", or "tilted" draws."""
    _numbered: tuple[Ints, Floats] | None

    part_name: ClassVar[str]
    """Noun for the parts of a point: "cluster" or "feature"."""

    @classmethod
    def _from_canonical(cls, *points: Any, **fields: Any) -> Self:
        draws = object.__new__(cls)
        draws._set(*points, **fields)
        return draws

    def _set(self, *points: Any, **fields: Any) -> None:
        raise NotImplementedError

    def _set_fields(
        self,
        points: dict[str, Any],
        shape: tuple[int, int],
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
        kind: Kind = "posterior",
    ) -> None:
        """Set the points and, checked, the metadata."""
        n_draws, n_items = int(shape[0]), int(shape[1])
        with about("chain"):
            ids = None if chain is None else frozen(clean_chain(chain, n_draws))
        fields: dict[str, Any] = {
            **{name: frozen(value) for name, value in points.items()},
            "weights": None if weights is None else frozen(clean_weights(weights, n_draws)),
            "chain": ids,
            "item_names": None if item_names is None else clean_names(item_names, n_items),
            "kind": clean_kind(kind, chain),
            "n_draws": n_draws,
            "n_items": n_items,
            "_numbered": None,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Draws are immutable: {name!r} cannot be set; make new Draws instead")

    # ------------------------------------------------------------------ what a subclass says

    def _points(self) -> dict[str, Any]:
        """The points, under the argument names of ``_from_canonical``."""
        raise NotImplementedError

    def _points_at(self, index: Any) -> dict[str, Any]:
        """Return these arrays for some draws, given by positions, a mask or a slice."""
        raise NotImplementedError

    def _number(self) -> Ints:
        """Number of each draw among the distinct ones, by first appearance."""
        return self.equal_among(np.arange(self.n_draws))[1]

    @property
    def stored(self) -> Any:
        """The stored points, in memory or on the workers of a cluster."""
        return None

    # ------------------------------------------------------------------ what is there

    @property
    def probabilities(self) -> Floats:
        """The weights, or 1/n_draws for each draw when there are none."""
        if self.weights is not None:
            return self.weights
        equal: Floats = frozen(np.full(self.n_draws, 1.0 / self.n_draws))
        return equal

    @property
    def n_effective(self) -> float:
        """Kish's effective number of draws, (Σw)²/Σw²: n_draws when unweighted."""
        if self.weights is None:
            return float(self.n_draws)
        return 1.0 / float(np.square(self.weights).sum())

    @property
    def n_chains(self) -> int:
        """Number of chains; 1 when chains are unknown."""
        return 1 if self.chain is None else len(np.unique(self.chain))

    def __len__(self) -> int:
        return self.n_draws

    __hash__ = None  # type: ignore[assignment]

    def _same_metadata(self, other: DrawsBase) -> bool:
        return (
            _same(self.weights, other.weights)
            and _same(self.chain, other.chain)
            and self.item_names == other.item_names
            and self.kind == other.kind
        )

    def _counted(self) -> str:
        own = counted(self.n_draws, words(self.kind).draw)
        return f"{own} of {counted(self.n_items, 'item')}"

    def _span(self) -> str:
        """The number of clusters or features: "2 to 3 clusters"."""
        low, high = int(self.n_parts.min()), int(self.n_parts.max())
        return span(low, high, self.part_name) + (" each" if low == high else "")

    def _weighted(self) -> str:
        """What weighted draws are called."""
        return "weighted"

    def __repr__(self) -> str:
        parts = [self._counted(), self._span()]
        if self.chain is not None:
            parts.append(counted(self.n_chains, "chain"))
        if self.weights is not None:
            parts.append(self._weighted())
        if self.item_names is not None:
            parts.append("named items")
        return f"<{type(self).__name__}: {', '.join(parts)}>"

    def _lines(self) -> list[tuple[str, str]]:
        """What a notebook shows of the points."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        lines = self._lines()
        if self.chain is not None:
            lines.append(("chains", f"{self.n_chains:,}"))
        if self.weights is not None:
            lines.append(("weights", f"{self.weights.min():.3g} to {self.weights.max():.3g}"))
        if self.item_names is not None:
            lines.append(("items", ", ".join(self.item_names[:6]) + " …" * (self.n_items > 6)))
        return Page(self._counted(), lines).html()

    # ------------------------------------------------------------------ selection

    def _with(self, **changed: Any) -> Self:
        """Return the draws with some fields replaced, by the names of ``_from_canonical``."""
        fields: dict[str, Any] = {
            **self._points(),
            "weights": self.weights,
            "chain": self.chain,
            "item_names": self.item_names,
            "kind": self.kind,
        }
        return self._from_canonical(**(fields | changed))

    def _take(self, index: Any) -> Self:
        return self._with(
            **self._points_at(index),
            weights=None if self.weights is None else self.weights[index],
            chain=None if self.chain is None else self.chain[index],
        )

    def _chosen(self, index: Any) -> Self:
        """Draws by a slice, a mask or a list of positions, as a user gives them."""
        if not isinstance(index, slice):
            given, index = index, check.plain_array(index, "positions of draws")
            if index.ndim != 1 or index.dtype.kind not in "iub":
                raise InvalidInputError(
                    f"draws[{given!r}]: draws are picked by a position, a slice, a mask or a list "
                    "of positions. For items see select_items.",
                    argument="index",
                )
        if np.arange(self.n_draws)[index].size == 0:
            raise InvalidInputError("no draws selected; at least one is needed.", argument="index")
        return self._take(index)

    def _position(self, index: Any) -> int | None:
        """The position of one draw, counted from 0; None where several are asked for."""
        if not isinstance(index, (int, np.integer)) or isinstance(index, bool):
            return None
        if not -self.n_draws <= index < self.n_draws:
            raise IndexError(f"draw {index} was asked for; there are {self.n_draws:,}.")
        return int(index) % self.n_draws

    def subset(self, rows: Ints, mass: Array | None = None) -> Self:
        """Return some draws, stored where all are, with these masses (any scale) or their own."""
        if mass is None and self.weights is not None:
            mass = self.weights[rows]
        return self._with(**self._points_at(rows), weights=mass, chain=None)

    def drop(self, n: int) -> Self:
        """Without the first n draws of each chain (burn-in)."""
        n = check.integer(n, "n", least=0)
        keep = positions_in_chain(self.chain, self.n_draws) >= n
        if not keep.any():
            there = f"{self.n_draws} draws in {self.n_chains} chain(s)"
            said = f"dropping {n} draws of each chain leaves nothing: there are {there}."
            raise InvalidInputError(said, argument="n")
        return self._take(keep)

    def thin(self, step: int) -> Self:
        """Every step-th draw of each chain, from its first."""
        step = min(check.integer(step, "step", least=1), self.n_draws)
        return self._take(positions_in_chain(self.chain, self.n_draws) % step == 0)

    def select_chains(self, chains: ArrayLike) -> Self:
        """Only the draws of the named chains."""
        if self.chain is None:
            raise InvalidInputError(
                "these draws carry no chain ids; give chain=... when making Draws to select "
                "chains.",
                argument="chain",
            )
        wanted, known = check.indexer(chains, "chains").tolist(), np.unique(self.chain).tolist()
        with about("chains"):
            if not wanted:
                raise InvalidInputError(f"no chains selected; give some of {known}.")
            if unknown := [w for w in wanted if w not in known]:
                raise InvalidInputError(f"no chain {unknown[0]!r}; the chains are {known}.")
        return self._take(np.isin(self.chain, wanted))

    @about("items")
    def item_positions(self, items: ArrayLike) -> Ints:
        """Positions of items given by position, mask or name; each may appear once."""
        wanted = check.indexer(items, "items")
        if wanted.dtype.kind in "UO":
            if self.item_names is None:
                raise InvalidInputError(
                    "items were given by name, but these draws carry no item names."
                )
            position = {name: i for i, name in enumerate(self.item_names)}
            unknown = [name for name in wanted.tolist() if name not in position]
            if unknown:
                raise InvalidInputError(f"no item named {unknown[0]!r} in these draws.")
            columns = np.array([position[name] for name in wanted.tolist()], np.int64)
        elif wanted.dtype.kind == "b":
            if wanted.size != self.n_items:
                raise InvalidInputError(
                    f"the mask of items has length {wanted.size}; expected {self.n_items}."
                )
            columns = np.flatnonzero(wanted).astype(np.int64)
        elif wanted.size and wanted.dtype.kind not in "iu":
            raise check.unexpected(items, "items", "positions, a mask or names")
        else:
            columns = wanted.astype(np.int64)
            if columns.size and (columns.min() < -self.n_items or columns.max() >= self.n_items):
                raise InvalidInputError(
                    f"item positions must lie in 0 … {self.n_items - 1}, got {wanted.tolist()[:5]}."
                )
            columns %= self.n_items
        if columns.size == 0:
            raise InvalidInputError("no items selected; at least one is needed.")
        if np.unique(columns).size != columns.size:
            raise InvalidInputError("an item is selected twice; each item can appear once.")
        return columns

    def unique(self) -> Self:
        """Each distinct draw once, in order of first appearance, with its mass as weight.

        Chain ids are dropped: a merged draw may come from several chains.
        """
        return self.merged(*self.unique_index())

    def merged(self, index: Ints, mass: Floats) -> Self:
        """The distinct draws from what ``unique_index`` returned."""
        rows = np.arange(self.n_draws)
        first = np.empty(mass.size, np.int64)
        first[index[::-1]] = rows[::-1]  # of equal draws the last one written stays: the first
        points = {} if mass.size == self.n_draws else self._points_at(first)
        return self._with(**points, weights=mass, chain=None)

    def unique_index(self) -> tuple[Ints, Floats]:
        """Number of each draw among the distinct ones, and their masses.

        Found once: most questions about the same draws begin here.
        """
        if self._numbered is None:
            index = self._number()
            mass = np.bincount(index, weights=self.probabilities)
            object.__setattr__(self, "_numbered", (frozen(index), frozen(mass)))
        assert self._numbered is not None
        return self._numbered

    # ------------------------------------------------------------------ what needs only a metric

    def clean(self, point: Any, argument: str) -> Any:
        """A point of the same items in the form of the kernels, from what a user gave."""
        raise NotImplementedError

    def canonical(self, point: Any) -> Any:
        """A point that partita made itself, in the form of the kernels."""
        raise NotImplementedError

    def rows_at(self, draws: ArrayLike) -> Any:
        """Some draws by number, in the order given, in the form of the kernels."""
        raise NotImplementedError

    def from_points(self, points: Sequence[Any]) -> Self:
        """Draws with exactly these points, without weights or chains."""
        raise NotImplementedError

    def shown(self, points: Sequence[Any]) -> Any:
        """Points as results hold them."""
        raise NotImplementedError

    def key(self, point: Point) -> bytes:
        """A sortable key that identifies a point."""
        raise NotImplementedError

    def together(self, rows: Ints, first: Ints, second: Ints) -> Floats:
        """The number of parts that hold both items of each pair, for some draws."""
        raise NotImplementedError

    @property
    def n_parts(self) -> Ints:
        """Number of clusters, or of features, of each draw."""
        raise NotImplementedError

    @property
    def extremes(self) -> dict[str, Ints]:
        """For each bound of a credible ball the score of each draw.

        The bound is the draw in the ball with the highest score, the most distant one among ties.
        """
        n_parts = self.n_parts
        return {"upper": -n_parts, "lower": n_parts, "horizontal": np.zeros_like(n_parts)}

    def equal_among(self, rows: Ints) -> tuple[Ints, Ints]:
        """First position of each distinct draw among some, and which of these each draw equals."""
        numbers: dict[bytes, int] = {}
        found = [numbers.setdefault(self.key(p), len(numbers)) for p in self.rows_at(rows)]
        copy_of = np.array(found, np.int64)
        return np.unique(copy_of, return_index=True)[1], copy_of


def _same(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def _restored(cls: type[Draws], *fields: Any) -> Draws:
    # Earlier versions pickled no kind, and no reweighting.
    names = ("weights", "chain", "item_names", "kind", "reweighting")
    labels, counts, *rest = fields
    return cls._from_canonical(labels, counts, **dict(zip(names, rest, strict=False)))


def concat_metadata(parts: Sequence[DrawsBase]) -> dict[str, Any]:
    """Weights and chains of all parts, which must be of the same items and kind."""
    if not isinstance(parts, (list, tuple)) or not parts:
        raise check.unexpected(parts, "parts", "a list of at least one Draws")
    first = parts[0]
    for part in parts[1:]:
        other = type(part) is not type(first) or part.n_items != first.n_items
        if other or part.item_names != first.item_names:
            raise InvalidLabelsError(
                f"draws of different items cannot be concatenated: {first!r} and {part!r}.",
                argument="parts",
            )
        if part.kind != first.kind:
            raise InvalidInputError(
                f"draws of kind {first.kind!r} and of kind {part.kind!r} cannot be concatenated: "
                "say what they all are, as in as_draws(part, kind='ensemble').",
                argument="parts",
            )
    total = sum(part.n_draws for part in parts)
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([p.probabilities * (p.n_draws / total) for p in parts])
    return {"weights": weights, "chain": _chains(parts)}


def _concatenate_labels(parts: Sequence[Draws]) -> Stored:
    """All labels, where those of the parts are; in memory where some are there."""
    remote = [part.stored for part in parts if not isinstance(part.stored, np.ndarray)]
    if len(remote) == len(parts):
        return remote[0].followed_by(remote[1:])
    dtype = np.result_type(*[part.stored.dtype for part in parts])
    buffer = _storage.label_buffer(parts[0].n_items, sum(part.n_draws for part in parts))
    for part in parts:
        for where in _storage.chunk_slices(part.n_draws, part.n_items):
            buffer.add(part.rows(where.start, where.stop), dtype)
    return buffer.finish()


def _chains(parts: Sequence[DrawsBase]) -> Array | None:
    if len(parts) == 1 or parts[0].kind == "ensemble":
        return parts[0].chain
    known = [part.chain for part in parts if part.chain is not None]
    if len(known) == len(parts):
        ids = [set(chain.tolist()) for chain in known]
        if len(set.union(*ids)) == sum(len(s) for s in ids):
            return np.concatenate(known)
    joined, offset = [], 0
    for part in parts:
        if part.chain is None:
            joined.append(np.full(part.n_draws, offset))
            offset += 1
        else:
            names, number = np.unique(part.chain, return_inverse=True)
            joined.append(number + offset)
            offset += names.size
    return np.concatenate(joined)


class Draws(DrawsBase):
    """Draws of a partition of N items: from a posterior, or the runs of an ensemble.

    Parameters
    ----------
    labels : array_like, shape (n_draws, n_items)
        One partition per row; integers, whole-valued floats, booleans or strings. Other Draws
        keep their metadata, where nothing else is given.
    weights : array_like, shape (n_draws,), optional
        Positive weights of the draws; scaled to sum to 1. Equal when omitted.
    chain : array_like, shape (n_draws,), optional
        Which chain each draw came from; draws of a chain are in the order sampled.
    item_names : sequence of str, optional
        One unique name per item.
    kind : "posterior", "ensemble" or "tilted"
        What the rows are: draws from a posterior (the default), or runs of clustering
        algorithms (Leiden, k-means, HDBSCAN with several seeds or settings). Estimates, balls
        and shares are the same numbers, but every sentence differs: of an ensemble nothing is
        said about probability or convergence, and its runs have no chains and no order. Draws
        are "tilted" once :meth:`reweighted` has changed their weights.

    Attributes
    ----------
    labels : ndarray, shape (n_draws, n_items), read-only
        Canonical (0-based in order of first appearance), in the smallest unsigned dtype.
    weights : ndarray of float, shape (n_draws,), or None
    chain : ndarray, shape (n_draws,), or None
    item_names : tuple of str, or None
    kind : "posterior", "ensemble" or "tilted"
    n_clusters : ndarray of int64, shape (n_draws,)

    Notes
    -----
    About one byte per label while no draw has more than 256 clusters. Labels
    are converted in blocks: no full-size copy in a larger dtype is made.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[3, 3, 1], [7, 7, 7], [3, 3, 1]])
    >>> draws.labels
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 1]], dtype=uint8)
    >>> draws.unique().weights
    array([0.66666667, 0.33333333])
    """

    __slots__ = ("n_clusters", "reweighting", "stored")

    stored: Stored
    """The labels where they are kept (memory, file or workers), without fetching them."""
    n_clusters: Ints
    """Number of clusters of each draw."""
    reweighting: Reweighting | None
    """How the draws were reweighted to another prior: effective numbers, k-hat, and the ratio of
    the evidences with its error. None if they were not."""

    part_name: ClassVar[str] = "cluster"

    def __init__(
        self,
        labels: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
        kind: Kind | None = None,
    ) -> None:
        if isinstance(labels, Draws):  # the same draws, with what is given beside them
            weights = labels.weights if weights is None else weights
            chain = labels.chain if chain is None else chain
            item_names = labels.item_names if item_names is None else item_names
            kind = labels.kind if kind is None else kind
            labels = labels.labels
        with about("labels"):
            _storage.refuse_draws_holder(labels)
            values = _storage.table_of_draws(check.plain_array(labels, "draws"))
            canonical, counts = _storage.canonicalise(values)
        self._set(
            canonical, counts, weights, chain, item_names, "posterior" if kind is None else kind
        )

    def _set(
        self,
        labels: Stored,
        counts: Ints,
        *fields: Any,
        reweighting: Reweighting | None = None,
        **named: Any,
    ) -> None:
        points = {"stored": labels, "n_clusters": counts, "reweighting": reweighting}
        self._set_fields(points, labels.shape, *fields, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.labels, self.n_clusters, self.weights, self.chain, self.item_names)
        return _restored, (type(self), *fields, self.kind, self.reweighting)

    def _with(self, **changed: Any) -> Self:
        """Like ``DrawsBase._with``; new labels or weights drop the record of a reweighting."""
        if not changed.keys() & {"labels", "weights", "kind"}:
            changed.setdefault("reweighting", self.reweighting)
        return super()._with(**changed)

    def __draws__(self) -> Draws:
        return self

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Unsigned: ...

    @overload
    def __getitem__(self, index: slice | ArrayLike) -> Draws: ...

    def __getitem__(self, index: Any) -> Unsigned | Draws:
        """``draws[3]`` is one label vector; a slice, mask or list of positions gives Draws."""
        at = self._position(index)
        if at is None:
            return self._chosen(index)
        row: Unsigned = self.labels_at(slice(at, at + 1))[0]
        return row

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Draws):
            return NotImplemented
        if self.stored.shape != other.stored.shape or not self._same_metadata(other):
            return False
        where = _storage.chunk_slices(self.n_draws, self.n_items)
        return self.stored is other.stored or all(
            np.array_equal(self.labels_at(s), other.labels_at(s)) for s in where
        )

    __hash__ = None

    def _weighted(self) -> str:
        if self.kind == "tilted":
            return "tilted"
        prior = None if self.reweighting is None else self.reweighting.prior
        return "weighted" if prior is None else f"reweighted to {prior}"

    def _lines(self) -> list[tuple[str, str]]:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        one = words(self.kind).draw
        lines = [("clusters", f"{low:,} to {high:,} in a {one}"), (f"first {one}", self._shown(0))]
        if self.n_draws > 1:
            lines.append((f"last {one}", self._shown(self.n_draws - 1)))
        return lines

    def _shown(self, row: int) -> str:
        return " ".join(map(str, self[row][:20].tolist())) + " …" * (self.n_items > 20)

    # ------------------------------------------------------------------ the labels

    @property
    def labels(self) -> Unsigned:
        """Canonical labels, shape (n_draws, n_items), read-only.

        Those on the workers of a cluster are fetched, if memory can hold them.
        """
        if not isinstance(self.stored, np.ndarray):
            fetched: Unsigned = frozen(self.labels_at(slice(None)))
            return fetched
        return self.stored

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.labels, dtype=dtype, copy=copy)

    def __iter__(self) -> Iterator[Unsigned]:
        for where in self.blocks():
            yield from self.labels_at(where)

    def rows(self, start: int, stop: int) -> Labels:
        """Draws start … stop − 1 in the dtype of the kernels (int32)."""
        return self.labels_at(slice(start, stop)).astype(np.int32)

    def labels_at(self, where: slice | Ints) -> Unsigned:
        """Labels of some draws, fetched where they live on a cluster."""
        if not isinstance(self.stored, np.ndarray):
            return self.stored.rows(np.arange(self.n_draws)[where])
        return self.stored[where]

    def blocks(self, rows: int | None = None) -> Iterator[slice]:
        """Slices of draws that are small enough to convert for a kernel."""
        usual = _storage.rows_per_block(self.n_items)
        step = usual if rows is None else check.integer(rows, "rows", least=1)
        yield from _storage.cut(0, self.n_draws, step)

    def _points(self) -> dict[str, Any]:
        return {"labels": self.stored, "counts": self.n_clusters}

    def _points_at(self, index: Any) -> dict[str, Any]:
        labels: Stored
        if not isinstance(self.stored, np.ndarray):
            labels = self.stored.select(np.arange(self.n_draws)[index])
        else:
            labels = np.ascontiguousarray(self.stored[index])
        return {"labels": labels, "counts": self.n_clusters[index]}

    def _number(self) -> Ints:
        from partita.scan import number_distinct

        return number_distinct(self)

    # ------------------------------------------------------------------ one partition

    def clean(self, point: LabelsLike, argument: str) -> Labels:
        """Canonical labels of a partition of the same items, from what a user gave."""
        return as_labels(point, n_items=self.n_items, names=self.item_names, argument=argument)

    def canonical(self, point: Labels) -> Labels:
        """Canonical labels of a partition that partita made itself."""
        return relabel(point)

    def rows_at(self, draws: ArrayLike) -> Labels:
        """Some draws by number, in the order given, in the dtype of the kernels."""
        return self.labels_at(np.asarray(draws, np.int64)).astype(np.int32)

    def from_points(self, points: Sequence[Labels]) -> Draws:
        """Draws with exactly these partitions, without weights or chains."""
        return Draws(np.array(points, np.int32))

    def shown(self, points: Sequence[Labels]) -> Labels:
        """Labels of partitions, shape (n, n_items), clusters numbered by size."""
        return by_size(np.asarray(points))

    def key(self, point: Labels) -> bytes:
        """Canonical labels as bytes that are in the order of the labels."""
        return point.astype(">i4").tobytes()

    @property
    def n_parts(self) -> Ints:
        """Number of clusters of each draw."""
        return self.n_clusters

    def together(self, rows: Ints, first: Ints, second: Ints) -> Floats:
        """Whether the items of each pair are in one cluster, for some draws."""
        labels = self.labels_at(rows)
        return np.asarray(labels[:, first] == labels[:, second], np.float64)

    def equal_among(self, rows: Ints) -> tuple[Ints, Ints]:
        """First position of each distinct draw among some, and which of these each draw equals."""
        labels = np.ascontiguousarray(self.labels_at(rows))
        # Whole rows as opaque bytes: sorting them by columns takes far longer for many items.
        keys = labels.view(f"V{labels.dtype.itemsize * labels.shape[1]}").reshape(-1)
        _, first, copy_of = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return first[order], np.argsort(order)[copy_of]

    # ------------------------------------------------------------------ selection

    def reweighted(
        self,
        by: Literal["entropy"] | None = None,
        strength: float | None = None,
        *,
        prior: PartitionPrior | None = None,
        from_prior: PartitionPrior | None = None,
    ) -> Draws:
        """The same draws with weights for another prior, or in favour of clusters of even sizes.

        To another prior p' of the partition: weights ∝ w·p'(c)/p(c). Where the likelihood of a
        partition does not depend on its prior, as in every mixture with parameters of its own for
        each cluster, the draws are then those of the posterior under p', and the mean weight is
        the ratio of the evidences. :meth:`Fit.reweighted` knows the prior of its draws.

        By "entropy": weights ∝ w·exp(strength · H/log k), H being the entropy of the draw's
        cluster sizes and k their number: 1 for equal sizes, near 0 where one cluster has almost
        all items, and 0 by definition for one cluster. It answers a posterior that spawns tiny
        clusters.

        Parameters
        ----------
        by : "entropy", optional
        strength : float, optional
            λ; 0 leaves the draws as they are, negative values favour uneven sizes.
        prior : PartitionPrior, optional
            The new prior, in place of ``by``.
        from_prior : PartitionPrior, optional
            The prior under which the draws were made. A concentration that was learned is
            integrated out: ``DirichletProcess(Gamma(1, 1))``, not its trace.

        Returns
        -------
        Draws
            With weights, chains and names kept. ``reweighting`` tells how many of them are
            effective, k-hat and the ratio of the evidences; draws that the new prior forbids are
            left out. By "entropy" they are no longer draws of the posterior: their ``kind`` is
            "tilted", and everything made of them speaks of shares of the tilted weight.

        Raises
        ------
        ReweightingError
            Below 100 effective draws, by Kish's number or with the correlation within chains, or
            above k-hat 0.7: draws under one prior then say too little about the other. Run anew.

        Notes
        -----
        The largest weights are smoothed by a Pareto law (Vehtari et al. 2024), unless the draws
        came with weights or most of these tie, as between Dirichlet processes, whose ratio
        depends on the number of clusters alone. Cost O(M·N).

        References
        ----------
        Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024), Pareto smoothed
        importance sampling. Journal of Machine Learning Research 25. Franzolini and Rebaudo (2024),
        Entropy regularization in probabilistic clustering. Statistical Methods & Applications 33.

        Examples
        --------
        >>> import partita as pt
        >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
        >>> draws.reweighted("entropy", 2.0).weights.round(3)
        array([0.549, 0.377, 0.074])
        >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]] * 100)
        >>> one, half = pt.DirichletProcess(1.0), pt.DirichletProcess(0.5)
        >>> draws.reweighted(prior=half, from_prior=one).weights[:3].round(5)
        array([0.0025, 0.0025, 0.005 ])
        """
        if (by is None) == (prior is None) or (prior is not None and strength is not None):
            raise InvalidInputError(
                "give either a prior, as in reweighted(prior=..., from_prior=...), or "
                'reweighted("entropy", strength).',
                argument="prior" if by is None else "by",
            )
        if prior is not None:
            # Imported by name when called, which keeps the layers acyclic: samplers import draws.
            found: Draws = import_module("partita.samplers.sensitivity").reweight(
                self, prior, from_prior
            )
            return found
        from partita.scan import entropy_weights

        weights = entropy_weights(self, by, strength)
        tilted = self.kind == "posterior" and strength != 0
        return self._with(weights=weights, kind="tilted" if tilted else self.kind)

    def select_items(self, items: ArrayLike) -> Draws:
        """The same draws restricted to some items, given by position, mask or name."""
        columns = self.item_positions(items)
        labels: Stored
        if not isinstance(self.stored, np.ndarray):
            labels, counts = self.stored.columns(columns)
        else:
            labels, counts = _storage.canonicalise(self.stored, columns)
        names = self.item_names
        chosen = None if names is None else [names[i] for i in columns.tolist()]
        return self._with(labels=labels, counts=counts, item_names=chosen)

    @staticmethod
    def concat(parts: Sequence[Draws]) -> Draws:
        """One Draws from several of the same items, each keeping its share of the mass.

        Chain ids are kept when every part has them and they do not clash;
        otherwise each part becomes a chain (or chains) of its own. Weighted and
        unweighted parts mix: a part's mass is its share of all draws. Parts are
        of one kind; runs of an ensemble get no chains.
        """
        metadata = concat_metadata(parts)
        counts = np.concatenate([part.n_clusters for part in parts])
        return parts[0]._with(labels=_concatenate_labels(parts), counts=counts, **metadata)


@about("draws", "labels")
def as_draws(
    obj: DrawsLike,
    *,
    var_name: str | None = None,
    transpose: bool = False,
    noise: NoiseRule | None = None,
    weights: ArrayLike | None = None,
    chain: ArrayLike | None = None,
    item_names: Sequence[str] | None = None,
    kind: Kind | None = None,
) -> Draws:
    """Draws of a partition from an array, table, file, fit or ArviZ object.

    Parameters
    ----------
    obj : object
        - ``Draws``: returned as they are; a Fit, Summary or CredibleBall, or anything else with
          ``__draws__``: its draws.
        - NumPy or dask array or nested lists, shape (draw, item) or (chain, draw, item).
        - pandas or polars DataFrame or Arrow table, one row per draw. Columns are named items,
          unless pandas only counts them; ``.chain`` and ``.weight`` are what they say, and in a
          table of variables (a column ``lp__``, or columns such as ``z[1]``) those of one
          indexed variable are taken.
        - xarray DataArray, Dataset or DataTree, ArviZ InferenceData: by the dimension names
          ``chain``, ``draw`` (or ``sample``), the remaining one being the item, in any order.
          A coordinate of the item gives names, unless it only counts.
        - a path: see :func:`read_draws`.
    var_name : str, optional
        The variable that holds the labels, where there are several. When omitted there must be
        exactly one of the right dimensions that is whole in its first draw.
    transpose : bool
        Rows are items and columns draws. For plain arrays, tables and files of these.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, as −1 of DBSCAN and HDBSCAN, and what it means: each
        such item is alone, or they form one cluster. −1 beside non-negative labels is
        refused without it.
    weights, chain, item_names : optional
        Of the draws and items, in place of any that ``obj`` carries; see :class:`Draws`.
    kind : "posterior" or "ensemble", optional
        Whether the rows are draws from a posterior or runs of clustering algorithms; when
        omitted what ``obj`` says, and the posterior where it says nothing. Chains that ``obj``
        has are left out of an ensemble.

    Returns
    -------
    Draws

    Notes
    -----
    Every function of partita that takes draws takes all of these. Labels may be integers,
    whole-valued floats, booleans or strings; what they are called does not matter. Missing,
    masked and fractional labels are refused. What kind of object came is told from its type,
    never from its values: a 0/1 matrix is taken for draws, as any other.

    Cost O(n_draws · n_items), in blocks; about one byte per label is kept.

    Examples
    --------
    >>> import numpy as np
    >>> import partita as pt
    >>> pt.as_draws(np.array([[[2, 2, 7], [2, 7, 7]], [[1, 1, 1], [4, 4, 1]]]))
    <Draws: 4 draws of 3 items, 1 to 2 clusters, 2 chains>
    >>> pt.as_draws([["a", "b", "a"], ["x", "x", "x"]]).labels
    array([[0, 1, 0],
           [0, 0, 0]], dtype=uint8)
    >>> pt.as_draws([[0, 0, -1, -1]], noise=(-1, "singletons")).labels
    array([[0, 0, 1, 2]], dtype=uint8)
    >>> pt.as_draws([[0, 0, 1], [0, 1, 1]], kind="ensemble")
    <Draws: 2 runs of 3 items, 2 clusters each>
    """
    fields: dict[str, Any] = {"weights": weights, "chain": chain, "item_names": item_names}
    fields["kind"] = kind
    check.boolean(transpose, "transpose")
    check.text_or_none(var_name, "var_name")
    if noise is not None:
        if hasattr(type(obj), "__draws__"):
            raise InvalidInputError(
                f"noise={noise!r} was given for a {type(obj).__name__}, whose labels are "
                "numbered already; give it where the labels are first read.",
                argument="noise",
            )
        with reading_noise(noise):
            return as_draws(obj, var_name=var_name, transpose=transpose, **fields)
    found = obj.__draws__() if hasattr(type(obj), "__draws__") else obj  # type: ignore[union-attr]
    if is_features(found):
        raise NotSupportedError(
            f"a {type(obj).__name__} holds draws of feature allocations, in which an item may be "
            "in several features or in none; this question is defined for partitions only. "
            "estimate, price_path, credible_ball, representatives, p_value, modes, diagnose, "
            "similarity, item_uncertainty and summarize take them.",
            argument="draws",
        )
    if isinstance(found, Draws):
        return with_fields(found, **fields)
    if hasattr(type(obj), "__labels__"):
        raise InvalidLabelsError(
            f"a {type(obj).__name__} was given, which is one partition; expected draws. Pass what "
            "it was made from."
        )
    if not isinstance(obj, (np.ndarray, list, tuple)):
        # Files, tables and named arrays are read in partita.io.
        foreign = import_module("partita.io.read")
        found = foreign.draws_from(obj, var_name=var_name, transpose=transpose)
        return with_fields(found, **fields)
    check.refuse_var_name(var_name, f"a {type(obj).__name__}")
    _refuse_ambiguous_binary_array(obj)
    return draws_from_array(obj, transpose=transpose, **fields)


def _refuse_ambiguous_binary_array(obj: Any) -> None:
    """Refuse zeros and ones in three dimensions: labels of two clusters, or memberships?"""
    values = check.plain_array(obj, "draws")
    if values.ndim != 3 or not values.size or values.dtype.kind not in "biuf":
        return
    if ((values == 0) | (values == 1)).all() and values.any():
        n_chains, n_draws, n_items = values.shape
        raise InvalidInputError(
            f"an array of shape {values.shape} with zeros and ones only may hold labels of two "
            "clusters (chain, draw, item) or memberships in features (draw, item, feature). For "
            f"labels call pt.Draws(array.reshape(-1, {n_items}), "
            f"chain=np.repeat(range({n_chains}), {n_draws})); for features pt.FeatureDraws(array)."
        )


def is_features(obj: object) -> bool:
    """Whether something holds draws of feature allocations, by its type alone."""
    return hasattr(type(obj), "__features__")


def any_draws(obj: DrawsLike) -> AnyDraws:
    """Return feature draws from objects that hold them, otherwise draws of partitions."""
    if is_features(obj):
        return obj.__features__()  # type: ignore[union-attr]
    return as_draws(obj)


def as_partitions(obj: LabelsLike, argument: str) -> Draws:
    """Draws from whatever holds draws or a single partition, which becomes one draw."""
    with about(argument, "draws", "labels"):
        if isinstance(obj, (list, tuple)):
            obj = check.plain_array(obj, argument)
        only_labels = hasattr(type(obj), "__labels__") and not hasattr(type(obj), "__draws__")
        empty = isinstance(obj, np.ndarray) and 0 in obj.shape
        if only_labels or empty or check.is_vector(obj):
            return Draws(as_label_rows(obj, argument=argument))
        return as_draws(obj)  # type: ignore[arg-type]


def draws_from_array(obj: Any, *, transpose: bool = False, **fields: Any) -> Draws:
    """Draws from (draw, item) or (chain, draw, item) labels; see ``as_draws``."""
    values = check.plain_array(obj, "draws")
    _storage.refuse_axes(values.shape)
    if transpose:
        values = values.swapaxes(-1, -2)
    if fields.get("kind") is None:
        fields["kind"] = "posterior"
    if values.ndim == 2:
        return Draws(values, **fields)
    if fields.get("chain") is not None:
        raise InvalidInputError(
            f"chain=... was given for labels of shape {values.shape}, whose first axis is the "
            "chain already.",
            argument="chain",
        )
    n_chains, n_draws, n_items = values.shape
    if fields["kind"] != "ensemble":
        fields["chain"] = np.repeat(np.arange(n_chains), n_draws)
    if fields.get("weights") is not None:
        fields["weights"] = np.ravel(fields["weights"])
    if values.flags.c_contiguous or not values.size:
        return Draws(values.reshape(n_chains * n_draws, n_items), **fields)
    # Chain by chain: flattening would copy the labels whole, in their own dtype.
    joined = Draws.concat([Draws(one) for one in values])
    return with_fields(joined, **fields)


def with_fields(draws: Draws, **fields: Any) -> Draws:
    """The draws with the given fields replaced, None keeping one; an ensemble loses its chains."""
    given = {name: value for name, value in fields.items() if value is not None}
    if given.get("kind") == "ensemble":
        given.setdefault("chain", None)
    return draws._with(**given) if given else draws
