"""The posterior of the number of clusters and of their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import whole
from partita._vocabulary import Kind, words
from partita.credible.levels import MASS_TOLERANCE, clean_prob
from partita.kernels.arrays import Floats, Int32s
from partita.losses.posterior import as_posterior
from partita.partitions.convert import as_draws
from partita.partitions.numbering import data_frame
from partita.partitions.types import DrawsLike

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClusterCounts(Result):
    """Posterior of the number of clusters. Made by :func:`n_clusters_posterior`.

    Attributes
    ----------
    values : ndarray of int64
        The numbers of clusters that occur, increasing.
    probabilities : ndarray of float, same shape
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    values: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    kind: Kind = "posterior"

    @property
    def mode(self) -> int:
        """The most probable number; the smallest of those that tie."""
        return int(self.values[self.probabilities.argmax()])

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float((self.values * self.probabilities).sum())

    def interval(self, prob: float = 0.95) -> tuple[int, int]:
        """Equal-tailed interval: the quantiles at (1 − prob)/2 and (1 + prob)/2."""
        level = clean_prob(prob)
        reached = np.cumsum(self.probabilities)
        ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        at = np.searchsorted(reached, ends - MASS_TOLERANCE).clip(0, self.values.size - 1)
        return int(self.values[at[0]]), int(self.values[at[1]])

    def to_frame(self) -> pd.DataFrame:
        """One row per number of clusters."""
        columns = {"n_clusters": self.values, "probability": self.probabilities}
        return data_frame(columns, of="cluster counts")

    def __repr__(self) -> str:
        low, high = self.interval()
        top = float(self.probabilities.max())
        return (
            f"<ClusterCounts: mode {self.mode} ({words(self.kind).probability} {top:.3g}), "
            f"mean {self.mean:.3g}, 95% in {low} to {high}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSizes(Result):
    """Posterior of the sorted cluster sizes. Made by :func:`cluster_sizes_posterior`.

    Entry j describes the size of the (j+1)-th largest cluster, 0 in draws that
    have fewer clusters.

    Attributes
    ----------
    mean, median, lower, upper : ndarray of float, shape (n_ranks,)
        Mean, median, and the ends of the equal-tailed interval of probability ``prob``.
    present : ndarray of float, shape (n_ranks,)
        Probability that there are that many clusters.
    prob : float
    """

    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    present: NDArray[np.float64]
    prob: float

    def __len__(self) -> int:
        return int(self.mean.size)

    def to_frame(self) -> pd.DataFrame:
        """One row per rank, from the largest cluster on."""
        names = ("mean", "median", "lower", "upper", "present")
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="cluster sizes", index=range(1, len(self) + 1), name="rank")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{value:.1f}" for value in self.mean[:6].tolist())
        more = ", …" if len(self) > 6 else ""
        return f"<ClusterSizes: mean sizes from the largest on: {sizes}{more}>"


def n_clusters_posterior(draws: DrawsLike) -> ClusterCounts:
    """The posterior of the number of clusters.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts

    Returns
    -------
    ClusterCounts

    Notes
    -----
    O(M) for M draws.

    Examples
    --------
    >>> import partita as pt
    >>> k = pt.n_clusters_posterior([[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> k.values, k.probabilities
    (array([1, 2, 3]), array([0.25, 0.5 , 0.25]))
    >>> k.mode, k.mean
    (2, 2.0)
    """
    clean = as_draws(draws)
    values, number = np.unique(clean.n_clusters, return_inverse=True)
    if clean.weights is None:
        return ClusterCounts(values, np.bincount(number) / clean.n_draws, clean.kind)
    mass = np.bincount(number, weights=clean.weights)
    return ClusterCounts(values, np.asarray(mass, np.float64), clean.kind)


def cluster_sizes_posterior(
    draws: DrawsLike, *, prob: float = 0.95, n_ranks: int | None = None
) -> ClusterSizes:
    """The posterior of the cluster sizes, sorted from the largest cluster on.

    Sorting makes sizes comparable across draws without matching labels.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.95
        Probability of the equal-tailed intervals.
    n_ranks : int, optional
        How many of the largest clusters to describe; all by default.

    Returns
    -------
    ClusterSizes

    Notes
    -----
    O(M·(N + R·log M)) time for M draws of N items and R ranks, O(M·R) memory.

    Examples
    --------
    >>> import partita as pt
    >>> sizes = pt.cluster_sizes_posterior([[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 0]])
    >>> sizes.mean, sizes.present
    (array([2.5, 0.5]), array([1. , 0.5]))
    """
    posterior = as_posterior(draws)
    clean, level = posterior.draws, clean_prob(prob)
    most = int(clean.n_clusters.max())
    kept = most if n_ranks is None else min(whole(n_ranks, "n_ranks", least=1), most)
    ranked = posterior.shapes(kept)[1]
    probabilities = clean.probabilities
    tails = [(1.0 - level) / 2.0, 0.5, (1.0 + level) / 2.0]
    lower, median, upper = np.array(
        [_quantiles(ranked[:, j], probabilities, tails) for j in range(kept)]
    ).T
    if clean.weights is None:
        mean = ranked.sum(axis=0, dtype=np.int64) / clean.n_draws
        present = (ranked > 0).sum(axis=0) / clean.n_draws
    else:
        mean, present = probabilities @ ranked, probabilities @ (ranked > 0)
    return ClusterSizes(mean, median, lower, upper, present, level)


def _quantiles(values: Int32s, probabilities: Floats, at: list[float]) -> Int32s:
    """The smallest values whose mass up to them reaches each probability."""
    reached = np.cumsum(np.bincount(values, weights=probabilities))
    where = np.searchsorted(reached, np.array(at) - MASS_TOLERANCE)
    return where.clip(int(values.min()), int(values.max())).astype(np.int32)
