"""Draws from a dask array, made canonical on the workers of a cluster and kept there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._dask import explained, in_order, met
from partita._optional import require
from partita.errors import InvalidLabelsError
from partita.io.collect import refuse_counting
from partita.partitions.arrays import plain_array
from partita.partitions.draws import Draws
from partita.partitions.noise import NoiseRule, reading_noise, rule_in_force, whole_labels
from partita.partitions.pieces import stores
from partita.partitions.remote import finish
from partita.partitions.remote_tasks import canonical_store

Counting = NDArray[np.int64]
"""Columns that rise by a step from draw to draw: number, value in the first of all draws, step."""


def draws_on_workers(
    array: Any, client: Any, *, item_names: Sequence[str] | None = None, **fields: Any
) -> Draws:
    """Draws from a dask array of shape (draw, item) whose chunks are of known size.

    Each store of draws is one task that depends on the array's own, so that Dask makes it again
    from the source where a worker dies. The driver sees the numbers of clusters and no label.
    """
    dask = require("dask", extra="dask", purpose="reading a dask array")
    met(client)
    shape = (int(array.shape[0]), int(array.shape[1]))
    if 0 in shape:
        raise InvalidLabelsError(
            f"the dask array has shape {shape}; at least one draw and one item are needed."
        )
    rule = rule_in_force()
    made = []
    for store in stores(*shape):
        rows = array[store].rechunk((store.stop - store.start, shape[1]))
        (values,) = rows.to_delayed().ravel()
        made.append(dask.delayed(_canonical)(values, store.start, rule))
    with explained(client):
        found = client.compute(made)
        counted = list(
            in_order(client, lambda one: client.submit(_counting, one, pure=False), found)
        )
        columns, start, step = _common(counted)
        refuse_counting(shape, columns, start, step, item_names)
        labels, n_clusters = finish(client, found, shape)
    return Draws._from_canonical(labels, n_clusters, item_names=item_names, **fields)


# ------------------------------------------------------------------ what runs on workers


def _canonical(values: Any, first: int, rule: NoiseRule | None) -> tuple[Any, ...]:
    with reading_noise(rule):
        whole = whole_labels(plain_array(values, "draws"), "draws", first_draw=first)
    return (*canonical_store(whole), _rising(whole, first))


def _rising(whole: NDArray[np.int64], first: int) -> Counting | None:
    """What counts within one store; None where it has too few draws to tell."""
    if len(whole) < 3:
        return None
    step = whole[1] - whole[0]
    columns = np.flatnonzero((step > 0) & (whole[2] - whole[1] == step))
    rows = np.arange(len(whole))[:, None]
    still = (whole[:, columns] == whole[0, columns] + step[columns] * rows).all(axis=0)
    columns = columns[still]
    return np.stack([columns, whole[0, columns] - first * step[columns], step[columns]], axis=1)


def _counting(made: tuple[Any, ...]) -> Counting | None:
    found: Counting | None = made[2]
    return found


def _common(counted: Sequence[Counting | None]) -> tuple[NDArray[np.int64], ...]:
    """The columns that count from the first store to the last, their first values and steps."""
    kinds = [set(map(tuple, one.tolist())) for one in counted if one is not None]
    common = np.array(sorted(set.intersection(*kinds)) if kinds else [], np.int64).reshape(-1, 3)
    return common[:, 0], common[:, 1], common[:, 2]
