"""Binder's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.kernels.losses import form_codes
from partita.losses.base import Loss, clean_price, pairs_within
from partita.partitions.labels import Labels


@dataclass(frozen=True, repr=False)
class Binder(Loss):
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
    title: ClassVar[str] = "Binder's loss"
    form: ClassVar[int] = form_codes.BINDER
    metric: ClassVar[bool] = True
    uses_similarity: ClassVar[bool] = True

    a: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", clean_price(self.a))

    @property
    def split_price(self) -> float:
        """The parameter a."""
        return self.a

    def expected_from_similarity(self, estimate: Labels, similarity: NDArray[np.float64]) -> float:
        """Σ over pairs of the price of the error times its probability."""
        own = float((np.bincount(estimate).astype(np.float64) ** 2).sum())
        together = float(pairs_within(estimate, similarity).sum())
        total = self.a * float(similarity.sum()) + (2.0 - self.a) * own - 2.0 * together
        return max(total / float(estimate.size) ** 2, 0.0)
