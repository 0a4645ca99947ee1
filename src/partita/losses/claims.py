"""What a loss claims about itself, checked on all partitions of a few items."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from partita.errors import InvalidInputError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.losses.base import Loss
from partita.partitions.draws import Draws
from partita.partitions.enumeration import all_partitions
from partita.partitions.labels import Labels

CHECKED_ITEMS = 6
"""Items of the partitions on which claims are checked: 203 partitions."""

FEW_ITEMS = 4
"""Items where nothing is claimed and each distance may be slow: 15 partitions."""

EXACT = 1e-9
"""Differences below this are rounding."""


def distance_table(loss: Loss, n_items: int) -> Floats:
    """Losses between all partitions, estimates by truths, without compiling anything."""
    rows = _partitions(n_items)
    form = loss.form(n_items)
    if form is None:
        truths = Draws(rows)
        return np.array([loss.distances(row, truths, n_jobs=1) for row in rows], np.float64)
    joint, own = _sums(loss.terms(n_items), n_items)
    plain = getattr(loss, "plain_form", loss.form)(n_items)
    pairs = product(range(len(rows)), repeat=2)
    values = [plain.combine(float(joint[e, t]), float(own[e]), float(own[t])) for e, t in pairs]
    return np.array(values, np.float64).reshape(joint.shape)


def _partitions(n_items: int) -> Labels:
    return np.array(list(all_partitions(n_items)), np.int32)


@lru_cache(maxsize=8)
def _tables(n_items: int) -> Ints:
    """Sizes of the intersections of all pairs of partitions, shape (B, B, n, n)."""
    member = _partitions(n_items)[:, :, None] == np.arange(n_items)
    counted = member.astype(np.int64)
    return np.asarray(np.einsum("aik,bil->abkl", counted, counted))


def _sums(terms: Floats, n_items: int) -> tuple[Floats, Floats]:
    joint = terms[_tables(n_items)].sum(axis=(2, 3))
    return joint, joint.diagonal().copy()


def flaw(loss: Loss, *, metric: bool | None = None, n_items: int = CHECKED_ITEMS) -> str | None:
    """What is wrong with a loss, in words; None when every claim holds.

    Losses are finite, not negative, 0 for equal partitions and free of labels;
    a symmetric one is symmetric, a metric obeys the triangle inequality, and
    arithmetic given twice agrees.
    """
    metric = loss.is_metric if metric is None else metric
    rows = _partitions(n_items)
    table = distance_table(loss, n_items)
    found = _not_a_loss(loss, rows, table) or _twice(loss, rows, table)
    found = found or _not_linear(loss, rows, table)
    if found is None and (metric or loss.is_symmetric):
        found = _first(np.abs(table - table.T) > EXACT, "is not symmetric", rows, table)
    if found is None and metric:
        found = _not_a_metric(rows, table)
    return None if found is None else f"{loss!r} {found}"


def _not_a_loss(loss: Loss, rows: Labels, table: Floats) -> str | None:
    equal = np.eye(len(rows), dtype=bool)
    return (
        _first(~np.isfinite(table), "is not finite", rows, table)
        or _first(table < -EXACT, "is negative", rows, table)
        or _first(equal & (np.abs(table) > EXACT), "is not 0 for equal partitions", rows, table)
        or _labels_matter(loss, rows, table)
    )


def _labels_matter(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """Only a loss that is measured by evaluation sees labels at all."""
    if loss.form(rows.shape[1]) is not None:
        return None
    truths = Draws(rows)
    for e, row in enumerate(rows):
        renamed = (row.max() - row).astype(np.int32)
        again = np.asarray(loss.distances(renamed, truths, n_jobs=1))
        for t in np.flatnonzero(np.abs(again - table[e]) > EXACT):
            return (
                f"depends on the names of labels: {_shown(row)} and {_shown(renamed)} are the same "
                f"partition, but {table[e, t]:g} and {again[t]:g} from {_shown(rows[t])}"
            )
    return None


def _twice(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """Arithmetic given as a form and as distances must agree."""
    overridden = type(loss).distances is not Loss.distances
    if not overridden or loss.form(rows.shape[1]) is None:
        return None
    truths = Draws(rows)
    other = np.array([loss.distances(row, truths, n_jobs=1) for row in rows])
    wrong = np.argwhere(np.abs(other - table) > EXACT)
    if not len(wrong):
        return None
    e, t = wrong[0]
    return (
        f"has two arithmetics that differ: its form gives {table[e, t]:g} and its distances "
        f"{other[e, t]:g} for the estimate {_shown(rows[e])} and the truth {_shown(rows[t])}"
    )


def _not_linear(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """The mean loss over all truths must be the form at the means of the sums."""
    n = rows.shape[1]
    if not loss.is_linear or loss.form(n) is None:
        return None
    joint, own = _sums(loss.terms(n), n)
    form = loss.form(n)
    for e, row in enumerate(rows):
        value = form.combine(float(joint[e].mean()), float(own[e]), float(own.mean()))
        if abs(value - float(table[e].mean())) > EXACT:
            return (
                f"is not linear in the sums: for the estimate {_shown(row)} and all truths alike "
                f"it is {table[e].mean():g} on average, but {value:g} at the average sums"
            )
    return None


def _not_a_metric(rows: Labels, table: Floats) -> str | None:
    apart = ~np.eye(len(rows), dtype=bool)
    found = _first(apart & (table <= EXACT), "is 0 for different partitions", rows, table)
    if found is not None:
        return found
    for middle in range(len(rows)):
        over = table - table[:, middle, None] - table[None, middle, :]
        if over.max() > EXACT:
            a, b = np.unravel_index(int(over.argmax()), over.shape)
            return (
                "is no metric: from "
                f"{_shown(rows[a])} to {_shown(rows[b])} it is {table[a, b]:g}, but only "
                f"{table[a, middle]:g} + {table[middle, b]:g} by way of {_shown(rows[middle])}"
            )
    return None


def _first(wrong: Bools, what: str, rows: Labels, table: Floats) -> str | None:
    places = np.argwhere(wrong)
    if not len(places):
        return None
    e, t = places[0]
    pair = f"the estimate {_shown(rows[e])} and the truth {_shown(rows[t])}"
    return f"{what}: {table[e, t]:g} for {pair}"


def _shown(row: Labels) -> str:
    return str(row.tolist())


def refuse_false_claims(
    loss: Loss, *, metric: bool | None = None, n_items: int = CHECKED_ITEMS
) -> None:
    """Raise where a loss is not what it claims to be."""
    found = flaw(loss, metric=metric, n_items=n_items)
    if found is not None:
        raise InvalidInputError(
            f"{found}. Checked on all partitions of {n_items} items; drop the claim or mend the "
            "arithmetic."
        )


@lru_cache(maxsize=256)
def verified(loss: Loss) -> Loss:
    """A loss that a user has written, once its claims have been checked."""
    slow = loss.form(FEW_ITEMS) is None and not (loss.is_metric or loss.is_symmetric)
    refuse_false_claims(loss, n_items=FEW_ITEMS if slow else CHECKED_ITEMS)
    return loss
