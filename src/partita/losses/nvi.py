"""Normalised variation of information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from partita.losses.base import SOME_BITS, Loss, Term


class NVIForm(NamedTuple):
    """The sum of the two conditional entropies over the joint entropy."""

    top: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0."""
        below = self.top - joint
        value = (truth + estimate - 2.0 * joint) / below if below > SOME_BITS else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class NVI(Loss):
    r"""Variation of information divided by the joint entropy: between 0 and 1, a metric.

    .. math:: L(t, e) = \frac{H(e \mid t) + H(t \mid e)}{H(t, e)}

    0 when both partitions are one single cluster. Choose it to compare across
    data sets of different entropy; the scale of :class:`VI` is lost.

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
    >>> pt.distance([0, 0, 1, 1], [0, 1, 0, 1], loss="nvi")
    1.0
    """

    name: ClassVar[str] = "nvi"
    title: ClassVar[str] = "normalised variation of information"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True

    def form(self, n_items: int) -> NVIForm:
        """N·log2(N), the sum of one cluster."""
        return NVIForm(float(self.terms(n_items)[-1]))
