"""A loss against all partitions of a few items."""

from __future__ import annotations

import numpy as np

from partita._validate import Rng, whole
from partita._validate import generator as generator_from
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.losses.claims import CHECKED_ITEMS, EXACT, distance_table, flaw
from partita.losses.registry import as_loss
from partita.partitions.draws import Draws
from partita.partitions.enumeration import all_partitions
from partita.partitions.labels import Labels
from partita.partitions.similarity import similarity
from partita.search.estimate import estimate

_PRICES = (0.5, 1.5)


def check_loss(loss: str | Loss, *, n_items: int = CHECKED_ITEMS, rng: Rng | None = None) -> None:
    """Check a loss by enumeration, and the search for its minimum.

    On all partitions: values are finite, not negative, 0 for equal partitions and free of
    labels; a symmetric loss is symmetric, a metric obeys the triangle inequality, a price a mixes
    two losses; compiled arithmetic equals the formula as it is written, and arithmetic given
    twice agrees. On a few weighted draws: expected losses from the similarity matrix equal those
    from the draws where a loss claims so, the estimate is the smallest of all partitions, and no
    lower bound exceeds it.

    Parameters
    ----------
    loss : str or Loss
    n_items : int, default 6
        From 2 to 6; fewer are faster for a loss that is measured by evaluation.
    rng : int, SeedSequence or Generator, optional
        Of the draws.

    Raises
    ------
    AssertionError
        Saying what differs, and for which partitions.

    Notes
    -----
    The cost is that of 203² distances at six items: a second once compiled.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.testing.check_loss(pt.VI())
    """
    rng = 0 if rng is None else rng
    measure = as_loss(loss)
    n_items = whole(n_items, "n_items", least=2, most=CHECKED_ITEMS)
    if measure.averages_distances:
        for n in range(1, n_items + 1):
            found = flaw(measure, n_items=n)
            assert found is None, found
    rows = np.array(list(all_partitions(n_items)), np.int32)
    table = _compiled(measure, rows)
    _same(table, distance_table(measure, n_items), f"{measure!r}, compiled and as written", rows)
    _check_price(measure, rows, table)
    _check_search(measure, rows, rng)


def _compiled(loss: Loss, rows: Labels) -> Floats:
    truths = Draws(rows)
    against = loss.against(rows.shape[1])
    counts = truths.n_clusters
    block = truths.rows(0, truths.n_draws)
    return np.array([against(row, block, counts) for row in block])


def _same(one: Floats, other: Floats, what: str, rows: Labels) -> None:
    wrong = np.argwhere(np.abs(one - other) > EXACT)
    if len(wrong):
        e, t = wrong[0]
        raise AssertionError(
            f"{what}, differ: {one[e, t]:g} and {other[e, t]:g} for the estimate "
            f"{rows[e].tolist()} and the truth {rows[t].tolist()}."
        )


def _check_price(loss: Loss, rows: Labels, table: Floats) -> None:
    if not loss.has_price:
        return
    low, high = (_compiled(loss.with_price(a), rows) for a in _PRICES)
    weight = (loss.price - _PRICES[0]) / (_PRICES[1] - _PRICES[0])
    _same(table, (1 - weight) * low + weight * high, f"{loss!r} and its mixture of prices", rows)


def _check_search(loss: Loss, rows: Labels, rng: Rng) -> None:
    """The estimate on a few weighted draws against all partitions."""
    generator = generator_from(rng)
    drawn = rows[generator.choice(len(rows), min(12, len(rows)), replace=False)]
    draws = Draws(drawn, weights=generator.random(len(drawn)) + 0.1)
    values = np.array([loss.expected(row, draws) for row in rows])
    if loss.uses_similarity:
        p = similarity(draws)
        other = np.array([loss.expected_from_similarity(row, p) for row in rows])
        wrong = np.flatnonzero(np.abs(values - other) > EXACT)
        assert not len(wrong), (
            f"{loss!r} expects {values[wrong[0]]:g} from draws and {other[wrong[0]]:g} from their "
            f"similarity matrix for {rows[wrong[0]].tolist()}."
        )
    method = "auto" if loss.form(1) is None else "sweep"
    best = estimate(draws, loss=loss, method=method, rng=rng)
    lowest = float(values.min())
    assert abs(best.expected_loss - lowest) <= EXACT, (
        f"{loss!r}: the search reached {best.expected_loss:g}, but {lowest:g} is the smallest, at "
        f"{rows[int(values.argmin())].tolist()}."
    )
    bound = best.lower_bound
    assert bound is None or bound <= lowest + EXACT, (
        f"{loss!r}: a lower bound of {bound:g} was reported, but {lowest:g} is reached."
    )
