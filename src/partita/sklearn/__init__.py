"""Estimators for scikit-learn: data to clusters, and labelings to a consensus.

Imports ``samplers``, ``summary`` and what is below them, and scikit-learn, which the extra
``sklearn`` installs. It loads when a class is first asked for.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from partita._imports import require

if TYPE_CHECKING:
    from partita.sklearn.estimators import BayesianMixture, PartitionConsensus

__all__ = ["BayesianMixture", "PartitionConsensus"]


def __getattr__(name: str) -> Any:
    if name == "ConsensusClustering":
        warnings.warn(
            "partita.sklearn.ConsensusClustering is now PartitionConsensus; the old name goes in "
            "version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        name = "PartitionConsensus"
    if name not in __all__:
        raise AttributeError(f"module 'partita.sklearn' has no attribute {name!r}")
    require("sklearn", extra="sklearn", purpose=f"partita.sklearn.{name}")
    value = getattr(importlib.import_module("partita.sklearn.estimators"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
