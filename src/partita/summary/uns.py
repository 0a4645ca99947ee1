"""A summary as entries that an AnnData object keeps; those of earlier draws are replaced."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from partita._optional import require
from partita.summary.result import Summary

_PATH = ("n_clusters", "breakpoints", "splitting", "merging", "low", "high", "seconds")
_CURVE = (
    *("k", "expected_loss", "excess", "percent", "standard_error", "distance"),
    *("plateau", "sentences", "seconds"),
)


def uns_of(summary: Summary) -> dict[str, Any]:
    """What goes into ``uns``: only kinds of values that an h5ad file keeps, hence no None."""
    found, ball, checks = summary.estimate, summary.ball, summary.diagnostics
    params = {
        **summary.options,
        "n_draws": summary.draws.n_draws,
        "n_chains": summary.draws.n_chains,
        "kind": summary.draws.kind,
        "partita_version": summary.versions["partita"],
    }
    estimate = {
        "n_clusters": found.n_clusters,
        "expected_loss": found.expected_loss,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "method": found.method,
    }
    bounds = {
        name: {
            "labels": bound.labels,
            "n_clusters": bound.n_clusters,
            "distance": bound.distance,
            "mass": bound.mass,
        }
        for name, bound in ball.bounds.items()
    }
    found_out: dict[str, Any] = {}
    if summary.path is not None:
        found_out["price_path"] = _columns(summary.path, _PATH)
    if summary.curve is not None:
        found_out["clusters_curve"] = _columns(summary.curve, _CURVE)
    if checks.names:
        found_out["diagnostics"] = {
            "rhat": dict(zip(checks.names, checks.rhat.tolist(), strict=True)),
            "warnings": np.array(checks.warnings, object),
        }
    return {
        **found_out,
        "params": _without_none(params),
        "estimate": _without_none(estimate),
        "ball": {
            "loss": repr(ball.loss),
            "prob": ball.prob,
            "radius": ball.radius,
            "coverage": ball.coverage,
            **bounds,
        },
        "sentence": summary.sentence,
    }


def keep_core(adata: Any, summary: Summary, column: str) -> None:
    """The core as a column of ``obs``, missing outside of it."""
    core = summary.core
    if core is None:
        if column in adata.obs:  # of other draws than those now summarised under the key
            del adata.obs[column]
        return
    pandas = require("pandas", extra="anndata", purpose="partita.anndata")
    names = [str(label) for label in range(core.n_clusters)]
    adata.obs[column] = pandas.Categorical.from_codes(core.labels, categories=names)


def keep_path(adata: Any, summary: Summary, name: str) -> None:
    """The partitions of the price path as an entry of ``obsm``."""
    if summary.path is not None:
        adata.obsm[name] = np.array(summary.path.labels.T)
    elif name in adata.obsm:  # of other draws than those now summarised under the key
        del adata.obsm[name]


def keep_rivals(adata: Any, summary: Summary, key: str) -> None:
    """Rival answers as columns of ``obs``, and their masses."""
    pandas = require("pandas", extra="anndata", purpose="partita.anndata")
    old = [c for c in adata.obs if re.fullmatch(rf"{re.escape(key)}_rival_\d+", str(c))]
    for column in old:  # of other draws than those now summarised under the key
        del adata.obs[column]
    rivals = summary.rivals
    if rivals is None:
        return
    for number, labels in enumerate(rivals.labels):
        names = [str(label) for label in range(int(labels.max()) + 1)]
        column = pandas.Categorical.from_codes(labels, categories=names)
        adata.obs[f"{key}_rival_{number}"] = column
    adata.uns[key]["rivals"] = {
        "weights": rivals.weights,
        "distance": rivals.distance,
        "chains": rivals.chains,
    }


def _without_none(entries: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}


def _columns(source: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}
