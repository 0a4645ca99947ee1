"""Where draws are cut: by their number and length alone, so that sums never depend on who adds.

Three sizes, each a union of the one before: *pieces*, of which a pass sees one at
a time; *stores*, which lie together wherever the draws live, so that no piece
has to be joined from two places; and *groups* of pieces, whose sums are added up
where they arise before they travel.
"""

from __future__ import annotations

_MOST_DRAWS, _MOST_LABELS = 2_048, 1 << 22
"""Draws and labels of a usual piece: enough to be worth a task, small enough to convert."""

_PIECES = 4
"""Usual pieces of one store."""

_GROUPS = 32
"""Groups at the most: each sum that travels may be as large as the answer."""


def usual_rows(n_items: int) -> int:
    """Draws of a usual piece."""
    return max(1, min(_MOST_DRAWS, _MOST_LABELS // n_items))


def store_rows(n_items: int) -> int:
    """Draws of a store."""
    return _PIECES * usual_rows(n_items)


def stores(n_draws: int, n_items: int) -> list[slice]:
    """Draws that lie together."""
    return _cut(0, n_draws, store_rows(n_items))


def pieces(n_draws: int, n_items: int, rows: int | None = None) -> list[slice]:
    """Draws that a pass sees at a time: ``rows`` of them, or the usual number, within a store."""
    step = usual_rows(n_items) if rows is None else rows
    return [
        piece for store in stores(n_draws, n_items) for piece in _cut(store.start, store.stop, step)
    ]


def groups(n_draws: int, n_items: int, rows: int | None = None) -> list[list[slice]]:
    """Pieces in the groups whose sums are made first; every group is one piece where few are."""
    work = pieces(n_draws, n_items, rows)
    if len(work) <= _GROUPS:
        return [[piece] for piece in work]
    where = stores(n_draws, n_items)
    if len(where) >= _GROUPS:
        together = -(-len(where) // _GROUPS)
        ends = [s.stop for s in where[together - 1 : -1 : together]]
    else:
        ends = []
        for store in where:
            mine = [p.stop for p in work if store.start < p.stop <= store.stop]
            step = -(-len(mine) // (_GROUPS // len(where)))
            ends += [*mine[step - 1 : -1 : step], store.stop]
        ends = ends[:-1]
    found: list[list[slice]] = [[]]
    for piece in work:
        found[-1].append(piece)
        if len(found) <= len(ends) and piece.stop == ends[len(found) - 1]:
            found.append([])
    return found


def _cut(start: int, stop: int, step: int) -> list[slice]:
    return [slice(at, min(at + step, stop)) for at in range(start, stop, step)]
