"""A summary as entries that an AnnData object keeps; those of earlier draws are replaced."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from partita._optional import require
from partita.labels import Labels
from partita.summary.plain import fields_of
from partita.summary.result import Summary

_PATH = ("n_clusters", "breakpoints", "splitting", "merging", "low", "high", "seconds")
_CURVE = (
    *("k", "expected_loss", "excess", "percent", "standard_error", "distance"),
    *("plateau", "sentence", "seconds"),
)


_CORE = (
    *("prob", "size", "probability", "probability_mcse", "probability_low", "n_effective"),
    *("in_sample_probability", "n_starts", "sentence"),
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
    estimate = fields_of(found, "n_clusters", "expected_loss", "lower_bound", "gap", "method")
    bounds = {
        name: fields_of(bound, "labels", "n_clusters", "distance", "mass")
        for name, bound in ball.bounds.items()
    }
    found_out: dict[str, Any] = {}
    if summary.path is not None:
        found_out["price_path"] = fields_of(summary.path, *_PATH)
    if summary.curve is not None:
        found_out["clusters_curve"] = fields_of(summary.curve, *_CURVE)
    if summary.core is not None:
        found_out["core"] = {
            **fields_of(summary.core, *_CORE),
            "search": "short: partita.credible_core(draws, estimate=labels) may find more items",
        }
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
            **fields_of(ball, "prob", "radius", "coverage"),
            **bounds,
        },
        "sentence": summary.sentence,
        "how_many": summary.how_many,
    }


def keep_core(adata: Any, summary: Summary, column: str) -> None:
    """The core as a column of ``obs``, missing outside of it, in the numbers of the estimate."""
    core = summary.core
    most = summary.n_clusters if core is None else max(summary.n_clusters, core.clusters[-1] + 1)
    keep(adata.obs, column, None if core is None else categorical(core.labels, most))


def keep_path(adata: Any, summary: Summary, name: str) -> None:
    """The partitions of the price path as an entry of ``obsm``."""
    keep(adata.obsm, name, None if summary.path is None else np.array(summary.path.labels.T))


def keep_rivals(adata: Any, summary: Summary, key: str) -> None:
    """Rival answers as columns of ``obs``, and their masses."""
    for column in [c for c in adata.obs if re.fullmatch(rf"{re.escape(key)}_rival_\d+", str(c))]:
        keep(adata.obs, column, None)
    rivals = summary.rivals
    if rivals is None:
        return
    for number, labels in enumerate(rivals.labels):
        adata.obs[f"{key}_rival_{number}"] = categorical(labels, int(labels.max()) + 1)
    adata.uns[key]["rivals"] = fields_of(rivals, "weights", "distance", "chains")


def categorical(labels: Labels, n_clusters: int) -> Any:
    """Clusters as a column of categories, "0", "1", …; −1 is missing."""
    pandas = require("pandas", extra="anndata", purpose="partita.anndata")
    return pandas.Categorical.from_codes(labels, categories=list(map(str, range(n_clusters))))


def keep(entries: Any, name: str, value: Any) -> None:
    """Set an entry; without a value, remove the one of draws that were summarised before."""
    if value is not None:
        entries[name] = value
    elif name in entries:
        del entries[name]


def _without_none(entries: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}
