"""A summary as plain lists, numbers and strings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.diagnostics.diagnose import Diagnostics
    from partita.search.clusters_curve import ClustersCurve
    from partita.search.price_path import PricePath
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary

_RIVALS = ("labels", "weights", "distance", "expected_loss", "radius", "chains", "chain_names")


def plain_summary(summary: Summary) -> dict[str, Any]:
    """What ``Summary.to_dict`` returns."""
    draws = summary.draws
    found: dict[str, Any] = {
        "partita": "numbers",
        "sentence": summary.sentence,
        "how_many": summary.how_many,
        "loss": repr(summary.loss),
        "prob": summary.prob,
        "n_draws": draws.n_draws,
        "n_items": draws.n_items,
        "n_chains": draws.n_chains,
        "kind": draws.kind,
        "item_names": draws.item_names,
        "labels": summary.labels,
        "n_clusters": summary.n_clusters,
        "estimate": _estimate(summary.estimate),
        "vi_estimate": _estimate(summary.vi_estimate),
        "binder_estimate": _estimate(summary.binder_estimate),
        "comparison": _columns(summary.comparison),
        "ball": _ball(summary.ball),
        "items": _columns(summary.items, without=("names", "labels")),
        "clusters": _columns(summary.clusters),
        "profiles": None if summary.profiles is None else _columns(summary.profiles),
        "n_clusters_posterior": _columns(summary.counts),
        "sizes_posterior": _columns(summary.sizes),
        "diagnostics": _diagnostics(summary.diagnostics),
        "rivals": None if summary.rivals is None else fields_of(summary.rivals, *_RIVALS),
        "path": None if summary.path is None else _path(summary.path),
        "curve": None if summary.curve is None else _curve(summary.curve),
        "options": dict(summary.options),
        "versions": dict(summary.versions),
        "seconds": summary.seconds,
    }
    shown: dict[str, Any] = plain(found)
    return shown


def _estimate(found: PointEstimate) -> dict[str, Any]:
    names = ("labels", "n_clusters", "expected_loss", "lower_bound", "gap", "method", "ties")
    return {
        "loss": repr(found.loss),
        **fields_of(found, *names),
        "n_starts": len(found.search.starts),
        "n_restarts": found.search.restarts,
        "limits": found.search.limits,
        "interrupted": found.search.interrupted,
    }


def _ball(ball: CredibleBall) -> dict[str, Any]:
    return {
        "loss": repr(ball.loss),
        **fields_of(ball, "prob", "radius", "radius_mcse", "coverage"),
        "n_inside": int(ball.inside.sum()),
        **{name: _columns(bound, without=("kind",)) for name, bound in ball.bounds.items()},
    }


def _diagnostics(found: Diagnostics) -> dict[str, Any]:
    agreement = None if found.agreement is None else _columns(found.agreement)
    return {**_columns(found, without=("agreement",)), "agreement": agreement, "ok": found.ok}


def _path(path: PricePath) -> dict[str, Any]:
    shown = _columns(path, without=("loss", "item_names", "_draws"))
    return {**shown, "loss": repr(path.loss), "is_proven": path.is_proven, "gap": path.gap}


def _curve(curve: ClustersCurve) -> dict[str, Any]:
    shown = {**_columns(curve), "loss": repr(curve.loss), "percent": curve.percent}
    return {**shown, "plateau": curve.plateau, "sentence": curve.sentence}


def _columns(table: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return fields_of(table, *(name for name in table.__dataclass_fields__ if name not in without))


def fields_of(source: Any, *names: str) -> dict[str, Any]:
    """Some attributes by name."""
    return {name: getattr(source, name) for name in names}


def plain(value: Any) -> Any:
    """The same as lists, numbers and strings; None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
