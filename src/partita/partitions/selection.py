"""Which draws and items are meant: by position, mask, name or chain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import positions, unexpected
from partita.errors import InvalidInputError


def positions_in_chain(chain: NDArray[Any] | None, n_draws: int) -> NDArray[np.int64]:
    """Number of each draw within its chain."""
    if chain is None:
        return np.arange(n_draws)
    position = np.empty(n_draws, np.int64)
    for name in np.unique(chain):
        mine = np.flatnonzero(chain == name)
        position[mine] = np.arange(mine.size)
    return position


def in_chains(chains: ArrayLike, chain: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Which draws belong to the named chains."""
    if chain is None:
        raise InvalidInputError(
            "these draws carry no chain ids; give chain=... when making Draws to select chains.",
            argument="chain",
        )
    wanted = positions(chains, "chains")
    known = np.unique(chain)
    if wanted.size == 0:
        raise InvalidInputError(
            f"no chains selected; give some of {known.tolist()}.", argument="chains"
        )
    unknown = [w for w in wanted.tolist() if w not in known.tolist()]
    if unknown:
        raise InvalidInputError(
            f"no chain {unknown[0]!r}; the chains are {known.tolist()}.", argument="chains"
        )
    return np.isin(chain, wanted)


def systematic(
    probabilities: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of a systematic sample, in order; a heavy draw may come several times."""
    edges = np.cumsum(probabilities)
    points = (np.arange(size) + rng.random()) / size * edges[-1]
    index: NDArray[np.int64] = np.searchsorted(edges, points)
    return np.minimum(index, probabilities.size - 1)


def item_positions(
    items: ArrayLike, n_items: int, names: tuple[str, ...] | None
) -> NDArray[np.int64]:
    """Positions of items given by position, mask or name; each may appear once."""
    wanted = positions(items, "items")
    if wanted.dtype.kind in "UO":
        if names is None:
            raise InvalidInputError(
                "items were given by name, but these draws carry no item names.", argument="items"
            )
        position = {name: i for i, name in enumerate(names)}
        unknown = [name for name in wanted.tolist() if name not in position]
        if unknown:
            raise InvalidInputError(
                f"no item named {unknown[0]!r} in these draws.", argument="items"
            )
        columns = np.array([position[name] for name in wanted.tolist()], np.int64)
    elif wanted.dtype.kind == "b":
        if wanted.size != n_items:
            raise InvalidInputError(
                f"the mask of items has length {wanted.size}; expected {n_items}.", argument="items"
            )
        columns = np.flatnonzero(wanted).astype(np.int64)
    elif wanted.size and wanted.dtype.kind not in "iu":
        raise unexpected(items, "items", "positions, a mask or names")
    else:
        columns = wanted.astype(np.int64)
        if columns.size and (columns.min() < -n_items or columns.max() >= n_items):
            raise InvalidInputError(
                f"item positions must lie in 0 … {n_items - 1}, got {wanted.tolist()[:5]}.",
                argument="items",
            )
        columns %= n_items
    if columns.size == 0:
        raise InvalidInputError("no items selected; at least one is needed.", argument="items")
    if np.unique(columns).size != columns.size:
        raise InvalidInputError(
            "an item is selected twice; each item can appear once.", argument="items"
        )
    return columns
