"""One small posterior, every kind of result made of it, and what each figure shows."""

from functools import cache
from typing import Any

import numpy as np

import partita as pt
from partita.representative.runs import compare_runs

TRUTH = np.repeat([0, 1, 2], [4, 3, 2])
NOISE = np.random.default_rng(0)
LABELS = np.where(NOISE.random((24, 9)) < 0.15, NOISE.integers(0, 3, (24, 9)), TRUTH)
CHAIN = np.repeat([0, 1], 12)
DATA = np.sin(np.arange(9.0)) + 4.0 * TRUTH
DRAWS = pt.Draws(LABELS, chain=CHAIN)
FEATURES = pt.FeatureDraws((NOISE.random((24, 9, 3)) < 0.4).astype(int), chain=CHAIN)
RUN = {"draws": 12, "burn_in": 1, "chains": 2, "rng": 0, "n_jobs": 1, "progress": False}
ONE, OTHER = TRUTH, TRUTH // 2

RESULTS = {
    "Draws": lambda: DRAWS,
    "FeatureDraws": lambda: FEATURES,
    "FeatureSummary": lambda: pt.summarize(FEATURES, path=True, n_jobs=1),
    "FeatureEstimate": lambda: made("FeatureSummary").estimate,
    "FeaturePath": lambda: made("FeatureSummary").path,
    "FeatureBall": lambda: made("FeatureSummary").ball,
    "FeatureBound": lambda: made("FeatureSummary").ball.upper,
    "FeatureItemUncertainty": lambda: made("FeatureSummary").items,
    "FeatureUncertainty": lambda: made("FeatureSummary").features,
    "FeatureCounts": lambda: made("FeatureSummary").counts,
    "FeatureRepresentatives": lambda: pt.representatives(FEATURES, n=2),
    "FeatureModes": lambda: pt.modes(FEATURES),
    "EstimatesByLoss": lambda: pt.compare_losses(DRAWS, ["vi", "binder"]),
    "RunComparison": lambda: compare_runs(DRAWS, list("ab") * 12, TRUTH, pt.VI()),
    "HasseDiagram": lambda: pt.hasse_diagram(3),
    "CredibleBall": lambda: made("Summary").ball,
    "Bound": lambda: made("Summary").ball.upper,
    "ItemUncertainty": lambda: made("Summary").items,
    "CredibleCore": lambda: pt.credible_core(DRAWS, prob=0.6, held_out=False),
    "PartialPartition": lambda: pt.lattice.PartialPartition([0, 0, 1, -1, -1, 1]),
    "Profiles": lambda: made("Summary").profiles,
    "ClusterUncertainty": lambda: made("Summary").clusters,
    "ClusterCounts": lambda: pt.n_clusters_posterior(DRAWS),
    "ClusterSizes": lambda: pt.cluster_sizes_posterior(DRAWS),
    "Diagnostics": lambda: made("Summary").diagnostics,
    "ChainAgreement": lambda: pt.chain_agreement(DRAWS),
    "ChainEstimates": lambda: pt.chain_estimates(DRAWS),
    "Summary": lambda: pt.summarize(DRAWS, data=DATA, n_jobs=1),
    "LossComparison": lambda: made("Summary").comparison,
    "ClustersCurve": lambda: pt.clusters_curve(DRAWS, k=range(1, 4)),
    "PointEstimate": lambda: made("Summary").estimate,
    "PricePath": lambda: pt.price_path(DRAWS),
    "Corner": lambda: next(iter(made("PricePath"))),
    "Stability": lambda: made("PricePath").stability(TRUTH),
    "SearchReport": lambda: made("Summary").estimate.search,
    "Start": lambda: made("Summary").estimate.search.starts[0],
    "Fit": lambda: pt.sample(DATA, **RUN),
    "ClusterParameters": lambda: made("Fit").cluster_parameters(TRUTH),
    "Density": lambda: made("Fit").density(np.array([[0.0], [1.0]])),
    "Moments": lambda: made("Fit").cluster_parameters(TRUTH)["mean"],
    "ChainStacking": lambda: made("Fit").stack_chains(),
    "ModelComparison": lambda: pt.compare([made("Fit")] * 2, new_data=[[0.0], [1.0]]),
    "PriorSensitivity": lambda: pt.prior_sensitivity(made("Fit"), n_jobs=1),
    "Reweighting": lambda: made("Fit").reweighted(made("Fit").prior).reweighting,
    "Explanation": lambda: pt.explain(ONE, OTHER),
    "Change": lambda: made("Explanation").changes[0],
    "Representatives": lambda: pt.representatives(DRAWS),
    "HeldOutCurve": lambda: made("Representatives").curve,
    "Modes": lambda: pt.modes(DRAWS),
    "Peaks": lambda: made("Modes").peaks[0],
    "PValue": lambda: pt.p_value(DRAWS, TRUTH),
    "ConformalSet": lambda: pt.conformal_set(DRAWS),
}
"""How each is made, by the name of its class."""


@cache
def made(name: str) -> Any:
    """The result of a class, made once."""
    return RESULTS[name]()


SHOWN = {
    **{"replicates": "Fit", "hasse": "HasseDiagram", "clusters_curve": "ClustersCurve"},
    **{"compare_losses": "EstimatesByLoss", "persistence": "Modes", "price_path": "PricePath"},
    **{"prior_sensitivity": "PriorSensitivity", "by_run": "RunComparison"},
    **{"representatives": "Representatives", "representatives_curve": "Representatives"},
    **dict.fromkeys(("feature_ball", "memberships", "n_features"), "FeatureSummary"),
}
"""What a figure shows where it is not a summary."""
