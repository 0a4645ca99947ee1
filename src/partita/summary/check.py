"""What is read back from a file is checked like a user's input, before a kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from partita._text import KINDS
from partita.draws import Draws
from partita.errors import PartitaError

_LABELS = frozenset({"labels", "center", "ties", "estimate"})
"""Fields that hold one label per item, in the last dimension."""


def check_draws(entries: dict[str, Any]) -> None:
    """Raise ValueError unless these are the parts of Draws, canonical labels and all."""
    labels, counts, weights = entries["_labels"], entries["_n_clusters"], entries["_weights"]
    try:
        again = Draws(
            labels,
            weights=weights,
            chain=entries["_chain"],
            item_names=entries["_item_names"],
            kind=entries["_kind"],
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
            for each in fields(value):
                _check_kind(
                    f"{type(value).__name__}.{each.name}", each.type, getattr(value, each.name)
                )
            waiting += [(each.name, getattr(value, each.name)) for each in fields(value)]
        elif isinstance(value, Mapping):
            waiting += list(value.items())
        elif isinstance(value, (tuple, list)):
            waiting += [(name, each) for each in value]


def check_use(summary: Any) -> None:
    """Raise an error, of whatever kind, unless the summary can be shown and its ball asked."""
    str(summary), repr(summary), summary.to_dict()
    ball, n_draws = summary.ball, summary.draws.n_draws
    if ball.distances.shape != (n_draws,) or ball.inside.shape != (n_draws,):
        raise ValueError("its ball has not one distance for each draw")
    if not ball.contains(summary.labels):
        raise ValueError("its estimate lies outside of its ball")


_KINDS = {
    "NDArray[np.float64]": "iuf",
    "Floats": "iuf",
    "NDArray[np.int64]": "iu",
    "NDArray[np.int32]": "iu",
    "Labels": "iu",
    "NDArray[np.bool_]": "b",
}
_SCALARS = {"float": (int, float), "int": (int,), "str": (str,), "bool": (bool,)}


def _check_kind(name: str, declared: Any, value: Any) -> None:
    """Raise ValueError where a field of a simple type holds another."""
    wanted = str(declared)
    if value is None and wanted.endswith("| None"):
        return
    wanted = wanted.removesuffix(" | None")
    fits = True
    if wanted in _KINDS:
        fits = isinstance(value, np.ndarray) and value.dtype.kind in _KINDS[wanted]
    elif wanted in _SCALARS:
        fits = isinstance(value, _SCALARS[wanted]) and (
            wanted == "bool" or not isinstance(value, bool)
        )
    elif wanted == "Kind":
        fits = value in KINDS
    elif wanted == "tuple[str, ...]":
        fits = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    if not fits:
        raise ValueError(f"its {name} is a {type(value).__name__}, expected {wanted}")


def _check_labels(name: str, labels: np.ndarray[Any, Any], n_items: int) -> None:
    if labels.dtype.kind not in "iu" or labels.ndim < 1 or labels.shape[-1] != n_items:
        raise ValueError(f"its {name} are no labels of {n_items} items")
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < n_items:
        raise ValueError(f"its {name} go from {labels.min()} to {labels.max()}")
