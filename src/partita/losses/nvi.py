"""Normalised variation of information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita.kernels.losses import form_codes
from partita.losses.base import Loss


@dataclass(frozen=True, repr=False)
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
    form: ClassVar[int] = form_codes.NVI
    metric: ClassVar[bool] = True
