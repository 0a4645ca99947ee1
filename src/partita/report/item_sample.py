"""A report on very many items shows some of them: its pictures and tables stay quick and small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.plots._similarity import SimilarityMap

if TYPE_CHECKING:
    from partita.report.prepare import Content

MOST_ITEMS = 20_000
"""Items up to which all are shown."""

LEAST_CERTAIN, AT_RANDOM = 1_000, 9_000
"""Of more items: how many of the least certain are shown, and how many others."""

Items = NDArray[np.int64]


def with_fewer_items(content: Content) -> Content:
    """The same content, of very many items with a part of them, and a note that says so."""
    n = content.heat.n_items
    if n <= MOST_ITEMS:
        return content
    items = _chosen(content.heat, content.item_columns["probability"])
    note = (
        f"Shown are {items.size:,} of {n:,} items: the {LEAST_CERTAIN:,} least certain, and others "
        "at random from every part of the heat map. Numbers in the text, sizes of clusters and "
        "the heat map are about all items. summary.labels holds the labels of all."
    )
    names, place, held = content.item_names, content.place, content.holds
    return replace(
        content,
        item_numbers=items,
        item_note=note,
        shown=replace(content.shown, labels=tuple(row[items] for row in content.shown.labels)),
        heat_items=_places(content.heat, items),
        place=None if place is None else replace(place, x=place.x[items], y=place.y[items]),
        item_names=None if names is None else tuple(names[i] for i in items.tolist()),
        item_columns={name: column[items] for name, column in content.item_columns.items()},
        holds=None
        if held is None
        else replace(
            held,
            levels=tuple(replace(level, items=_among(level.items, items)) for level in held.levels),
        ),
        rival_items=tuple(
            replace(rival, moved=_among(rival.moved, items)) for rival in content.rival_items
        ),
    )


def _chosen(heat: SimilarityMap, probability: NDArray[np.floating]) -> Items:
    """The least certain items, and as many others of each cell of the heat map."""
    rng = np.random.default_rng(0)
    n_cells = heat.edges.size - 1
    cell = np.repeat(np.arange(n_cells), np.diff(heat.edges))
    order = rng.permutation(heat.n_items)
    by_cell = order[np.argsort(cell[order], kind="stable")]
    rank = np.arange(heat.n_items) - heat.edges[cell]
    others = heat.order[by_cell[rank < max(1, AT_RANDOM // n_cells)]]
    doubtful = np.argsort(probability, kind="stable")[:LEAST_CERTAIN]
    return np.union1d(others, doubtful)


def _places(heat: SimilarityMap, items: Items) -> tuple[Items, Items]:
    """The items shown from top to bottom, by their places among themselves; where cells begin."""
    is_shown = np.zeros(heat.n_items, np.bool_)
    is_shown[items] = True
    there = is_shown[heat.order]
    before = np.concatenate(([0], np.cumsum(there)))
    return np.searchsorted(items, heat.order[there]), before[heat.edges]


def _among(some: Items, items: Items) -> Items:
    """Places among the items shown of those that are."""
    return np.searchsorted(items, np.intersect1d(some, items))
