"""Estimators for scikit-learn: data to clusters, and labelings to a consensus.

Imports ``samplers``, ``summary`` and what is below them, and scikit-learn, which the extra
``sklearn`` installs. It loads when a class is first asked for; ``__init__.pyi`` lists them.
"""

import warnings

from partita._imports import lazy_names, require

_load, __dir__, __all__ = lazy_names(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "ConsensusClustering":
        warnings.warn(
            "partita.sklearn.ConsensusClustering is now PartitionConsensus; the old name goes in "
            "version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        name = "PartitionConsensus"
    if name in __all__:
        require("sklearn", extra="sklearn", purpose=f"partita.sklearn.{name}")
    return _load(name)
