"""Variation of information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita.losses.base import Term
from partita.losses.priced import PricedLoss


@dataclass(frozen=True, eq=False, repr=False)
class VI(PricedLoss):
    r"""Variation of information, in bits: the paper's loss, and the default.

    .. math:: L(t, e) = a\,H(e \mid t) + (2 - a)\,H(t \mid e)

    with conditional entropies of the estimate e and the truth t, base 2. At
    ``a=1`` it is Meilă's variation of information, a metric between 0 and
    log2 N. Choose it when small spurious clusters are a nuisance: it prices
    them fairly, where Binder's loss invites them. a > 1 makes splitting a true
    cluster dearer and gives fewer clusters, a < 1 more.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting relative to merging.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions.

    References
    ----------
    Meilă, M. (2007), Comparing clusterings. Journal of Multivariate Analysis 98.
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss=pt.VI())
    1.0
    >>> pt.VI(a=0.5)
    VI(a=0.5)
    """

    name: ClassVar[str] = "vi"
    prose: ClassVar[str] = "variation of information"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "bits"
    conditional_entropies: ClassVar[bool] = True

    def scale(self, n_items: int) -> float:
        """Entropies are sums over N."""
        return float(n_items)
