"""Several draws of the same items as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import unexpected
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.partitions.draws_arrays import DrawsArrays, Stored
from partita.partitions.pieces import stores
from partita.partitions.remote import RemoteLabels
from partita.partitions.room import room_for


def joined(parts: Sequence[DrawsArrays]) -> dict[str, Any]:
    """Labels, numbers of clusters, weights and chains of all parts; see ``_from_canonical``."""
    if not isinstance(parts, (list, tuple)) or not parts:
        raise unexpected(parts, "parts", "a list of at least one Draws")
    first = parts[0]
    for part in parts[1:]:
        if part.n_items != first.n_items or part.item_names != first.item_names:
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
    return {
        "labels": _labels(parts, total),
        "counts": np.concatenate([part.n_clusters for part in parts]),
        "weights": weights,
        "chain": _chains(parts),
    }


def _labels(parts: Sequence[DrawsArrays], total: int) -> Stored:
    """All labels, where those of the parts are; in memory where some are there."""
    remote = [part.stored for part in parts if isinstance(part.stored, RemoteLabels)]
    if len(remote) == len(parts):
        return remote[0].followed_by(remote[1:])
    dtype = np.result_type(*[part.stored.dtype for part in parts])
    room = room_for(parts[0].n_items, total)
    for part in parts:
        for where in stores(part.n_draws, part.n_items):
            room.add(part.rows(where.start, where.stop), dtype)
    return room.finish()


def _chains(parts: Sequence[DrawsArrays]) -> NDArray[Any] | None:
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
