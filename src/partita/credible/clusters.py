"""How certain each cluster of an estimate is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._wording import counted
from partita.credible.comparison import JACCARD, Comparison, compare
from partita.partitions.convert import as_draws
from partita.partitions.labels import as_labels, by_size
from partita.partitions.numbering import data_frame, from_one
from partita.partitions.types import DrawsLike, LabelsLike

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClusterUncertainty(Result):
    """How certain each of the K clusters of an estimate is.

    Made by :func:`cluster_uncertainty`. Clusters are numbered by size.

    Attributes
    ----------
    size : ndarray of int64, shape (K,)
    within : ndarray of float, shape (K,)
        Mean similarity between members; for a single item, the probability
        that it is alone.
    nearest : ndarray of int32, shape (K,)
        The other cluster with the largest mean similarity; −1 when there is none.
    nearest_similarity : ndarray of float, shape (K,)
        Mean similarity to the nearest other cluster; 0 when there is none.
    unchanged : ndarray of float, shape (K,)
        Posterior probability that the cluster appears with exactly these members.
    similar : ndarray of float, shape (K,)
        Posterior probability of a cluster that overlaps it by a Jaccard
        similarity of at least ``jaccard``.
    jaccard : float
    between : ndarray of float, shape (K, K)
        Mean similarity between the members of two clusters; the diagonal is ``within``.
    """

    size: NDArray[np.int64]
    within: NDArray[np.float64]
    nearest: NDArray[np.int32]
    nearest_similarity: NDArray[np.float64]
    unchanged: NDArray[np.float64]
    similar: NDArray[np.float64]
    jaccard: float
    between: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.size.size)

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per cluster.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters from 1, as R does; −1 stays none.
        """
        columns = {
            "size": self.size,
            "within": self.within,
            "nearest": from_one(self.nearest, one_based),
            "nearest_similarity": self.nearest_similarity,
            "unchanged": self.unchanged,
            "similar": self.similar,
        }
        index = range(int(one_based), len(self) + one_based)
        return data_frame(columns, of="the clusters", index=index, name="cluster")

    def __repr__(self) -> str:
        within = ", ".join(f"{value:.2f}" for value in self.within[:6].tolist())
        more = ", …" if len(self) > 6 else ""
        clusters = counted(len(self), "cluster")
        return f"<ClusterUncertainty: {clusters}; similarity within: {within}{more}>"


def cluster_uncertainty(
    draws: DrawsLike,
    estimate: LabelsLike,
    *,
    jaccard: float = JACCARD,
    n_jobs: int | None = None,
) -> ClusterUncertainty:
    r"""How certain each cluster of an estimate is.

    A stable cluster is tight (similarity within near 1), apart (similarity to
    the nearest other cluster near 0), and comes back in the draws: unchanged,
    or up to a Jaccard similarity :math:`|A \cap B| / |A \cup B|` of at least ``jaccard``.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate
    jaccard : float in (0, 1], default 0.8
        Overlap from which on a cluster of a draw counts as this one.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ClusterUncertainty

    Notes
    -----
    O(M·N·K) time for M draws of N items and K estimated clusters, O(N·K)
    memory: no N×N matrix is built.

    References
    ----------
    Hennig, C. (2007), Cluster-wise assessment of cluster stability.
    Computational Statistics and Data Analysis 52 (the Jaccard criterion).

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> clusters = pt.cluster_uncertainty(draws, [0, 0, 1, 1])
    >>> clusters.within, clusters.unchanged
    (array([1.  , 0.75]), array([0.75, 0.75]))
    """
    clean = as_draws(draws)
    labels = as_labels(estimate, n_items=clean.n_items, argument="estimate")
    return clusters_from(compare(by_size(labels), clean, jaccard=jaccard, n_jobs=n_jobs))


def clusters_from(comparison: Comparison) -> ClusterUncertainty:
    """The table of clusters from a comparison already made."""
    affinity = comparison.affinity()
    sizes = comparison.sizes
    between = np.zeros((sizes.size, sizes.size))
    np.add.at(between, comparison.estimate, affinity)
    between /= sizes[:, None]
    within = between.diagonal().copy()
    if sizes.size == 1:
        nearest = np.full(1, -1, np.int32)
        nearest_similarity = np.zeros(1)
    else:
        others = between.copy()
        np.fill_diagonal(others, -1.0)
        nearest = others.argmax(axis=1).astype(np.int32)
        nearest_similarity = others.max(axis=1)
    return ClusterUncertainty(
        size=sizes,
        within=within,
        nearest=nearest,
        nearest_similarity=nearest_similarity,
        unchanged=comparison.unchanged,
        similar=comparison.similar,
        jaccard=comparison.jaccard,
        between=between,
    )
