"""What is read back from a file is checked like a user's input, before a kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from partita.errors import PartitaError
from partita.partitions.draws import Draws

_LABELS = frozenset({"labels", "center", "ties", "estimate"})
"""Fields that hold one label per item, in the last dimension."""


def check_draws(entries: dict[str, Any]) -> None:
    """Raise ValueError unless these are the parts of Draws, canonical labels and all."""
    labels, counts, weights = entries["_labels"], entries["_n_clusters"], entries["_weights"]
    try:
        again = Draws(
            labels, weights=weights, chain=entries["_chain"], item_names=entries["_item_names"]
        )
    except PartitaError as error:
        raise ValueError(f"its draws cannot be used ({error})") from None
    same = np.array_equal(again.labels, labels) and again.labels.dtype == labels.dtype
    if not same or not np.array_equal(again.n_clusters, counts):
        raise ValueError("its draws are not canonical, or their numbers of clusters are wrong")
    # Equal up to the last bit: cleaning scales weights that sum to 1 only up to rounding.
    if weights is not None and not np.allclose(again.probabilities, weights, rtol=1e-12, atol=0):
        raise ValueError("the weights of its draws do not sum to 1")


def check_parts(summary: Any) -> None:
    """Raise ValueError unless every label of every part is one of its draws' items' labels."""
    n_items = summary.draws.n_items
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("summary", summary)]
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen or isinstance(value, Draws):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if name in _LABELS:
                _check_labels(name, value, n_items)
        elif is_dataclass(value) and not isinstance(value, type):
            waiting += [(each.name, getattr(value, each.name)) for each in fields(value)]
        elif isinstance(value, Mapping):
            waiting += list(value.items())
        elif isinstance(value, (tuple, list)):
            waiting += [(name, each) for each in value]


def _check_labels(name: str, labels: np.ndarray[Any, Any], n_items: int) -> None:
    if labels.dtype.kind not in "iu" or labels.ndim < 1 or labels.shape[-1] != n_items:
        raise ValueError(f"its {name} are no labels of {n_items} items")
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < n_items:
        raise ValueError(f"its {name} go from {labels.min()} to {labels.max()}")
