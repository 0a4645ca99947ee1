"""Normalised information distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from partita.losses.base import SOME_BITS, Loss, Term


class NIDForm(NamedTuple):
    """The larger conditional entropy over the larger entropy."""

    top: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0."""
        below = self.top - min(truth, estimate)
        value = (max(truth, estimate) - joint) / below if below > SOME_BITS else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class NID(Loss):
    r"""Information distance divided by the larger entropy: between 0 and 1, a metric.

    .. math:: L(t, e) = 1 - \frac{I(t, e)}{\max\{H(t), H(e)\}}

    0 when both partitions are one single cluster. Choose it to compare across
    data sets of different entropy.

    Notes
    -----
    O(N + K_t K_e) per pair.

    References
    ----------
    Vinh, N. X., Epps, J. and Bailey, J. (2010), Information theoretic measures
    for clusterings comparison. Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="nid")
    1.0
    """

    name: ClassVar[str] = "nid"
    title: ClassVar[str] = "normalised information distance"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True

    def form(self, n_items: int) -> NIDForm:
        """N·log2(N), the sum of one cluster."""
        return NIDForm(float(self.terms(n_items)[-1]))
