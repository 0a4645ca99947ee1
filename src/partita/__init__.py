"""partita: from posterior draws of clusterings to a clustering you can report.

Point estimates that minimise a posterior expected loss, with a proof of how
good they are, and credible balls around them, after Wade and Ghahramani,
"Bayesian cluster analysis: Point estimation and credible balls".

Names load on first use, so ``import partita`` is light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Draws": "partitions.draws",
    "canonical": "partitions.labels",
    "n_clusters": "partitions.labels",
    "cluster_sizes": "partitions.labels",
    "cross_table": "partitions.labels",
    "VI": "losses.vi",
    "Binder": "losses.binder",
    "VILowerBound": "losses.vi_lower_bound",
    "NVI": "losses.nvi",
    "ID": "losses.id",
    "NID": "losses.nid",
    "OneMinusARI": "losses.omari",
    "OneMinusPEAR": "losses.ompear",
    "distance": "losses.evaluate",
    "pairwise_distances": "losses.evaluate",
    "expected_loss": "losses.evaluate",
    "meet": "partitions.lattice",
    "join": "partitions.lattice",
    "refines": "partitions.lattice",
    "covers": "partitions.lattice",
    "covered_by": "partitions.lattice",
    "closest_neighbours": "partitions.lattice",
    "all_partitions": "partitions.enumeration",
    "bell_number": "partitions.enumeration",
    "stirling_number": "partitions.enumeration",
    "random_partition": "partitions.random",
    "hasse_diagram": "partitions.hasse",
    "HasseDiagram": "partitions.hasse",
    "similarity": "partitions.similarity",
    "credible_ball": "credible.ball",
    "CredibleBall": "credible.ball",
    "item_uncertainty": "credible.items",
    "cluster_uncertainty": "credible.clusters",
    "credible_core": "credible.core",
    "CredibleCore": "credible.core",
    "PartialPartition": "partitions.partial",
    "align": "credible.align",
    "profiles": "credible.profiles",
    "Profiles": "partitions.profile_table",
    "n_clusters_posterior": "credible.counts",
    "cluster_sizes_posterior": "credible.counts",
    "diagnose": "diagnostics.convergence",
    "Diagnostics": "diagnostics.convergence",
    "chain_agreement": "diagnostics.agreement",
    "Summary": "summary.result",
    "summarize": "summary.summarize",
    "as_draws": "partitions.convert",
    "read_draws": "io.files",
    "write_draws": "io.files",
    "estimate": "search.estimate",
    "PointEstimate": "search.result",
    "sample": "samplers.sample",
    "Fit": "samplers.fit",
    "NormalInverseGamma": "samplers.normal",
    "NormalInverseWishart": "samplers.wishart",
    "BetaBernoulli": "samplers.categorical",
    "DirichletCategorical": "samplers.categorical",
    "GammaPoisson": "samplers.poisson",
    "Product": "samplers.product",
    "Kernel": "samplers.kernel",
    "PartitionPrior": "samplers.priors",
    "ProductPartition": "samplers.product_partition",
    "DirichletProcess": "samplers.priors",
    "PitmanYor": "samplers.priors",
    "FiniteMixture": "samplers.finite_mixture",
    "Gamma": "samplers.priors",
    "concentration_for": "samplers.concentration",
    "explain": "losses.explain",
    "Explanation": "losses.explain",
    "representatives": "rivals.representatives",
    "Representatives": "rivals.result",
    "p_value": "rivals.conformal",
    "PValue": "rivals.conformal",
    "conformal_set": "rivals.conformal",
    "ConformalSet": "rivals.conformal",
    "PartitaError": "errors",
}
"""Public name to the module that defines it."""

_SUBMODULES = ("anndata", "arviz", "datasets", "plots", "sklearn", "testing")

__all__ = ["__version__", *_HOME, *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"partita.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"partita.{name}")
    raise AttributeError(f"module 'partita' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
