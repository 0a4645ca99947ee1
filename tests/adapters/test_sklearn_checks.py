"""scikit-learn's own checks of estimators; those that cannot apply are named with the reason."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita.sklearn import BayesianMixture, PartitionConsensus

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FEW = {"draws": 16, "burn_in": 8, "chains": 1, "n_jobs": 1}

ESTIMATORS = [
    BayesianMixture(**FEW),
    PartitionConsensus(bound=None, n_jobs=1),  # the proof takes long where columns are noise
]


NOT_LABELS = (
    "the check clusters points in the plane; PartitionConsensus takes labelings, and refuses "
    "fractional numbers so that data are not mistaken for labels"
)


NOISE = (
    "the check wants negative numbers to be taken as they come; as labels, −1 beside others may "
    "mean noise, and ``noise`` must say what it means"
)


def cannot_apply(estimator):
    if not isinstance(estimator, PartitionConsensus):
        return {}
    return {"check_clustering": NOT_LABELS, "check_positive_only_tag_during_fit": NOISE}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_apply, xfail_strict=True)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
