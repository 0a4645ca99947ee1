"""Result classes: what the functions of partita return. Nobody needs to construct one."""

from partita.credible.ball import Bound as Bound
from partita.credible.ball import CredibleBall as CredibleBall
from partita.credible.ball import FeatureBall as FeatureBall
from partita.credible.ball import FeatureBound as FeatureBound
from partita.credible.core import CredibleCore as CredibleCore
from partita.credible.profiles import Profiles as Profiles
from partita.credible.uncertainty import ClusterCounts as ClusterCounts
from partita.credible.uncertainty import ClusterSizes as ClusterSizes
from partita.credible.uncertainty import ClusterUncertainty as ClusterUncertainty
from partita.credible.uncertainty import FeatureCounts as FeatureCounts
from partita.credible.uncertainty import FeatureItemUncertainty as FeatureItemUncertainty
from partita.credible.uncertainty import FeatureUncertainty as FeatureUncertainty
from partita.credible.uncertainty import ItemUncertainty as ItemUncertainty
from partita.diagnostics.agreement import ChainAgreement as ChainAgreement
from partita.diagnostics.agreement import ChainEstimates as ChainEstimates
from partita.diagnostics.diagnose import Diagnostics as Diagnostics
from partita.features.estimate import FeatureEstimate as FeatureEstimate
from partita.features.price_path import FeaturePath as FeaturePath
from partita.lattice import HasseDiagram as HasseDiagram
from partita.losses.explain import Change as Change
from partita.losses.explain import Explanation as Explanation
from partita.representative.conformal import ConformalSet as ConformalSet
from partita.representative.conformal import PValue as PValue
from partita.representative.modes import FeatureModes as FeatureModes
from partita.representative.modes import Modes as Modes
from partita.representative.modes import Peaks as Peaks
from partita.representative.representatives import (
    FeatureRepresentatives as FeatureRepresentatives,
)
from partita.representative.representatives import HeldOutCurve as HeldOutCurve
from partita.representative.representatives import Representatives as Representatives
from partita.representative.runs import RunComparison as RunComparison
from partita.samplers.base import ClusterParameters as ClusterParameters
from partita.samplers.chains import Settings as Settings
from partita.samplers.compare import ChainStacking as ChainStacking
from partita.samplers.compare import ModelComparison as ModelComparison
from partita.samplers.predict import Density as Density
from partita.samplers.sensitivity import PriorSensitivity as PriorSensitivity
from partita.samplers.sensitivity import Reweighting as Reweighting
from partita.search.clusters_curve import ClustersCurve as ClustersCurve
from partita.search.compare_losses import EstimatesByLoss as EstimatesByLoss
from partita.search.price_path import Corner as Corner
from partita.search.price_path import PricePath as PricePath
from partita.search.price_path import Stability as Stability
from partita.search.result import PointEstimate as PointEstimate
from partita.search.result import SearchReport as SearchReport
from partita.search.result import Start as Start
from partita.summary.features import FeatureSummary as FeatureSummary
from partita.summary.result import LossComparison as LossComparison

__all__ = sorted(name for name in dir() if name[0].isupper())
