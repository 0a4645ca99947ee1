"""Labels that say "noise", and what that means for a partition.

Density-based methods (DBSCAN, HDBSCAN) give −1 to items they leave out. A
partition places every item, so somebody has to say where those go; it is never
guessed. The rule is set for the time of one reading, and every place where labels
become canonical asks for it: readers of files need not know about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partita._validate import unexpected
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.kernels.arrays import Ints
from partita.partitions.arrays import integers

Meaning = Literal["singletons", "cluster"]

NoiseRule = tuple[Any, Meaning]
"""A label value, and what it means: "singletons" (each item alone) or "cluster" (one cluster)."""


@dataclass(frozen=True)
class _Noise:
    label: Any
    meaning: str


_RULE: ContextVar[_Noise | None] = ContextVar("noise", default=None)


@contextmanager
def reading_noise(noise: NoiseRule | None) -> Iterator[None]:
    """Labels read in this block follow the rule; without one an outer rule stays in force."""
    if noise is None:
        yield
        return
    token = _RULE.set(_clean(noise))
    try:
        yield
    finally:
        _RULE.reset(token)


def rule_in_force() -> NoiseRule | None:
    """The rule, for a worker elsewhere to read by."""
    rule = _RULE.get()
    return None if rule is None else (rule.label, rule.meaning)  # type: ignore[return-value]


def _clean(noise: Any) -> _Noise:
    pair = isinstance(noise, (tuple, list)) and len(noise) == 2
    if not pair or noise[1] not in ("singletons", "cluster"):
        raise unexpected(
            noise,
            "noise",
            "a label and what it means, as in (-1, 'singletons') "
            "(each such item is alone) or (-1, 'cluster') (they form one cluster)",
        )
    label = noise[0]
    number = isinstance(label, (int, float, np.integer, np.floating)) and label == label
    if not isinstance(label, str) and not (number and label % 1 == 0 and abs(label) < 2**63):
        raise unexpected(noise, "noise", "a whole number or text as the label of noise")
    return _Noise(label if isinstance(label, str) else int(label), noise[1])


def whole_labels(
    values: NDArray[Any], what: str = "labels", *, first_draw: int = 0
) -> NDArray[np.int64]:
    """Labels of any accepted kind as int64, noise placed as the rule in force says.

    Without a rule, −1 beside non-negative labels is refused.
    """
    if values.dtype == np.int64:
        # The kernels would compile anew for another memory order or a read-only array.
        numbers = np.require(values, np.int64, ["C", "W"])
    else:
        numbers = integers(values, what, first_draw=first_draw)
    rule = _RULE.get()
    if rule is None:
        _refuse_unexplained(values, numbers, what, first_draw)
        return numbers
    _refuse_other_kind(values, rule)
    if rule.meaning == "cluster":
        return numbers
    noisy = values == (rule.label.encode() if values.dtype.kind == "S" else rule.label)
    if not np.any(noisy):
        return numbers
    # Labels beyond all others, a different one for each item.
    beyond = int(numbers.max()) + 1 + np.arange(numbers.shape[-1])
    return np.where(noisy, beyond, numbers)


def _refuse_other_kind(values: NDArray[Any], rule: _Noise) -> None:
    """Text never equals a number: a rule for the other kind would be ignored."""
    kind = values.dtype.kind
    text = kind in "UST" or (kind == "O" and isinstance(values.flat[0], str))
    if values.size and text != isinstance(rule.label, str):
        came, are = ("a number", "text") if text else ("text", "numbers")
        example = (str(rule.label) if text else -1, rule.meaning)
        raise InvalidInputError(
            f"noise={(rule.label, rule.meaning)!r} names {came}, and the labels are {are}; "
            f"expected a label of their kind, as in noise={example!r}.",
            argument="noise",
        )


def _refuse_unexplained(values: NDArray[Any], numbers: Ints, what: str, first_draw: int) -> None:
    if values.dtype.kind not in "ifO" or not values.size:
        return
    if values.dtype.kind == "O":  # numbered by now, so ask the objects themselves
        noisy = np.array([type(v) is not str and v == -1 for v in values.flat]).reshape(
            values.shape
        )
        beside = noisy.any() and any(type(v) is not str and v >= 0 for v in values.flat)
    else:
        if int(numbers.min()) >= 0:
            return
        noisy = numbers == -1
        beside = noisy.any() and bool((numbers >= 0).any())
    if not beside:
        return
    at = [int(i[0]) for i in np.nonzero(noisy)]
    where = f"item {at[-1]}" if len(at) == 1 else f"draw {at[0] + first_draw}, item {at[-1]}"
    raise InvalidLabelsError(
        f"{what} hold −1 beside non-negative labels (first at {where}). DBSCAN and HDBSCAN mark "
        "noise so, but a partition must place every item: say what it means with "
        f"noise=(-1, 'singletons') (each such item is alone) or "
        f"noise=(-1, 'cluster') (they form one cluster). If −1 stands for "
        "items of which nothing is said, see PartialPartition."
    )
