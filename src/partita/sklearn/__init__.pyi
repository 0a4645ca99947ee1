"""The public estimators."""

from partita.sklearn.estimators import BayesianMixture as BayesianMixture
from partita.sklearn.estimators import PartitionConsensus as PartitionConsensus

__all__: list[str]
