"""Losses that users bring, and the checks of what a loss claims about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from partita._tolerance import CLAIM, SUM
from partita._validate import boolean, choice, positive, text, translate_call_errors, unexpected
from partita.draws import Draws
from partita.errors import InvalidInputError, about
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels
from partita.lattice import partition_table
from partita.losses.base import Loss, Term
from partita.losses.builtin import VI, Binder, PricedLoss
from partita.scan import Block, map_blocks

CHECKED_ITEMS = 6
"""Items of the partitions on which claims are checked: 203 partitions."""

FEW_ITEMS = 4
"""Items where nothing is claimed and each distance may be slow: 15 partitions."""

EXACT = CLAIM
"""Differences below this are rounding."""


def distance_table(loss: Loss, n_items: int) -> Floats:
    """Losses between all partitions, estimates by truths, without compiling anything."""
    rows = partition_table(n_items)
    form = loss.form(n_items)
    if form is None:
        truths = Draws(rows)
        return np.array([loss.distances(row, truths, n_jobs=1) for row in rows], np.float64)
    joint, own = _sums(loss.terms(n_items), n_items)
    plain = getattr(loss, "plain_form", loss.form)(n_items)
    pairs = product(range(len(rows)), repeat=2)
    values = [plain.combine(float(joint[e, t]), float(own[e]), float(own[t])) for e, t in pairs]
    return np.array(values, np.float64).reshape(joint.shape)


@lru_cache(maxsize=8)
def _tables(n_items: int) -> Ints:
    """Sizes of the intersections of all pairs of partitions, shape (B, B, n, n)."""
    member = partition_table(n_items)[:, :, None] == np.arange(n_items)
    counted = member.astype(np.int64)
    return np.asarray(np.einsum("aik,bil->abkl", counted, counted))


def _sums(terms: Floats, n_items: int) -> tuple[Floats, Floats]:
    joint = terms[_tables(n_items)].sum(axis=(2, 3))
    return joint, joint.diagonal().copy()


def claim_violation(
    loss: Loss, *, metric: bool | None = None, n_items: int = CHECKED_ITEMS
) -> str | None:
    """The first false claim of a loss, in words; None if every claim holds.

    Losses are finite, not negative, 0 for equal partitions and free of labels;
    a symmetric one is symmetric, a metric obeys the triangle inequality,
    arithmetic given twice agrees, and what proofs rest on is so: pairs,
    conditional entropies, prices, a metric below.
    """
    metric = loss.is_metric if metric is None else metric
    rows = partition_table(n_items)
    table = distance_table(loss, n_items)
    found = _loss_violation(loss, rows, table) or _twice(loss, rows, table)
    found = found or _linearity_violation(loss, rows, table)
    if found is None and (metric or loss.is_symmetric):
        found = _first(np.abs(table - table.T) > EXACT, "is not symmetric", rows, table)
    if found is None and metric:
        found = _metric_violation(rows, table)
    found = (
        found
        or _pair_form_violation(loss, rows, table)
        or _entropy_form_violation(loss, rows, table)
    )
    found = found or _minorant_violation(loss, rows, table) or price_violation(loss, rows, table)
    return None if found is None else f"{loss!r} {found}"


def _loss_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    equal = np.eye(len(rows), dtype=bool)
    return (
        _first(~np.isfinite(table), "is not finite", rows, table)
        or _first(table < -EXACT, "is negative", rows, table)
        or _first(equal & (np.abs(table) > EXACT), "is not 0 for equal partitions", rows, table)
        or _invariance_violation(loss, rows, table)
    )


def _invariance_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """Check that relabelling changes nothing; only losses measured by evaluation see labels."""
    if loss.form(rows.shape[1]) is not None:
        return None
    truths = Draws(rows)
    for e, row in enumerate(rows):
        for renamed in _renamed(row):
            again = np.asarray(loss.distances(renamed, truths, n_jobs=1))
            for t in np.flatnonzero(np.abs(again - table[e]) > EXACT):
                return _label_dependence(row, renamed, rows[t], table[e, t], again[t])
    return None


def _renamed(row: Labels) -> list[Labels]:
    """Return the partition with its labels reversed, and with its labels rotated."""
    return [row.max() - row, (row + 1) % (row.max() + 1)]


def _label_dependence(row: Labels, renamed: Labels, truth: Labels, one: float, other: float) -> str:
    return (
        f"depends on the names of labels: {_shown(row)} and {_shown(renamed)} are the same "
        f"partition, but {one:g} and {other:g} from {_shown(truth)}"
    )


def _violation_on_few_pairs(loss: Loss) -> str | None:
    """Check six items: each partition with itself and with one other."""
    rows = partition_table(CHECKED_ITEMS)
    for row, other in zip(rows, np.roll(rows, 1, axis=0), strict=True):
        truths = Draws(np.stack([row, other]))
        itself, away = loss.distances(row, truths, n_jobs=1)
        if abs(itself) > EXACT:
            return f"{loss!r} is not 0 for equal partitions: {itself:g} for {_shown(row)}"
        for renamed in _renamed(row):
            again = float(loss.distances(renamed, truths, n_jobs=1)[1])
            if abs(again - away) > EXACT:
                return f"{loss!r} {_label_dependence(row, renamed, other, away, again)}"
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


def _linearity_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
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
                f"is not linear in the sums: for the estimate {_shown(row)} and all truths "
                f"it is {table[e].mean():g} on average, but {value:g} at the average sums"
            )
    return None


def _pair_form_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss that is linear in pairs, or exact, or computed from similarities, is so."""
    n = rows.shape[1]
    scale = loss.pair_scale(n)
    if scale is not None:
        pairs = distance_table(Binder(loss.price), n) * (n * n / scale)
        found = _first(np.abs(table - pairs) > EXACT, "is not linear in the pairs", rows, table)
        if found is not None:
            return found
    if loss.is_exact and loss.form(n) is not None and (loss.terms(n) % 1.0).any():
        return "is not exact: its terms are not whole numbers"
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


def _entropy_form_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss of the two conditional entropies is the variation of information at its price."""
    if not loss.conditional_entropies:
        return None
    entropies = distance_table(VI(loss.price), rows.shape[1])
    what = "is not a·H(e given t) + (2 − a)·H(t given e)"
    return _first(np.abs(table - entropies) > EXACT, what, rows, table)


def _minorant_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss is at least its minorant, and what balls are measured by is a metric."""
    below, ball = loss.minorant(), loss.ball_metric()
    for metric in {below[1] if below else loss, ball or loss} - {loss}:
        wrong = claim_violation(metric, metric=True, n_items=rows.shape[1])
        if wrong is not None:
            return f"relies on a metric that is none: {wrong}"
    if ball == loss and not loss.is_metric:
        return "measures balls by itself, but does not claim to be a metric"
    if below is None or below == (1.0, loss):
        return None
    factor, metric = below
    least = factor * distance_table(metric, rows.shape[1])
    return _first(table < least - EXACT, f"is not at least {factor:g} × {metric!r}", rows, table)


def price_violation(loss: Loss, rows: Labels, table: Floats) -> str | None:
    """A loss with a price a is a mixture of itself at two other prices."""
    if not loss.has_price:
        return None
    low, high = (distance_table(loss.with_price(a), rows.shape[1]) for a in (0.5, 1.5))
    weight = loss.price - 0.5
    mixed = (1.0 - weight) * low + weight * high
    return _first(np.abs(table - mixed) > EXACT, "is not a mixture of its prices", rows, table)


def _metric_violation(rows: Labels, table: Floats) -> str | None:
    apart = ~np.eye(len(rows), dtype=bool)
    found = _first(apart & (table <= EXACT), "is 0 for different partitions", rows, table)
    if found is not None:
        return found
    for middle in range(len(rows)):
        over = table - table[:, middle, None] - table[None, middle, :]
        if over.max() > EXACT:
            a, b = np.unravel_index(int(over.argmax()), over.shape)
            return (
                "is not a metric: from "
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
    _refuse(
        claim_violation(loss, metric=metric, n_items=n_items), f"all partitions of {n_items} items"
    )


def _refuse(found: str | None, where: str) -> None:
    if found is not None:
        raise InvalidInputError(
            f"{found}. Checked on {where}; drop the claim or mend the arithmetic."
        )


def verify_loss(loss: Loss) -> Loss:
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
        _refuse(_violation_on_few_pairs(loss), "the partitions of six items")


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
        object.__setattr__(self, "a", a)
        self.__post_init__()
        object.__setattr__(self, "metric", boolean(metric, "metric"))
        _check(self.f, divisor, self.metric)

    @classmethod
    def from_fields(cls, f: Terms, divisor: float = 1.0, **others: Any) -> Self:
        """The loss from its fields, as files hold them: arguments are named as methods are."""
        return cls(f, scale=divisor, **others)

    def with_price(self, a: float) -> Self:
        """The same loss at another price of splitting."""
        return type(self)(self.f, scale=self.divisor, a=a, metric=self.metric)

    def scale(self, n_items: int) -> float:
        """The divisor for a number of items."""
        with translate_call_errors(
            self.divisor, "scale", "a positive number for each number of items"
        ):
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
    with translate_call_errors(f, "terms", "a number for each count from 0 on"):
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
        wrong = np.flatnonzero(both > whole + SUM * np.abs(whole))
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


TWO_PARTITIONS = "a function of two label vectors that returns a number for any two"
THREE_SUMS = "of the three sums and the number of items that returns a number"


class FunctionForm(NamedTuple):
    """A user's function of the three sums and the number of items."""

    function: Any
    n: int

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """The function's value."""
        return self.function(joint, estimate, truth, self.n)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class FunctionLoss(Loss):
    """A loss made by :func:`loss`.

    Attributes
    ----------
    name : str
    function : callable
        Of the three sums and the number of items.
    term : "entropy" or "pairs"
        What is summed.
    metric, symmetric : bool
        What was said of it.
    """

    name: str  # type: ignore[misc]
    function: Callable[[float, float, float, int], float]
    term: Term = field(default="entropy", kw_only=True)  # type: ignore[misc]
    metric: bool = field(default=False, kw_only=True)  # type: ignore[misc]
    symmetric: bool = field(default=False, kw_only=True)  # type: ignore[misc]

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name."""
        return self.name

    def form(self, n_items: int) -> FunctionForm:
        """The function, compiled, and the number of items."""
        return FunctionForm(_compiled(self.function), n_items)

    def plain_form(self, n_items: int) -> FunctionForm:
        """The function as it was written."""
        return FunctionForm(self.function, n_items)

    def __repr__(self) -> str:
        return f"<loss {self.name!r}>"


@lru_cache(maxsize=64)
def _compiled(function: Callable[[float, float, float, int], float]) -> Any:
    """The same compiled function each time, so that kernels compile for it once."""
    from partita.kernels.contingency import compile_function

    made = compile_function(function)
    with translate_call_errors(function, "function", f"one that Numba can compile, {THREE_SUMS}"):
        float(made(4.0, 4.0, 4.0, 2))
    return made


def loss(
    name: str,
    *,
    term: Literal["entropy", "pairs"] = "entropy",
    metric: bool = False,
    symmetric: bool = False,
) -> Callable[[Callable[[float, float, float, int], float]], FunctionLoss]:
    r"""Make a loss from a function of three sums, as NVI and 1 − ARI are.

    .. math:: L(t, e) = g\Bigl(\sum f(n_{te}), \sum f(n_e), \sum f(n_t), N\Bigr)

    with f(x) = x·log2(x) (``term="entropy"``) or x² (``term="pairs"``). Choose it for losses
    that combine the sums in another way than :class:`Additive`; the function is compiled, and
    the search is as fast as for partita's own losses.

    Parameters
    ----------
    name : str
        What the loss is called in results.
    term : "entropy" or "pairs"
    metric : bool, default False
        Whether it is a metric. Checked on all 203 partitions of six items, and
        refused with three that break it.
    symmetric : bool, default False
        Whether estimate and truth may be exchanged; checked likewise.

    Returns
    -------
    decorator
        Of a function ``g(joint, estimate, truth, n)`` that Numba can compile; it
        must return 0 for equal partitions. The decorated name is the loss.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions. Compiles once in each process: a function of yours
    may change, so it is not kept on disk.

    References
    ----------
    Vinh, N. X., Epps, J. and Bailey, J. (2010), Information theoretic measures
    for clusterings comparison. Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import partita as pt
    >>> @pt.loss("Jaccard", term="pairs", metric=True)
    ... def jaccard(joint, estimate, truth, n):
    ...     either = estimate + truth - joint - n  # ordered pairs that either of the two joins
    ...     return (estimate + truth - 2.0 * joint) / either if either > 0.0 else 0.0
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss=jaccard)
    0.6666666666666666
    """
    name, term = text(name, "name"), choice(term, "term", ("entropy", "pairs"))
    metric, symmetric = boolean(metric, "metric"), boolean(symmetric, "symmetric")

    def make(function: Callable[[float, float, float, int], float]) -> FunctionLoss:
        if not callable(function):
            raise unexpected(function, "function", f"a function {THREE_SUMS}")
        symmetry = metric or symmetric
        made = FunctionLoss(name, function, term=term, metric=metric, symmetric=symmetry)
        with (
            about("function"),
            translate_call_errors(function, "function", f"a function {THREE_SUMS}"),
        ):
            refuse_false_claims(made)
        return made

    return make


@dataclass(frozen=True, eq=False, repr=False)
class CallableLoss(Loss):
    r"""Any Python function of two partitions, searched by evaluation.

    .. math:: L(t, e) = \text{function}(e, t)

    Choose it when a loss is not a function of cluster sizes and their intersections: of items'
    values, say. Draws, linkage cuts, one cluster, singletons and the minimisers of VI and
    Binder's loss are compared, and single items of the best of them are moved while that helps.

    Parameters
    ----------
    function : callable
        Of the estimate's and the draw's labels, two arrays of shape (n_items,); a float.
    metric : bool, default False
        Whether it is a metric, so that credible balls exist. Checked on all 203
        partitions of six items: 41,209 calls.
    symmetric : bool, default False
        Whether estimate and truth may be exchanged; checked likewise.

    Notes
    -----
    O(M) calls for each partition looked at. No lower bound is known: the result
    is a local minimum, and says so. Whether it depends on the names of labels, is
    negative, or not 0 for equal partitions is checked on all pairs of partitions of four
    items, and on each partition of six with itself and one other.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> clusters = pt.CallableLoss(lambda e, t: abs(len(set(e)) - len(set(t))))
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss=clusters)
    1.0
    """

    name: ClassVar[str] = "callable"
    title: ClassVar[str] = "function of two partitions"

    function: Callable[[Labels, Labels], float]
    metric: bool = field(default=False, kw_only=True)  # type: ignore[misc]
    symmetric: bool = field(default=False, kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise unexpected(self.function, "function", "a function of two label vectors")
        boolean(self.metric, "metric")
        boolean(self.symmetric, "symmetric")
        with about("function"), translate_call_errors(self.function, "function", TWO_PARTITIONS):
            verify_loss(self)

    def distances(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> Floats:
        """One call for each draw; a user's function is called by one thread at a time."""
        del n_jobs
        own = estimate.copy()
        own.flags.writeable = False
        called = partial(_called, function=self.function, estimate=own)
        return np.concatenate(list(map_blocks(called, draws, n_jobs=1)))

    def __repr__(self) -> str:
        shown = getattr(self.function, "__name__", repr(self.function))
        return f"CallableLoss({shown}{', metric=True' if self.metric else ''})"


def _called(
    block: Block, *, function: Callable[[Labels, Labels], float], estimate: Labels
) -> Floats:
    values = [function(estimate, row) for row in block.rows]
    try:
        found = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        came = next((v for v in values if not isinstance(v, (int, float))), values[0])
        raise _no_loss(came, "a number") from None
    wrong = found[~(np.isfinite(found) & (found >= 0.0))]
    if wrong.size:
        raise _no_loss(float(wrong[0]), "a finite number of at least 0")
    return found


def _no_loss(came: object, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"the function of two partitions returned {came!r}; expected {expected}.",
        argument="function",
    )
