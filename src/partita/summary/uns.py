"""A summary as entries that an AnnData object keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def _without_none(entries: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}


def _columns(source: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}
