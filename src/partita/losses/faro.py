"""FARO: the loss of feature allocations, and of partitions, by the best matching of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from partita._resources import run
from partita._validate import number, unexpected
from partita.draws import Draws
from partita.features.draws import FeatureDraws
from partita.kernels.arrays import Floats, Ints, UInt64s
from partita.labels import Labels
from partita.losses.base import Counts, Loss, Rows
from partita.scan import Block, concatenated, map_blocks

_BLOCK_WORK = 1 << 24
"""Words of draws times features of the estimate that a thread compares at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class FARO(Loss):
    r"""Feature-allocation loss: memberships that differ after the best matching of features.

    With M(Z, T) the largest total overlap of the columns of the estimate Z and of the truth T,
    matched one to one, and :math:`|Z|` the number of memberships (ones) of an allocation,

    .. math:: L(Z, T) = a\,|Z| + (2 - a)\,|T| - 2\,M(Z, T) = a\,A + (2 - a)\,B,

    where A = :math:`|Z| - M` counts memberships that are claimed and not true, and
    B = :math:`|T| - M` those that are true and not claimed. Choose it for overlapping clusters
    (:class:`FeatureDraws`). At a = 1 it is a metric with whole values; on partitions, where a makes
    no difference, it is twice the transfer distance: the number of items to move, counted at both
    ends.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of a claimed membership that is not true; one that is missed costs 2 − a. An
        estimate claims a membership that has posterior probability above a/2.

    Notes
    -----
    O(K²N/64 + K³) per pair. The matching does not depend on a.

    References
    ----------
    Dahl, D. B., Johnson, D. J. and Andros, R. J. (2023), Comparison and Bayesian estimation of
    feature allocations. Journal of Computational and Graphical Statistics 32.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([[1, 0], [1, 1], [0, 1]], [[1], [1], [1]], loss=pt.FARO())
    3.0
    >>> pt.distance([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], loss="faro")
    4.0
    """

    name: ClassVar[str] = "faro"
    unit: ClassVar[str] = "memberships"
    parameter: ClassVar[str | None] = "a"
    metric: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True
    of_features: ClassVar[bool] = True

    a: float = 1.0

    def __post_init__(self) -> None:
        expected = (
            "a number strictly between 0 and 2. a = 1 prices memberships that are claimed and not "
            "true, and those that are missed, equally; a > 1 claims fewer"
        )
        cleaned = number(self.a, "a", expected)
        if not 0.0 < cleaned < 2.0:
            raise unexpected(self.a, "a", expected)
        object.__setattr__(self, "a", cleaned)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Its name in prose, with the price unless that is 1."""
        return "feature-allocation loss" + ("" if self.a == 1.0 else f" (a = {self.a:g})")

    @property
    def price(self) -> float:
        """The parameter a."""
        return self.a

    def with_price(self, a: float) -> Self:
        """The same loss at another price of a claimed membership."""
        return replace(self, a=a)

    def distances(
        self, estimate: Labels | UInt64s, draws: Draws | FeatureDraws, n_jobs: int | None = None
    ) -> Floats:
        """Loss of one estimate against each draw, shape (n_draws,).

        The estimate is a partition as labels, or an allocation as columns of bits.
        """
        if isinstance(draws, FeatureDraws):
            matched = matchings(estimate, draws, n_jobs)  # type: ignore[arg-type]
            own = int(np.bitwise_count(estimate).sum())
            return self.a * own + (2.0 - self.a) * draws.n_memberships - 2.0 * matched
        measured = partial(_measured, estimate=np.asarray(estimate, np.int32))
        (found,) = concatenated(map_blocks(measured, draws, n_jobs=n_jobs))
        return found

    def expected(
        self, estimate: Labels | UInt64s, draws: Draws | FeatureDraws, n_jobs: int | None = None
    ) -> float:
        """Posterior expected loss of one estimate."""
        return float((self.distances(estimate, draws, n_jobs) * draws.probabilities).sum())

    def among(self, draws: FeatureDraws, n_jobs: int | None = None) -> Floats:
        """Losses between every two draws, rows being the estimates."""
        return self.between(draws, draws, n_jobs)

    def between(self, a: FeatureDraws, b: FeatureDraws, n_jobs: int | None = None) -> Floats:
        """Losses between every draw of a (estimates) and every one of b (truths)."""
        symmetric = a is b and self.is_symmetric
        out = np.zeros((a.n_draws, b.n_draws))

        def row(m: int) -> None:
            first = m if symmetric else 0
            out[m, first:] = self.distances(a.point(m), b[first:], n_jobs=1)

        run(row, range(a.n_draws), n_jobs)
        if symmetric:
            lower = np.tril_indices(a.n_draws, -1)
            out[lower] = out.T[lower]
        return out

    def _one_by_one(self, estimate: Labels, rows: Rows, counts: Counts) -> Floats:
        return _distances(estimate, rows, np.array(counts))


def _measured(block: Block, *, estimate: Labels) -> tuple[Floats]:
    return (_distances(estimate, block.rows, np.array(block.n_clusters)),)


def _distances(estimate: Labels, rows: Rows, counts: Counts) -> Floats:
    """Twice the items that lie outside the best matching of clusters."""
    from partita.kernels.uncertainty import match_rows

    _, shared = match_rows(estimate, int(estimate.max()) + 1, rows, counts)
    return (2 * (estimate.size - shared)).astype(np.float64)


def matchings(estimate: UInt64s, draws: FeatureDraws, n_jobs: int | None = None) -> Ints:
    """M(Z, T): the overlap of the best matching of an allocation and each draw."""
    from partita.kernels.features import matched_overlaps

    z = np.array(estimate)  # a read-only array would compile again

    def matched(part: slice) -> Ints:
        columns, offsets = writable(draws, part)
        out = np.empty(offsets.size - 1, np.int64)
        matched_overlaps(z, columns, offsets, out)
        return out

    return np.concatenate(run(matched, feature_blocks(draws, z.size), n_jobs))


def feature_blocks(draws: FeatureDraws, size: int) -> Iterator[slice]:
    """Slices of draws for the threads, for work of ``size`` on each word of a draw."""
    words = draws.columns.size / draws.n_draws + 1.0
    step = max(16, int(_BLOCK_WORK / (words * (size + 1))))
    for start in range(0, draws.n_draws, step):
        yield slice(start, min(start + step, draws.n_draws))


def writable(draws: FeatureDraws, part: slice) -> tuple[UInt64s, Ints]:
    """Columns and offsets of some draws, copied: kernels compile for arrays that are writable."""
    offsets = draws.offsets[part.start : part.stop + 1]
    return np.array(draws.columns[offsets[0] : offsets[-1]]), offsets - offsets[0]
