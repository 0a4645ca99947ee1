"""Binder's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita.losses.base import Term
from partita.losses.priced import PricedLoss


@dataclass(frozen=True, eq=False, repr=False)
class Binder(PricedLoss):
    r"""Binder's loss in the paper's N-invariant scale: 2/N² times the discordant pairs.

    .. math:: L(t, e) = \frac{1}{N^2} \Bigl[a \sum n_t^2 + (2 - a) \sum n_e^2
              - 2 \sum n_{te}^2\Bigr]

    At ``a=1`` it is a metric between 0 and 1 − 1/N, and one minus the Rand
    index up to scale. Its estimates tend to put doubtful items into small
    clusters of their own; choose it when pairs are what matters.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of separating two items that belong together, relative to the
        price 2 − a of joining two that do not.

    Notes
    -----
    O(N + K_t K_e) per pair. The expected loss depends on the draws through
    the similarity matrix alone. mcclust's ``binder`` is N²/2 times this one.

    References
    ----------
    Binder, D. A. (1978), Bayesian cluster analysis. Biometrika 65.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="binder")
    0.5
    """

    name: ClassVar[str] = "binder"
    prose: ClassVar[str] = "Binder's loss"
    term: ClassVar[Term] = "pairs"
    metric: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True

    def scale(self, n_items: int) -> float:
        """All ordered pairs of items, an item with itself included."""
        return float(n_items) * float(n_items)

    def pair_scale(self, n_items: int) -> float:
        """The same: the loss is linear in the pairs."""
        return self.scale(n_items)
