"""What a loss claims about itself, checked on all partitions of a few items."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from partita.errors import InvalidInputError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.vi import VI
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
    a symmetric one is symmetric, a metric obeys the triangle inequality,
    arithmetic given twice agrees, and what proofs rest on is so: pairs,
    conditional entropies, prices, a metric below.
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
    found = found or _not_of_pairs(loss, rows, table) or _not_entropies(loss, rows, table)
    found = found or _not_above(loss, rows, table) or _not_priced(loss, rows, table)
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
        for renamed in _renamed(row):
            again = np.asarray(loss.distances(renamed, truths, n_jobs=1))
            for t in np.flatnonzero(np.abs(again - table[e]) > EXACT):
                return _told_by_name(row, renamed, rows[t], table[e, t], again[t])
    return None


def _renamed(row: Labels) -> list[Labels]:
    """The same partition with its labels reversed, and with each label in the place of the next."""
    return [row.max() - row, (row + 1) % (row.max() + 1)]


def _told_by_name(row: Labels, renamed: Labels, truth: Labels, one: float, other: float) -> str:
    return (
        f"depends on the names of labels: {_shown(row)} and {_shown(renamed)} are the same "
        f"partition, but {one:g} and {other:g} from {_shown(truth)}"
    )


def _flaw_at_a_glance(loss: Loss) -> str | None:
    """What is wrong on six items with each partition and itself, and one other."""
    rows = _partitions(CHECKED_ITEMS)
    for row, other in zip(rows, np.roll(rows, 1, axis=0), strict=True):
        truths = Draws(np.stack([row, other]))
        itself, away = loss.distances(row, truths, n_jobs=1)
        if abs(itself) > EXACT:
            return f"{loss!r} is not 0 for equal partitions: {itself:g} for {_shown(row)}"
        for renamed in _renamed(row):
            again = float(loss.distances(renamed, truths, n_jobs=1)[1])
            if abs(again - away) > EXACT:
                return f"{loss!r} {_told_by_name(row, renamed, other, away, again)}"
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


def _not_of_pairs(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss that is linear in pairs, or exact, or computed from similarities, is so."""
    n = rows.shape[1]
    scale = loss.pair_scale(n)
    if scale is not None:
        pairs = distance_table(Binder(loss.price), n) * (n * n / scale)
        found = _first(np.abs(table - pairs) > EXACT, "is not linear in the pairs", rows, table)
        if found is not None:
            return found
    if loss.is_exact and (loss.terms(n) % 1.0).any():
        return "is not exact: its terms are no whole numbers"
    if not (loss.uses_similarity and loss.averages_distances):
        return None
    p = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)
    for row, mean in zip(rows, table.mean(axis=1), strict=True):
        value = loss.expected_from_similarity(row, p)
        if abs(value - mean) > EXACT:
            return (
                f"does not follow from similarities: for the estimate {_shown(row)} and all truths "
                f"alike it is {mean:g} on average, but {value:g} from their similarity matrix"
            )
    return None


def _not_entropies(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss of the two conditional entropies is the variation of information at its price."""
    if not loss.conditional_entropies:
        return None
    entropies = distance_table(VI(loss.price), rows.shape[1])
    what = "is not a·H(e given t) + (2 − a)·H(t given e)"
    return _first(np.abs(table - entropies) > EXACT, what, rows, table)


def _not_above(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss is at least its minorant, and what balls are measured by is a metric."""
    below, ball = loss.minorant(), loss.ball_metric()
    for metric in {below[1] if below else loss, ball or loss} - {loss}:
        wrong = flaw(metric, metric=True, n_items=rows.shape[1])
        if wrong is not None:
            return f"relies on a metric that is none: {wrong}"
    if ball == loss and not loss.is_metric:
        return "measures balls by itself, but does not claim to be a metric"
    if below is None or below == (1.0, loss):
        return None
    factor, metric = below
    least = factor * distance_table(metric, rows.shape[1])
    return _first(table < least - EXACT, f"is not at least {factor:g} × {metric!r}", rows, table)


def _not_priced(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss with a price a is a mixture of itself at two other prices."""
    if not loss.has_price:
        return None
    low, high = (distance_table(loss.with_price(a), rows.shape[1]) for a in (0.5, 1.5))
    weight = loss.price - 0.5
    mixed = (1.0 - weight) * low + weight * high
    return _first(np.abs(table - mixed) > EXACT, "is no mixture of its prices", rows, table)


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
    _refuse(flaw(loss, metric=metric, n_items=n_items), f"all partitions of {n_items} items")


def _refuse(found: str | None, where: str) -> None:
    if found is not None:
        raise InvalidInputError(
            f"{found}. Checked on {where}; drop the claim or mend the arithmetic."
        )


def verified(loss: Loss) -> Loss:
    """A loss that a user has written, once its claims have been checked."""
    try:
        hash(loss)
    except TypeError as error:
        raise InvalidInputError(
            f"{type(loss).__name__} cannot be compared with other losses ({error}); expected "
            "fields that can: numbers, text, functions, tuples in the place of lists and arrays."
        ) from None
    _verify(loss)
    return loss


@lru_cache(maxsize=256)
def _verify(loss: Loss) -> None:
    slow = loss.form(FEW_ITEMS) is None and not (loss.is_metric or loss.is_symmetric)
    refuse_false_claims(loss, n_items=FEW_ITEMS if slow else CHECKED_ITEMS)
    if slow:
        _refuse(_flaw_at_a_glance(loss), "the partitions of six items")
