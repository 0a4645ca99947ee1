"""The public names, each from the module that defines it: the one list of them.

Type checkers read it, and ``__init__.py`` loads names by it on first use (SPEC 1). A loss needs its
row in ``losses/__init__.py`` as well, and every name its place in ``docs/reference``.
"""

__version__: str
__all__: list[str]

from partita import anndata as anndata
from partita import arviz as arviz
from partita import datasets as datasets
from partita import lattice as lattice
from partita import plots as plots
from partita import results as results
from partita import sklearn as sklearn
from partita import testing as testing
from partita._archive import load as load
from partita._validate import Rng as Rng
from partita._warmup import warmup as warmup
from partita.credible.ball import credible_ball as credible_ball
from partita.credible.core import credible_core as credible_core
from partita.credible.profiles import profiles as profiles
from partita.credible.uncertainty import align as align
from partita.credible.uncertainty import cluster_sizes_posterior as cluster_sizes_posterior
from partita.credible.uncertainty import cluster_uncertainty as cluster_uncertainty
from partita.credible.uncertainty import item_uncertainty as item_uncertainty
from partita.credible.uncertainty import n_clusters_posterior as n_clusters_posterior
from partita.diagnostics.agreement import chain_agreement as chain_agreement
from partita.diagnostics.agreement import chain_estimates as chain_estimates
from partita.diagnostics.diagnose import diagnose as diagnose
from partita.draws import Draws as Draws
from partita.draws import as_draws as as_draws
from partita.errors import PartitaError as PartitaError
from partita.explanation import explain as explain
from partita.features.draws import FeatureDraws as FeatureDraws
from partita.features.draws import read_features as read_features
from partita.features.draws import write_features as write_features
from partita.io.memberships import draws_from_memberships as draws_from_memberships
from partita.io.memberships import similarity_from_memberships as similarity_from_memberships
from partita.io.read import read_draws as read_draws
from partita.io.write import write_draws as write_draws
from partita.labels import DrawsLike as DrawsLike
from partita.labels import LabelsLike as LabelsLike
from partita.labels import canonical as canonical
from partita.labels import cluster_sizes as cluster_sizes
from partita.labels import cross_table as cross_table
from partita.labels import n_clusters as n_clusters
from partita.lattice import hasse_diagram as hasse_diagram
from partita.losses.base import Loss as Loss
from partita.losses.builtin import FARO as FARO
from partita.losses.builtin import ID as ID
from partita.losses.builtin import NID as NID
from partita.losses.builtin import NVI as NVI
from partita.losses.builtin import VI as VI
from partita.losses.builtin import Binder as Binder
from partita.losses.builtin import Entropy as Entropy
from partita.losses.builtin import OneMinusARI as OneMinusARI
from partita.losses.builtin import OneMinusPEAR as OneMinusPEAR
from partita.losses.builtin import VILowerBound as VILowerBound
from partita.losses.evaluate import distance as distance
from partita.losses.evaluate import expected_loss as expected_loss
from partita.losses.evaluate import pairwise_distances as pairwise_distances
from partita.losses.user import Additive as Additive
from partita.losses.user import CallableLoss as CallableLoss
from partita.losses.user import FunctionLoss as FunctionLoss
from partita.losses.user import loss as loss
from partita.representative.conformal import conformal_set as conformal_set
from partita.representative.conformal import p_value as p_value
from partita.representative.modes import modes as modes
from partita.representative.representatives import representatives as representatives
from partita.samplers.base import Kernel as Kernel
from partita.samplers.base import Moments as Moments
from partita.samplers.base import Product as Product
from partita.samplers.compare import compare as compare
from partita.samplers.discrete import BetaBernoulli as BetaBernoulli
from partita.samplers.discrete import DirichletCategorical as DirichletCategorical
from partita.samplers.discrete import GammaPoisson as GammaPoisson
from partita.samplers.finite_mixture import FiniteMixture as FiniteMixture
from partita.samplers.fit import Fit as Fit
from partita.samplers.normal import NormalInverseGamma as NormalInverseGamma
from partita.samplers.normal import NormalInverseWishart as NormalInverseWishart
from partita.samplers.priors import DirichletProcess as DirichletProcess
from partita.samplers.priors import F as F
from partita.samplers.priors import Gamma as Gamma
from partita.samplers.priors import PartitionPrior as PartitionPrior
from partita.samplers.priors import PitmanYor as PitmanYor
from partita.samplers.priors import ProductPartition as ProductPartition
from partita.samplers.priors import concentration_for as concentration_for
from partita.samplers.sample import sample as sample
from partita.samplers.sensitivity import prior_sensitivity as prior_sensitivity
from partita.search.clusters_curve import clusters_curve as clusters_curve
from partita.search.compare_losses import compare_losses as compare_losses
from partita.search.estimate import estimate as estimate
from partita.search.price_path import price_path as price_path
from partita.similarity_matrix import similarity as similarity
from partita.summary.result import Summary as Summary
from partita.summary.summarize import summarize as summarize
