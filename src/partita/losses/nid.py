"""Normalised information distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita.kernels.losses import form_codes
from partita.losses.base import Loss


@dataclass(frozen=True, repr=False)
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
    form: ClassVar[int] = form_codes.NID
    metric: ClassVar[bool] = True
