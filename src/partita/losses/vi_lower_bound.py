"""The paper's Jensen surrogate of the expected variation of information."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.losses.base import Loss, Term, pairs_within
from partita.losses.priced import PricedForm
from partita.losses.vi import VI
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, sum_blocks


@dataclass(frozen=True, eq=False, repr=False)
class VILowerBound(Loss):
    r"""The paper's E[VI_LB]: expected VI with logarithm and expectation exchanged.

    .. math:: \frac1N \sum_i \Bigl[\log n_i + \log \sum_j p_{ij}
              - 2 \log \sum_{j \in \hat C_i} p_{ij}\Bigr]

    with n_i the size of the estimated cluster of item i and p the similarity
    matrix. Jensen's inequality bounds the term that depends on the estimate,
    so the minimiser is that of a lower bound. The value itself is **not** a
    lower bound of E[VI]: the second term, constant in the estimate, is an
    upper bound of :math:`E \log |C_i|`. Choose it to reproduce mcclust.ext, or when
    only a similarity matrix is at hand; otherwise prefer :class:`VI`.

    Notes
    -----
    O(M N) from draws, O(N²) from a similarity matrix. For a single draw it is
    the variation of information itself. It is no metric.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 4.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.expected_loss([0, 0, 1, 1], draws, loss="vi_lb").round(4)
    array([0.5527])
    """

    name: ClassVar[str] = "vi_lb"
    title: ClassVar[str] = "Jensen surrogate of the expected VI"
    unit: ClassVar[str] = "bits"
    term: ClassVar[Term] = "entropy"
    averages_distances: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    from_similarity: ClassVar[Literal["logarithms"]] = "logarithms"

    def form(self, n_items: int) -> PricedForm:
        """That of the variation of information."""
        return VI().form(n_items)

    def ball_metric(self) -> Loss:
        """The variation of information, of which this is a surrogate."""
        return VI()

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Evaluate from the draws, without a similarity matrix."""
        counted = partial(_companions, estimate=estimate)
        within, anywhere = sum_blocks(counted, draws, n_jobs=n_jobs)
        return self._value(estimate, within, anywhere)

    def expected_from_similarity(self, estimate: Labels, similarity: NDArray[np.float64]) -> float:
        """Evaluate from the similarity matrix."""
        return self._value(estimate, pairs_within(estimate, similarity), similarity.sum(axis=1))

    def _value(self, estimate: Labels, within: Floats, anywhere: Floats) -> float:
        # Σ n_k log n_k item by item, as the two other sums: equal partitions are at exactly 0.
        sums = (np.log2(x).sum() for x in (within, np.bincount(estimate)[estimate], anywhere))
        return VI().form(estimate.size).combine(*map(float, sums))


def _companions(block: Block, *, estimate: Labels) -> tuple[Floats, Floats]:
    """What a block adds to each item's expected companions, in its cluster and anywhere."""
    from partita.kernels.losses.distances import companions

    within, anywhere = np.zeros(estimate.size), np.zeros(estimate.size)
    mass = block.probabilities
    companions(estimate, block.rows, block.n_clusters, mass, within, anywhere)
    return within, anywhere
