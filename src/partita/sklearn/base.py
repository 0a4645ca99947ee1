"""What both estimators share."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from partita.credible.ball import CredibleBall
from partita.labels import Labels
from partita.summary.result import Summary

_SEEDS = np.iinfo(np.int32).max


class SummaryEstimator(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer whose fit ends in a :class:`Summary`."""

    labels_: Labels
    n_clusters_: int
    credible_ball_: CredibleBall
    summary_: Summary

    def _seed(self) -> np.random.SeedSequence:
        """A seed as scikit-learn makes one: of ``random_state``, or of NumPy's global state."""
        numbers = check_random_state(self.random_state).randint(_SEEDS, size=4)
        return np.random.SeedSequence(numbers.tolist())

    def _keep(self, summary: Summary) -> Self:
        self.summary_ = summary
        self.credible_ball_ = summary.ball
        self.labels_ = summary.labels.copy()
        self.n_clusters_ = summary.n_clusters
        return self
