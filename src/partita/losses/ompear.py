"""One minus the posterior expected adjusted Rand index, to first order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.losses.base import Loss, Term, pair_sums
from partita.losses.omari import OneMinusARI, OneMinusARIForm
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, sum_blocks


@dataclass(frozen=True, eq=False, repr=False)
class OneMinusPEAR(Loss):
    r"""One minus the first-order posterior expected adjusted Rand index (mcclust's ``maxpear``).

    The numbers of pairs in the adjusted Rand index are replaced by their
    posterior expectations, so it depends on the similarity matrix p alone:

    .. math:: 1 - \frac{\sum_{i<j} I_{ij} p_{ij} - \epsilon}
              {\tfrac12 \bigl[\sum_{i<j} I_{ij} + \sum_{i<j} p_{ij}\bigr] - \epsilon},
              \quad \epsilon = \sum_{i<j} I_{ij} \sum_{i<j} p_{ij} / \binom{N}{2}

    with I_ij = 1 when the estimate joins i and j. Choose it to reproduce
    mcclust; :class:`OneMinusARI` averages the index itself.

    Notes
    -----
    O(M N) from draws, O(N²) from a similarity matrix. It is no metric.

    References
    ----------
    Fritsch, A. and Ickstadt, K. (2009), Improved criteria for clustering based
    on the posterior similarity matrix. Bayesian Analysis 4.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.expected_loss([0, 0, 1, 1], draws, loss="ompear").round(4)
    array([0.5294])
    """

    name: ClassVar[str] = "ompear"
    title: ClassVar[str] = "one minus the posterior expected adjusted Rand index"
    term: ClassVar[Term] = "pairs"
    averages_distances: ClassVar[bool] = False
    averages_sums: ClassVar[bool] = True
    from_similarity: ClassVar[Literal["sums"]] = "sums"

    def form(self, n_items: int) -> OneMinusARIForm:
        """That of the index itself, at mean sums."""
        return OneMinusARI().form(n_items)

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Evaluate from the draws, without a similarity matrix."""
        sums = partial(_mean_sums, estimate=estimate, terms=self.terms(draws.n_items))
        (means,) = sum_blocks(sums, draws, n_jobs=n_jobs)
        own = float((np.bincount(estimate).astype(np.float64) ** 2).sum())
        return OneMinusARI().form(draws.n_items).combine(float(means[0]), own, float(means[1]))

    def expected_from_similarity(self, estimate: Labels, similarity: NDArray[np.float64]) -> float:
        """Evaluate from the similarity matrix."""
        return OneMinusARI().form(estimate.size).combine(*pair_sums(estimate, similarity))


def _mean_sums(block: Block, *, estimate: Labels, terms: Floats) -> tuple[Floats]:
    """What a block adds to the means of Σ n_te² and Σ n_t²."""
    from partita.kernels.losses.distances import sums_of_rows

    joint, truth = sums_of_rows(estimate, block.rows, block.n_clusters, terms)
    mass = block.probabilities
    return (np.array([(joint * mass).sum(), (truth * mass).sum()]),)
