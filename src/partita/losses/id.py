"""Information distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from partita.losses.base import Loss, Term


class IDForm(NamedTuple):
    """The larger of the two conditional entropies."""

    n: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """Entropies are log2 N minus sums over N."""
        return max((max(truth, estimate) - joint) / self.n, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ID(Loss):
    r"""Information distance, in bits: the larger of the two conditional entropies.

    .. math:: L(t, e) = \max\{H(t), H(e)\} - I(t, e) = \max\{H(e \mid t), H(t \mid e)\}

    A metric. Choose it when splitting and merging errors should not add up,
    and the worse of the two counts.

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
    >>> pt.distance([0, 0, 1, 1], [0, 1, 0, 1], loss="id")
    1.0
    """

    name: ClassVar[str] = "id"
    title: ClassVar[str] = "information distance"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "bits"

    def form(self, n_items: int) -> IDForm:
        """The number of items."""
        return IDForm(float(n_items))
