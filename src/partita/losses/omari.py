"""One minus the adjusted Rand index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita.kernels.losses import form_codes
from partita.losses.base import Loss


@dataclass(frozen=True, repr=False)
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
    form: ClassVar[int] = form_codes.OMARI
