"""Estimators for scikit-learn: data to clusters, and labelings to a consensus.

Imports ``samplers``, ``summary`` and what is below them, and scikit-learn, which the extra
``sklearn`` installs. It loads when a class is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partita._optional import require

if TYPE_CHECKING:
    from partita.sklearn.consensus import ConsensusClustering, PartitionConsensus
    from partita.sklearn.mixture import BayesianMixture

__all__ = ["BayesianMixture", "ConsensusClustering", "PartitionConsensus"]

_HOME = {
    "BayesianMixture": "mixture",
    "ConsensusClustering": "consensus",
    "PartitionConsensus": "consensus",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'partita.sklearn' has no attribute {name!r}")
    require("sklearn", extra="sklearn", purpose=f"partita.sklearn.{name}")
    value = getattr(importlib.import_module(f"partita.sklearn.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
