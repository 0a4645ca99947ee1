"""Losses from functions that users bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from partita._validate import called_rightly, choice, flag, text, unexpected
from partita.errors import InvalidInputError, about
from partita.kernels.arrays import Floats
from partita.losses.base import Loss, Term
from partita.losses.claims import refuse_false_claims, verified
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, map_blocks

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
    from partita.kernels.losses.forms import compiled

    made = compiled(function)
    with called_rightly(function, "function", f"one that Numba can compile, {THREE_SUMS}"):
        float(made(4.0, 4.0, 4.0, 2))
    return made


def loss(
    name: str,
    *,
    term: Literal["entropy", "pairs"] = "entropy",
    metric: bool = False,
    symmetric: bool = False,
) -> Callable[[Callable[[float, float, float, int], float]], FunctionLoss]:
    r"""Make a loss of a function of three sums, as NVI and 1 − ARI are.

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
    metric, symmetric = flag(metric, "metric"), flag(symmetric, "symmetric")

    def make(function: Callable[[float, float, float, int], float]) -> FunctionLoss:
        if not callable(function):
            raise unexpected(function, "function", f"a function {THREE_SUMS}")
        symmetry = metric or symmetric
        made = FunctionLoss(name, function, term=term, metric=metric, symmetric=symmetry)
        with about("function"), called_rightly(function, "function", f"a function {THREE_SUMS}"):
            refuse_false_claims(made)
        return made

    return make


@dataclass(frozen=True, eq=False, repr=False)
class CallableLoss(Loss):
    r"""Any Python function of two partitions, searched by evaluation.

    .. math:: L(t, e) = \text{function}(e, t)

    Choose it when a loss is no function of cluster sizes and their intersections: of items'
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
        flag(self.metric, "metric")
        flag(self.symmetric, "symmetric")
        with about("function"), called_rightly(self.function, "function", TWO_PARTITIONS):
            verified(self)

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
