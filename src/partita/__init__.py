"""partita: from posterior draws of clusterings to a clustering you can report.

Point estimates that minimise a posterior expected loss, with a proof of how
good they are, and credible balls around them, after Wade and Ghahramani,
"Bayesian cluster analysis: Point estimation and credible balls".

Names load on first use, so ``import partita`` is light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partita._version import __version__
from partita.losses.names import homes

_NAMES = {
    "partitions.draws": "Draws",
    "partitions.types": "DrawsLike LabelsLike",
    "_validate": "Rng",
    "partitions.labels": "canonical n_clusters cluster_sizes cross_table",
    "losses.base": "Loss",
    "losses.function": "CallableLoss FunctionLoss loss",
    "losses.evaluate": "distance pairwise_distances expected_loss",
    "partitions.lattice": "meet join refines covers covered_by closest_neighbours",
    "partitions.enumeration": "all_partitions bell_number stirling_number",
    "partitions.random": "random_partition",
    "losses.hasse": "hasse_diagram HasseDiagram",
    "partitions.similarity": "similarity",
    "credible.ball": "credible_ball",
    "credible.ball_result": "CredibleBall",
    "credible.extremes": "Bound",
    "credible.items": "item_uncertainty ItemUncertainty",
    "credible.clusters": "cluster_uncertainty ClusterUncertainty",
    "credible.core": "credible_core",
    "credible.core_result": "CredibleCore",
    "partitions.partial": "PartialPartition",
    "credible.align": "align",
    "credible.profiles": "profiles",
    "partitions.profile_table": "Profiles",
    "credible.counts": "n_clusters_posterior ClusterCounts cluster_sizes_posterior ClusterSizes",
    "diagnostics.convergence": "diagnose",
    "diagnostics.result": "Diagnostics",
    "diagnostics.agreement": "chain_agreement ChainAgreement",
    "summary.result": "Summary",
    "summary.loss_comparison": "LossComparison",
    "summary.summarize": "summarize",
    "partitions.convert": "as_draws",
    "io.memberships": "draws_from_memberships similarity_from_memberships",
    "io.files": "read_draws write_draws",
    "search.estimate": "estimate",
    "search.clusters_curve": "clusters_curve",
    "search.curve_result": "ClustersCurve",
    "search.result": "PointEstimate SearchReport Start",
    "search.price_path": "price_path",
    "search.path_result": "PricePath Corner Stability",
    "samplers.sample": "sample",
    "samplers.fit": "Fit",
    "samplers.moments": "ClusterParameters Moments",
    "samplers.predictive": "Density",
    "samplers.chains": "Settings",
    "samplers.normal": "NormalInverseGamma",
    "samplers.wishart": "NormalInverseWishart",
    "samplers.bernoulli": "BetaBernoulli",
    "samplers.categorical": "DirichletCategorical",
    "samplers.poisson": "GammaPoisson",
    "samplers.product": "Product",
    "samplers.kernel": "Kernel",
    "samplers.partition_prior": "PartitionPrior",
    "samplers.product_partition": "ProductPartition",
    "samplers.priors": "DirichletProcess PitmanYor",
    "samplers.finite_mixture": "FiniteMixture",
    "samplers.hyperpriors": "Gamma F",
    "samplers.concentration": "concentration_for",
    "losses.explain": "explain Explanation Change",
    "rivals.representatives": "representatives",
    "rivals.result": "Representatives",
    "rivals.curve": "HeldOutCurve",
    "rivals.modes": "modes",
    "rivals.modes_result": "Modes",
    "rivals.peaks": "Peaks",
    "rivals.conformal": "p_value conformal_set",
    "rivals.p_values": "PValue ConformalSet",
    "_warmup": "warmup",
    "errors": "PartitaError",
}
"""The public names of each module that has some, but the losses, which have a table."""

_HOME = {name: module for module, names in _NAMES.items() for name in names.split()} | homes()
"""Public name to the module that defines it."""

_SUBMODULES = ("anndata", "arviz", "datasets", "plots", "sklearn", "testing")

__all__ = ["__version__", *_HOME, *_SUBMODULES]


if TYPE_CHECKING:
    # What a type checker and an editor see; tests/test_surface.py keeps it equal to _HOME.
    from partita import anndata as anndata
    from partita import arviz as arviz
    from partita import datasets as datasets
    from partita import plots as plots
    from partita import sklearn as sklearn
    from partita import testing as testing
    from partita._validate import Rng as Rng
    from partita._warmup import warmup as warmup
    from partita.credible.align import align as align
    from partita.credible.ball import credible_ball as credible_ball
    from partita.credible.ball_result import CredibleBall as CredibleBall
    from partita.credible.clusters import ClusterUncertainty as ClusterUncertainty
    from partita.credible.clusters import cluster_uncertainty as cluster_uncertainty
    from partita.credible.core import credible_core as credible_core
    from partita.credible.core_result import CredibleCore as CredibleCore
    from partita.credible.counts import ClusterCounts as ClusterCounts
    from partita.credible.counts import ClusterSizes as ClusterSizes
    from partita.credible.counts import cluster_sizes_posterior as cluster_sizes_posterior
    from partita.credible.counts import n_clusters_posterior as n_clusters_posterior
    from partita.credible.extremes import Bound as Bound
    from partita.credible.items import ItemUncertainty as ItemUncertainty
    from partita.credible.items import item_uncertainty as item_uncertainty
    from partita.credible.profiles import profiles as profiles
    from partita.diagnostics.agreement import ChainAgreement as ChainAgreement
    from partita.diagnostics.agreement import chain_agreement as chain_agreement
    from partita.diagnostics.convergence import diagnose as diagnose
    from partita.diagnostics.result import Diagnostics as Diagnostics
    from partita.errors import PartitaError as PartitaError
    from partita.io.files import read_draws as read_draws
    from partita.io.files import write_draws as write_draws
    from partita.io.memberships import draws_from_memberships as draws_from_memberships
    from partita.io.memberships import similarity_from_memberships as similarity_from_memberships
    from partita.losses.additive import Additive as Additive
    from partita.losses.base import Loss as Loss
    from partita.losses.binder import Binder as Binder
    from partita.losses.entropy import Entropy as Entropy
    from partita.losses.evaluate import distance as distance
    from partita.losses.evaluate import expected_loss as expected_loss
    from partita.losses.evaluate import pairwise_distances as pairwise_distances
    from partita.losses.explain import Change as Change
    from partita.losses.explain import Explanation as Explanation
    from partita.losses.explain import explain as explain
    from partita.losses.function import CallableLoss as CallableLoss
    from partita.losses.function import FunctionLoss as FunctionLoss
    from partita.losses.function import loss as loss
    from partita.losses.hasse import HasseDiagram as HasseDiagram
    from partita.losses.hasse import hasse_diagram as hasse_diagram
    from partita.losses.id import ID as ID
    from partita.losses.nid import NID as NID
    from partita.losses.nvi import NVI as NVI
    from partita.losses.omari import OneMinusARI as OneMinusARI
    from partita.losses.ompear import OneMinusPEAR as OneMinusPEAR
    from partita.losses.vi import VI as VI
    from partita.losses.vi_lower_bound import VILowerBound as VILowerBound
    from partita.partitions.convert import as_draws as as_draws
    from partita.partitions.draws import Draws as Draws
    from partita.partitions.enumeration import all_partitions as all_partitions
    from partita.partitions.enumeration import bell_number as bell_number
    from partita.partitions.enumeration import stirling_number as stirling_number
    from partita.partitions.labels import canonical as canonical
    from partita.partitions.labels import cluster_sizes as cluster_sizes
    from partita.partitions.labels import cross_table as cross_table
    from partita.partitions.labels import n_clusters as n_clusters
    from partita.partitions.lattice import closest_neighbours as closest_neighbours
    from partita.partitions.lattice import covered_by as covered_by
    from partita.partitions.lattice import covers as covers
    from partita.partitions.lattice import join as join
    from partita.partitions.lattice import meet as meet
    from partita.partitions.lattice import refines as refines
    from partita.partitions.partial import PartialPartition as PartialPartition
    from partita.partitions.profile_table import Profiles as Profiles
    from partita.partitions.random import random_partition as random_partition
    from partita.partitions.similarity import similarity as similarity
    from partita.partitions.types import DrawsLike as DrawsLike
    from partita.partitions.types import LabelsLike as LabelsLike
    from partita.rivals.conformal import conformal_set as conformal_set
    from partita.rivals.conformal import p_value as p_value
    from partita.rivals.curve import HeldOutCurve as HeldOutCurve
    from partita.rivals.modes import modes as modes
    from partita.rivals.modes_result import Modes as Modes
    from partita.rivals.p_values import ConformalSet as ConformalSet
    from partita.rivals.p_values import PValue as PValue
    from partita.rivals.peaks import Peaks as Peaks
    from partita.rivals.representatives import representatives as representatives
    from partita.rivals.result import Representatives as Representatives
    from partita.samplers.bernoulli import BetaBernoulli as BetaBernoulli
    from partita.samplers.categorical import DirichletCategorical as DirichletCategorical
    from partita.samplers.chains import Settings as Settings
    from partita.samplers.concentration import concentration_for as concentration_for
    from partita.samplers.finite_mixture import FiniteMixture as FiniteMixture
    from partita.samplers.fit import Fit as Fit
    from partita.samplers.hyperpriors import F as F
    from partita.samplers.hyperpriors import Gamma as Gamma
    from partita.samplers.kernel import Kernel as Kernel
    from partita.samplers.moments import ClusterParameters as ClusterParameters
    from partita.samplers.moments import Moments as Moments
    from partita.samplers.normal import NormalInverseGamma as NormalInverseGamma
    from partita.samplers.partition_prior import PartitionPrior as PartitionPrior
    from partita.samplers.poisson import GammaPoisson as GammaPoisson
    from partita.samplers.predictive import Density as Density
    from partita.samplers.priors import DirichletProcess as DirichletProcess
    from partita.samplers.priors import PitmanYor as PitmanYor
    from partita.samplers.product import Product as Product
    from partita.samplers.product_partition import ProductPartition as ProductPartition
    from partita.samplers.sample import sample as sample
    from partita.samplers.wishart import NormalInverseWishart as NormalInverseWishart
    from partita.search.clusters_curve import clusters_curve as clusters_curve
    from partita.search.curve_result import ClustersCurve as ClustersCurve
    from partita.search.estimate import estimate as estimate
    from partita.search.path_result import Corner as Corner
    from partita.search.path_result import PricePath as PricePath
    from partita.search.path_result import Stability as Stability
    from partita.search.price_path import price_path as price_path
    from partita.search.result import PointEstimate as PointEstimate
    from partita.search.result import SearchReport as SearchReport
    from partita.search.result import Start as Start
    from partita.summary.loss_comparison import LossComparison as LossComparison
    from partita.summary.result import Summary as Summary
    from partita.summary.summarize import summarize as summarize
else:  # hidden from type checkers, to whom it would mean that every name exists

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
