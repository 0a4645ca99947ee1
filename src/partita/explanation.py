"""The difference of two partitions: clusters that merge or split, items that move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Literal

import numpy as np

from partita._result import Page, Result
from partita._validate import integer, strings
from partita._wording import counted, in_list, share
from partita.kernels.arrays import Ints
from partita.labels import Labels, LabelsLike, as_labels, by_size, data_frame, names_of_items
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
    items: Ints
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
        return self._in_words(integer(most, "most"))

    def _in_words(self, most: int = 3) -> str:
        if not self.changes:
            return "they are the same partition"
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        if len(self.changes) == 1:
            return f"{self._said(self.changes[0])} (all of {self.distance:.3g}{unit})"
        told = [self._said(change) for change in self.changes[:most]]
        shares = [change.share for change in self.changes]
        if len(shares) > most:
            told.append(counted(len(shares) - most, "smaller change"))
            shares[most:] = [sum(shares[most:])]
        parts = zip(told, map(share, shares), strict=True)
        listed = "; ".join([f"{text} ({part})" for text, part in parts])
        return f"{listed}; {self.distance:.3g}{unit} in all"

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
        return self._in_words(most=12)

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
    second = by_size(as_labels(b, n_items=first.size, names=names_of_items(a), argument="b"))
    names = None if item_names is None else strings(item_names, "item_names")
    return explain_all(first, second[None, :], measure, names)[0]


def explain_all(
    first: Labels, others: Labels, measure: Loss, names: tuple[str, ...] | None
) -> list[Explanation]:
    """Explain each row of others against first: labels numbered by size, without validation."""
    counts = others.max(axis=1).astype(np.int64) + 1
    against = measure.against(first.size)
    distances = against(first, others, counts)
    mates = _match_clusters(first, others, counts)
    blocks = [
        (r, block)
        for r, other in enumerate(others)
        for block in _blocks(first, other, mates[r], int(counts[r]))
    ]
    row_of = np.array([r for r, _ in blocks], np.int64)
    saved = np.zeros(len(blocks))
    step = max(1, _BLOCK_LABELS // first.size)
    for start in range(0, len(blocks), step):
        some = slice(start, start + step)
        back = others[row_of[some]]
        for row, (r, block) in zip(back, blocks[some], strict=True):
            home = int(mates[r][first[block[0]]])
            row[block] = home if home >= 0 else counts[r]
        left = against(first, back, back.max(axis=1).astype(np.int64) + 1)
        saved[some] = np.maximum(distances[row_of[some]] - left, 0.0)
    found = []
    for r, other in enumerate(others):
        own = np.flatnonzero(row_of == r)
        worth = saved[own]
        if own.size and worth.sum() <= 0.0:
            worth = np.array([float(blocks[j][1].size) for j in own])
        shares = (worth / worth.sum()).tolist() if own.size else []
        told = [
            (*_change(first, other, mates[r], blocks[j][1]), share)
            for j, share in zip(own, shares, strict=True)
        ]
        told.sort(key=lambda c: (-c[-1], int(c[1][0])))
        found.append((told, float(distances[r])))
    return [
        Explanation(tuple(starmap(Change, told)), distance, measure, first, names)
        for told, distance in found
    ]


def _match_clusters(a: Labels, rows: Labels, counts: Ints) -> Ints:
    """For each row, its cluster that keeps most of each cluster of a, one to one; −1 for none."""
    from partita.kernels.uncertainty import match_rows

    k = int(a.max()) + 1
    matches, _ = match_rows(a, k, rows, counts)
    mates = np.full((len(rows), k), -1, np.int64)
    for mate, match, count in zip(mates, matches, counts.tolist(), strict=True):
        kept = np.flatnonzero(match[:count] >= 0)
        mate[match[kept]] = kept
    return mates


def _blocks(a: Labels, b: Labels, mate: Ints, k: int) -> list[Ints]:
    """Items that do not stay, by the pair of clusters they go between; b has k clusters."""
    gone = np.flatnonzero(mate[a] != b)
    pair = a[gone].astype(np.int64) * k + b[gone]
    order = np.argsort(pair, kind="stable")
    edges = np.flatnonzero(np.diff(pair[order])) + 1
    return [block for block in np.split(gone[order], edges) if block.size]


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
