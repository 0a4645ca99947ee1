"""What becomes of labels, weights, chains and names before they are Draws.

Each function returns the cleaned value, or raises an error that says what
came, what was expected and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import choice, texts
from partita._vocabulary import KINDS, Kind
from partita.errors import InvalidInputError, InvalidLabelsError, InvalidWeightsError, about
from partita.kernels.arrays import Ints
from partita.partitions.arrays import first_appearance, plain_array
from partita.partitions.noise import rule_in_force, whole_labels
from partita.partitions.room import room_for

BLOCK_LABELS = 1 << 22
"""Labels converted at a time, so that no temporary grows with the number of draws."""


def smallest_unsigned(highest: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned dtype that holds labels 0 … highest."""
    return np.min_scalar_type(highest)


def refuse_what_holds_draws(obj: object) -> None:
    """An array has no weights, chains or names to lose; what may have some goes by as_draws."""
    kind = type(obj)
    if hasattr(kind, "__draws__") or isinstance(obj, (str, os.PathLike)):
        raise InvalidLabelsError(
            f"a {kind.__name__} was given; Draws are made of an array of labels, shape (n_draws, "
            "n_items). as_draws takes files and whatever holds draws."
        )
    if hasattr(kind, "__labels__"):
        raise InvalidLabelsError(
            f"a {kind.__name__} was given, which is one partition; expected an array of labels, "
            "shape (n_draws, n_items)."
        )


def table_of_draws(values: NDArray[Any]) -> NDArray[Any]:
    """Labels of at least one draw and one item."""
    if values.ndim == 1 and values.size:
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (n_draws, n_items). "
            "For a single draw, pass labels[None, :]."
        )
    if values.ndim != 2:
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (n_draws, n_items). "
            "Use as_draws for (chain, draw, item) arrays."
        )
    if values.shape[0] == 0:
        raise InvalidLabelsError("there are no draws; at least one row is needed.")
    if values.shape[1] == 0:
        raise InvalidLabelsError("there are no items; at least one column is needed.")
    return values


def canonicalise(
    values: NDArray[Any], columns: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.int64]]:
    """Canonical labels in the smallest dtype, and each draw's number of clusters.

    Of all items, or of some ``columns``, which are picked block by block.
    """
    n_draws, n_items = values.shape[0], values.shape[1] if columns is None else columns.size
    room = room_for(n_items, n_draws)
    counts = np.empty(n_draws, np.int64)
    step = max(1, BLOCK_LABELS // n_items)
    for start in range(0, n_draws, step):
        stop = min(start + step, n_draws)
        block = np.empty((stop - start, n_items), np.int32)
        counts[start:stop] = first_appearance(  # no name for the whole labels: one block at a time
            whole_labels(_picked(values[start:stop], columns), "draws", first_draw=start), block
        )
        room.add(block, smallest_unsigned(int(counts[start:stop].max()) - 1))
    return room.finish(), counts


def canonical_counts(values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Each draw's number of clusters, if the labels are those that ``canonicalise`` would make.

    None where they are not, or would be read by a rule for noise.
    """
    plain = values.ndim == 2 and values.dtype.kind == "u" and values.flags.c_contiguous
    if not plain or not values.size or rule_in_force() is not None:
        return None
    n_draws, n_items = values.shape
    counts = np.empty(n_draws, np.int64)
    step = max(1, BLOCK_LABELS // n_items)
    for start in range(0, n_draws, step):
        rows = values[start : start + step]
        block = np.empty(rows.shape, np.int32)
        counts[start : start + step] = first_appearance(rows.astype(np.int64), block)
        if not np.array_equal(rows, block):
            return None
    return counts if smallest_unsigned(int(counts.max()) - 1) == values.dtype else None


def _picked(values: NDArray[Any], columns: Ints | None) -> NDArray[Any]:
    return values if columns is None else values[:, columns]


def clean_weights(weights: ArrayLike, n_draws: int) -> NDArray[np.float64]:
    """Positive weights that sum to 1."""
    try:
        values = np.array(plain_array(weights, "weights", InvalidWeightsError), np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidWeightsError):
            raise
        raise InvalidWeightsError("weights must be numbers, one per draw.") from None
    if values.shape != (n_draws,):
        raise InvalidWeightsError(
            f"weights have shape {values.shape}; expected one per draw, shape ({n_draws},)."
        )
    if not np.isfinite(values).all():
        where = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidWeightsError(f"weights[{where}] is {values[where]}; weights must be finite.")
    if not values.any():
        raise InvalidWeightsError("all weights are zero; at least one draw must count.")
    if (values <= 0).any():
        where = int(np.flatnonzero(values <= 0)[0])
        kind = "negative" if values[where] < 0 else "zero"
        raise InvalidWeightsError(
            f"weights[{where}] is {kind} ({values[where]}); weights must be positive. "
            "Remove draws that should not count."
        )
    # Weights that sum to 1 already are kept bit by bit, so that stored draws come back equal.
    if values.max() <= 1.0 and abs(values.sum() - 1.0) < 1e-12:
        return values
    with np.errstate(over="ignore"):
        total = values.sum()
    if not np.isfinite(total):  # the sum of large weights is beyond the largest float
        values = values / values.max()
        total = values.sum()
    shares = np.asarray(values / total)
    if not shares.all():
        where = int(np.flatnonzero(shares == 0)[0])
        raise InvalidWeightsError(
            f"weights[{where}] is {values[where]}, too small beside the largest "
            f"({values.max()}) to count at all. Remove draws that should not count."
        )
    return shares


def clean_chain(chain: ArrayLike, n_draws: int) -> NDArray[Any]:
    """One chain id per draw."""
    with about("chain"):
        values = np.array(plain_array(chain, "chain", InvalidInputError))
        if values.dtype.kind == "O" and values.size:
            values = np.array(values.tolist()) if values.ndim == 1 else values
    if values.shape != (n_draws,):
        raise InvalidInputError(
            f"chain has shape {values.shape}; expected one id per draw, shape ({n_draws},).",
            argument="chain",
        )
    if values.dtype.kind not in "iuU":
        raise InvalidInputError(
            f"chain ids have dtype {values.dtype}; expected integers or strings.", argument="chain"
        )
    return values


def clean_kind(kind: Kind, chain: object) -> Kind:
    """Draws of a posterior, or runs of an ensemble, which are in no chain."""
    cleaned = choice(kind, "kind", KINDS)
    if cleaned == "ensemble" and chain is not None:
        raise InvalidInputError(
            "chain=... was given with kind='ensemble': runs of an ensemble are in no chains. Leave "
            "chain out, or declare draws of a posterior with kind='posterior'.",
            argument="chain",
        )
    return cleaned


def clean_names(names: Sequence[str], n_items: int) -> tuple[str, ...]:
    """One unique name per item."""
    cleaned = texts(names, "item_names")
    if len(cleaned) != n_items:
        raise InvalidInputError(
            f"{len(cleaned)} item names were given for {n_items} items; expected one per item.",
            argument="item_names",
        )
    if len(set(cleaned)) != n_items:
        twice = next(name for name in cleaned if cleaned.count(name) > 1)
        raise InvalidInputError(
            f"item name {twice!r} appears twice; names must be unique.", argument="item_names"
        )
    return cleaned
