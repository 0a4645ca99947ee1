"""The summary of a posterior of clusterings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.credible.ball import CredibleBall
from partita.credible.clusters import ClusterUncertainty
from partita.credible.counts import ClusterCounts, ClusterSizes
from partita.credible.items import ItemUncertainty
from partita.diagnostics.convergence import Diagnostics
from partita.losses.base import Loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels


@dataclass(frozen=True, eq=False)
class LossComparison:
    """The VI and Binder estimates side by side, as in the paper's tables.

    Attributes
    ----------
    names : tuple of str
        One per estimate: "VI", "Binder", and the loss of the summary when it
        is neither.
    n_clusters : ndarray of int64, shape (n_names,)
    expected_binder, expected_vi_lb, expected_vi : ndarray of float, shape (n_names,)
        Posterior expected losses of each estimate.
    vi_distance, binder_distance : float
        Distances between the VI estimate and the Binder estimate.
    """

    names: tuple[str, ...]
    n_clusters: NDArray[np.int64]
    expected_binder: NDArray[np.float64]
    expected_vi_lb: NDArray[np.float64]
    expected_vi: NDArray[np.float64]
    vi_distance: float
    binder_distance: float


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Point estimate, credible ball, uncertainty and diagnostics. Made by :func:`summarize`.

    Attributes
    ----------
    draws : Draws
        The draws, kept by reference.
    data : ndarray of float, shape (n_items, n_columns), or None
        The observations, when given.
    data_names : tuple of str, or None
        Names of the columns of the data.
    estimate : PointEstimate
        The estimate under the loss of the summary.
    vi_estimate, binder_estimate : PointEstimate
        The estimates under VI and Binder's loss; one of them may be ``estimate``.
    comparison : LossComparison
        Their numbers of clusters and expected losses.
    ball : CredibleBall
        Around the estimate, under its loss, or under VI when that is no metric.
    items : ItemUncertainty
    clusters : ClusterUncertainty
    counts : ClusterCounts
        Posterior of the number of clusters.
    sizes : ClusterSizes
        Posterior of the sorted cluster sizes.
    diagnostics : Diagnostics
    options : mapping
        How it was made: the arguments of :func:`summarize`.
    versions : mapping
        Versions of partita and of the libraries it computes with.
    seconds : float
        Time taken.
    """

    draws: Draws
    data: NDArray[np.float64] | None
    data_names: tuple[str, ...] | None
    estimate: Any
    vi_estimate: Any
    binder_estimate: Any
    comparison: LossComparison
    ball: CredibleBall
    items: ItemUncertainty
    clusters: ClusterUncertainty
    counts: ClusterCounts
    sizes: ClusterSizes
    diagnostics: Diagnostics
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @property
    def labels(self) -> Labels:
        """Labels of the estimate, shape (n_items,)."""
        labels: Labels = self.estimate.labels
        return labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return int(self.estimate.n_clusters)

    @property
    def loss(self) -> Loss:
        """The loss the estimate minimises."""
        loss: Loss = self.estimate.loss
        return loss

    @property
    def prob(self) -> float:
        """Probability of the credible ball."""
        return self.ball.prob
