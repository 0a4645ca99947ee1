"""The difference of two partitions: clusters that merge or split, items that move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from partita._result import Page, Result
from partita._validate import integer, strings
from partita._wording import counted, in_list, share
from partita.kernels.arrays import Floats, Ints
from partita.labels import (
    Labels,
    LabelsLike,
    as_labels,
    by_size,
    data_frame,
)
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["merge", "split", "move"]

_BLOCK_LABELS = 1 << 22
"""Labels of the partitions that are compared at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Change(Result):
    """One difference of two partitions: items that go from one cluster to another.

    Attributes
    ----------
    kind : "merge", "split" or "move"
        A whole cluster joins another; items leave as a whole new cluster; a part moves.
    items : ndarray of int64
        Positions of the items that go.
    origin : int
        Cluster of a that they leave, numbered by size.
    target : int or None
        Cluster of a that they join; None for a cluster that is new.
    share : float
        Share of the distance that goes when this change alone is undone; shares sum to 1.
    """

    kind: Kind
    items: NDArray[np.int64]
    origin: int
    target: int | None
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """The changes that turn partition a into partition b. Made by :func:`explain`.

    Attributes
    ----------
    changes : tuple of Change
        Largest share of the distance first.
    distance : float
    loss : Loss
    labels : ndarray of int32, shape (n_items,)
        Partition a, clusters numbered by size, as ``origin`` and ``target`` name them.
    item_names : tuple of str, or None

    Examples
    --------
    >>> import partita as pt
    >>> print(pt.explain([0, 0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 1, 0, 2]))
    item 5 moves from cluster 1 to cluster 0 (all of 0.801 bits)
    """

    changes: tuple[Change, ...]
    distance: float
    loss: Loss
    labels: Labels
    item_names: tuple[str, ...] | None

    @property
    def n_moved(self) -> int:
        """Number of items that move."""
        return sum(change.items.size for change in self.changes)

    def in_words(self, most: int = 3) -> str:
        """The largest changes in one sentence."""
        most = integer(most, "most")
        if not self.changes:
            return "they are the same partition"
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        if len(self.changes) == 1:
            return f"{self._said(self.changes[0])} (all of {self.distance:.3g}{unit})"
        told = [f"{self._said(c)} ({share(c.share)})" for c in self.changes[:most]]
        left = self.changes[most:]
        if left:
            rest = counted(len(left), "smaller change")
            told.append(f"{rest} ({share(sum(c.share for c in left))})")
        return f"{'; '.join(told)}; {self.distance:.3g}{unit} in all"

    def _said(self, change: Change) -> str:
        what = self._items(change.items)
        one = change.items.size == 1
        if change.kind == "merge":
            return f"cluster {change.origin} ({what}) joins cluster {change.target}"
        if change.kind == "split":
            alone = "is alone" if one else "form a cluster of their own"
            verb = "leaves" if one else "leave"
            return f"{what} {verb} cluster {change.origin} and {alone}"
        where = "a new cluster" if change.target is None else f"cluster {change.target}"
        return f"{what} {'moves' if one else 'move'} from cluster {change.origin} to {where}"

    def _items(self, items: Ints) -> str:
        names = [str(i) if self.item_names is None else self.item_names[i] for i in items[:6]]
        if items.size == 1:
            return f"item {names[0]}"
        if items.size <= 6:
            return f"items {in_list(names)}"
        return f"{items.size:,} items ({', '.join(names[:4])}, …)"

    def to_frame(self) -> pd.DataFrame:
        """One row per change."""
        columns = {
            "kind": [c.kind for c in self.changes],
            "n_items": [c.items.size for c in self.changes],
            "origin": [c.origin for c in self.changes],
            "target": [c.target for c in self.changes],
            "share": [c.share for c in self.changes],
            "items": [c.items.tolist() for c in self.changes],
        }
        return data_frame(columns, of="changes")

    def __repr__(self) -> str:
        changes, items = counted(len(self.changes), "change"), counted(self.n_moved, "item")
        return f"<Explanation: {changes}, {items}, distance {self.distance:.4g}>"

    def __str__(self) -> str:
        return self.in_words(most=12)

    def _page(self) -> Page:
        notes = [f"{self._said(c)} ({share(c.share)})" for c in self.changes[:12]]
        return Page(f"distance {self.distance:.4g}", notes=notes)


def explain(
    a: LabelsLike,
    b: LabelsLike,
    *,
    loss: str | Loss = "vi",
    item_names: Sequence[str] | None = None,
) -> Explanation:
    """Explain how partition b differs from a: merges, splits and moves, the heaviest first.

    Clusters of a and b are matched so that as many items as possible stay.
    Each block of items that does not stay is one change: a whole cluster that
    joins another, a block that becomes a cluster, or a part that moves. A
    change's share is how much nearer b comes to a when this change alone is
    undone, over the sum for all changes.

    Parameters
    ----------
    a, b : label vectors, estimates or summaries of the same items
    loss : str or Loss, default "vi"
        The distance that is explained.
    item_names : sequence of str, optional
        Names of the items, for the words; positions otherwise.

    Returns
    -------
    Explanation
        ``print`` it for a sentence; ``.changes`` has the data.

    Notes
    -----
    One assignment of clusters that share items, and O(N + K_a K_b) for each change.

    References
    ----------
    Kuhn, H. W. (1955), The Hungarian method for the assignment problem. Naval
    Research Logistics Quarterly 2.

    Examples
    --------
    >>> import partita as pt
    >>> told = pt.explain([0, 0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1, 0, 0])
    >>> print(told)
    cluster 2 (items 7 and 8) joins cluster 0 (all of 0.612 bits)
    >>> told.changes[0].kind, told.changes[0].items
    ('merge', array([7, 8]))
    """
    measure = as_loss(loss)
    first = by_size(as_labels(a, argument="a"))
    second = by_size(as_labels(b, n_items=first.size, argument="b"))
    names = None if item_names is None else strings(item_names, "item_names")
    return explain_canonical(first, second, measure, names)


def explain_canonical(
    first: Labels, second: Labels, measure: Loss, names: tuple[str, ...] | None
) -> Explanation:
    """Explain canonical labels numbered by size, without validation."""
    against = measure.against(first.size)
    distance = float(against(first, second[None, :], np.array([int(second.max()) + 1]))[0])
    mate = _match_clusters(first, second)
    blocks = list(_blocks(first, second, mate))
    left = _shares_of_distance(first, second, mate, blocks, against, distance)
    found = [
        (*_change(first, second, mate, block), float(share))
        for block, share in zip(blocks, left, strict=True)
    ]
    found.sort(key=lambda c: (-c[-1], int(c[1][0])))
    changes = [Change(*change) for change in found]
    return Explanation(tuple(changes), distance, measure, first, names)


def _match_clusters(a: Labels, b: Labels) -> Ints:
    """The cluster of b that keeps most of each cluster of a, one to one; −1 for none."""
    from partita.kernels.uncertainty import match_rows

    k = int(a.max()) + 1
    (match,), _ = match_rows(a, k, b[None, :], np.array([int(b.max()) + 1]))
    mate = np.full(k, -1, np.int64)
    kept = np.flatnonzero(match >= 0)
    mate[match[kept]] = kept
    return mate


def _blocks(a: Labels, b: Labels, mate: Ints) -> Iterator[Ints]:
    """Items that do not stay, by the pair of clusters they go between."""
    gone = np.flatnonzero(mate[a] != b)
    pair = a[gone].astype(np.int64) * (int(b.max()) + 1) + b[gone]
    order = np.argsort(pair, kind="stable")
    edges = np.flatnonzero(np.diff(pair[order])) + 1
    return (block for block in np.split(gone[order], edges) if block.size)


def _shares_of_distance(
    a: Labels,
    b: Labels,
    mate: Ints,
    blocks: list[Ints],
    against: Callable[[Labels, Labels, Ints], Floats],
    distance: float,
) -> Floats:
    """Share of the distance that each change is worth: what undoing it alone saves."""
    saved = np.zeros(len(blocks))
    step = max(1, _BLOCK_LABELS // a.size)
    for start in range(0, len(blocks), step):
        some = blocks[start : start + step]
        back = np.repeat(b[None, :], len(some), axis=0)
        for row, block in zip(back, some, strict=True):
            home = int(mate[a[block[0]]])
            row[block] = home if home >= 0 else int(b.max()) + 1
        counts = back.max(axis=1).astype(np.int64) + 1
        saved[start : start + len(some)] = distance - against(a, back, counts)
    saved = np.maximum(saved, 0.0)
    if len(blocks) and saved.sum() <= 0.0:
        saved = np.array([float(block.size) for block in blocks])
    return saved / saved.sum() if len(blocks) else saved


def _change(a: Labels, b: Labels, mate: Ints, items: Ints) -> tuple[Kind, Ints, int, int | None]:
    """Kind, items, origin and target of a change."""
    origin, there = int(a[items[0]]), int(b[items[0]])
    takers = np.flatnonzero(mate == there)
    target = int(takers[0]) if takers.size else None
    kind: Kind = "move"
    if items.size == int((a == origin).sum()) and target is not None:
        kind = "merge"
    elif items.size == int((b == there).sum()):
        kind = "split"
    return kind, items, origin, target
