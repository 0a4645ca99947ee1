"""One minus the adjusted Rand index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from partita.losses.base import Loss, Term

ROUNDING = 1e-14
"""Relative to the sums: what rounding may leave of a denominator that is 0."""


class OneMinusARIForm(NamedTuple):
    """1 − ARI in numbers of ordered pairs: (mean − joint) / (mean − expected by chance)."""

    n: float
    pairs: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0.

        Where the sums are means over draws they carry rounding, and a
        denominator of that size would turn 0 into 1; the smallest genuine one,
        a single item out of place in one of many draws, is far larger.
        """
        mean = 0.5 * (truth + estimate) - self.n
        below = mean - (truth - self.n) * (estimate - self.n) / self.pairs
        value = (mean - (joint - self.n)) / below if below > ROUNDING * (truth + estimate) else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class OneMinusARI(Loss):
    r"""One minus the adjusted Rand index of estimate and truth, averaged over the draws.

    .. math:: L(t, e) = 1 - \frac{\sum \binom{n_{te}}{2} - \epsilon}
              {\tfrac12 \bigl[\sum \binom{n_t}{2} + \sum \binom{n_e}{2}\bigr] - \epsilon},
              \quad \epsilon = \sum \binom{n_t}{2} \sum \binom{n_e}{2} / \binom{N}{2}

    Two equal partitions have loss 0, also where the index is 0/0 (both one
    cluster, or both all singletons). It is no metric, so it has no credible
    ball and no proven bound. Choose it when agreement beyond chance is what
    readers know.

    Notes
    -----
    O(N + K_t K_e) per pair. It can exceed 1 where agreement is worse than chance.

    References
    ----------
    Hubert, L. and Arabie, P. (1985), Comparing partitions. Journal of Classification 2.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="omari")
    1.0
    """

    name: ClassVar[str] = "omari"
    title: ClassVar[str] = "one minus the adjusted Rand index"
    term: ClassVar[Term] = "pairs"
    symmetric: ClassVar[bool] = True

    def form(self, n_items: int) -> OneMinusARIForm:
        """The number of items and of their ordered pairs."""
        return OneMinusARIForm(float(n_items), max(float(n_items) * (n_items - 1.0), 1.0))
