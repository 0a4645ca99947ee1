"""Fits for other libraries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from partita._optional import require
from partita._version import version_of
from partita.samplers.fit import Fit


def fit_to_arviz(fit: Fit) -> Any:
    """See ``Fit.to_arviz``."""
    base = require("arviz_base", extra="arviz", purpose="to_arviz()")
    chains, kept = fit.trace["n_clusters"].shape
    posterior = {name: fit.trace[name] for name in fit.trace if name != "log_posterior"}
    labels = fit.draws.labels.reshape(chains, kept, fit.draws.n_items)
    tree = base.from_dict(
        {
            "posterior": {"labels": labels.astype(np.int64), **posterior},
            "sample_stats": {"lp": fit.trace["log_posterior"]},
        },
        dims={"labels": ["item"]},
    )
    return _for_installed_arviz(tree)


def _for_installed_arviz(tree: Any) -> Any:
    generation = version_of("arviz").partition(".")[0]
    if not generation.isdigit() or int(generation) >= 1:  # not installed, or takes trees
        return tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ on its own refactoring, daily
        arviz = require("arviz", extra="arviz", purpose="to_arviz()")
    return arviz.from_datatree(tree)
