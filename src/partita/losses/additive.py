"""Losses from a term f that users bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from partita._validate import called_rightly, flag, positive, unexpected
from partita.errors import InvalidInputError, about
from partita.kernels.arrays import Floats
from partita.losses.base import clean_price
from partita.losses.claims import CHECKED_ITEMS, refuse_false_claims
from partita.losses.priced import PricedLoss

_TRIED = 1 << 30
"""Pairs of sizes, at most, that are tried where f is not convex: a second."""

Terms = Callable[[int], float] | Sequence[float] | Floats


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Additive(PricedLoss):
    r"""Any loss that adds up one term f over clusters and intersections of clusters.

    .. math:: L(t, e) = \Bigl[a \sum f(n_t) + (2 - a) \sum f(n_e)
              - 2 \sum f(n_{te})\Bigr] / \text{scale}

    f(x) = x·log2(x) with scale N is :class:`VI`, f(x) = x² with scale N² is
    :class:`Binder`. Choose it to price the sizes of clusters in your own way:
    search, price and, for a metric, balls and bounds follow.

    Parameters
    ----------
    terms : callable or sequence
        f of a count, or the table f(0), …, f(N). f(0) must be 0, and
        f(x + y) ≥ f(x) + f(y), or splitting a true cluster would pay.
    scale : float or callable, default 1
        The divisor, or a function of the number of items.
    a : float in (0, 2), default 1
        Price of splitting relative to merging.
    metric : bool, default False
        Whether it is a metric at a = 1. The claim is checked on all 203
        partitions of six items, and refused with three that break it.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions. That splitting does not pay is checked for all counts
    (of more than 40,000 items for the smaller ones), a metric on f(0), …, f(6) only: that
    refutes, it does not prove.

    References
    ----------
    Meilă, M. (2007), Comparing clusterings. Journal of Multivariate Analysis 98.

    Examples
    --------
    >>> import partita as pt
    >>> cubes = pt.Additive(lambda x: x**3, scale=lambda n: n**3, metric=True)
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss=cubes)
    0.75
    """

    name: ClassVar[str] = "additive"
    prose: ClassVar[str] = "additive loss"
    parameter: ClassVar[None] = None

    f: Callable[[int], float] | tuple[float, ...] = ()
    divisor: float | Callable[[int], float] = 1.0
    metric: bool = False  # type: ignore[misc]

    def __init__(
        self,
        terms: Terms,
        *,
        scale: float | Callable[[int], float] = 1.0,
        a: float = 1.0,
        metric: bool = False,
    ) -> None:
        object.__setattr__(self, "f", terms if callable(terms) else _given(terms))
        expected = "a positive number, or a function of the number of items"
        divisor = scale if callable(scale) else positive(scale, "scale", expected)
        object.__setattr__(self, "divisor", divisor)
        object.__setattr__(self, "a", clean_price(a))
        object.__setattr__(self, "metric", flag(metric, "metric"))
        _check(self.f, divisor, self.metric)

    @classmethod
    def from_fields(cls, f: Terms, divisor: float = 1.0, **others: Any) -> Self:
        """The loss from its fields, as files hold them: arguments are named as methods are."""
        return cls(f, scale=divisor, **others)

    def with_price(self, a: float) -> Self:
        """The same loss at another price of splitting."""
        return type(self)(self.f, scale=self.divisor, a=a, metric=self.metric)

    def scale(self, n_items: int) -> float:
        """The divisor for so many items."""
        with called_rightly(self.divisor, "scale", "a positive number for each number of items"):
            value = float(self.divisor(n_items) if callable(self.divisor) else self.divisor)
        if not 0.0 < value < np.inf:
            raise InvalidInputError(
                f"scale is {value} for {n_items} items; expected a positive number.",
                argument="scale",
            )
        return value

    def terms(self, n_items: int) -> Floats:
        """The table f(0), …, f(n_items)."""
        return np.array(_table(self.f, n_items))

    def __repr__(self) -> str:
        shown = getattr(self.f, "__name__", repr(self.f)) if callable(self.f) else "[…]"
        price = "" if self.a == 1.0 else f", a={self.a!r}"
        return f"Additive({shown}{price}{', metric=True' if self.metric else ''})"


def _given(terms: Sequence[float] | Floats) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in terms)
    except (TypeError, ValueError):
        raise unexpected(
            terms, "terms", "a function of a count, or the numbers f(0), …, f(N)"
        ) from None


@lru_cache(maxsize=64)
def _table(f: Callable[[int], float] | tuple[float, ...], n_items: int) -> tuple[float, ...]:
    if not callable(f) and len(f) <= n_items:
        raise InvalidInputError(
            f"terms has {len(f)} values; {n_items} items need f(0), …, f({n_items}): "
            f"{n_items + 1} values.",
            argument="terms",
        )
    with called_rightly(f, "terms", "a number for each count from 0 on"):
        values = tuple(float(f(x) if callable(f) else f[x]) for x in range(n_items + 1))
    if values[0] != 0.0 or not np.isfinite(values).all():
        raise InvalidInputError(
            f"terms begin with f(0) = {values[0]}; expected f(0) = 0 and finite values: empty "
            "intersections must add nothing.",
            argument="terms",
        )
    _refuse_reward(np.array(values))
    return values


def _refuse_reward(f: Floats) -> None:
    """Refuse terms that reward splitting. Where f is convex no pair of sizes has to be tried."""
    if (np.diff(f, 2) >= 0.0).all():
        return
    n = f.size - 1
    for x in range(1, min(n // 2, _TRIED // n) + 1):
        both, whole = f[x] + f[x : n - x + 1], f[2 * x :]
        wrong = np.flatnonzero(both > whole + 1e-12 * np.abs(whole))
        if wrong.size:
            y = x + int(wrong[0])
            raise InvalidInputError(
                f"f({x}) + f({y}) = {f[x] + f[y]:g} exceeds f({x + y}) = {f[x + y]:g}; expected "
                "f(x) + f(y) ≤ f(x + y), or splitting a true cluster would pay.",
                argument="terms",
            )


@lru_cache(maxsize=64)
def _check(
    f: Callable[[int], float] | tuple[float, ...],
    divisor: float | Callable[[int], float],
    metric: bool,
) -> None:
    """Refuse terms that are none, and a metric that is none."""
    n = CHECKED_ITEMS if callable(f) else min(CHECKED_ITEMS, len(f) - 1)
    if n < 1:
        raise InvalidInputError(
            "terms has fewer than 2 values; expected f(0), …, f(N).", argument="terms"
        )
    _table(f, n if callable(f) else len(f) - 1)
    if metric:
        with about("metric"):
            refuse_false_claims(Additive(f, scale=divisor), metric=True, n_items=n)
