"""A summary as plain lists, numbers and strings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._own_files import JSON_KEY

if TYPE_CHECKING:
    from partita.credible.ball_result import CredibleBall
    from partita.diagnostics.result import Diagnostics
    from partita.rivals.result import Representatives
    from partita.search.curve_result import ClustersCurve
    from partita.search.path_result import PricePath
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary


def plain_summary(summary: Summary) -> dict[str, Any]:
    """What ``Summary.to_dict`` returns."""
    draws = summary.draws
    found: dict[str, Any] = {
        JSON_KEY: "numbers",
        "sentence": summary.sentence,
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
        "rivals": None if summary.rivals is None else _rivals(summary.rivals),
        "path": None if summary.path is None else _path(summary.path),
        "curve": None if summary.curve is None else _curve(summary.curve),
        "options": dict(summary.options),
        "versions": dict(summary.versions),
        "seconds": summary.seconds,
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _estimate(found: PointEstimate) -> dict[str, Any]:
    return {
        "loss": repr(found.loss),
        "labels": found.labels,
        "n_clusters": found.n_clusters,
        "expected_loss": found.expected_loss,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "method": found.method,
        "ties": found.ties,
        "n_starts": len(found.search.starts),
        "starts_agreed": found.search.agreed,
        "limits": found.search.limits,
        "interrupted": found.search.interrupted,
    }


def _ball(ball: CredibleBall) -> dict[str, Any]:
    return {
        "loss": repr(ball.loss),
        "prob": ball.prob,
        "radius": ball.radius,
        "radius_mcse": ball.radius_mcse,
        "coverage": ball.coverage,
        "n_inside": int(ball.inside.sum()),
        **{name: _columns(bound, without=("kind",)) for name, bound in ball.bounds.items()},
    }


def _diagnostics(found: Diagnostics) -> dict[str, Any]:
    agreement = None if found.agreement is None else _columns(found.agreement)
    return {**_columns(found, without=("agreement",)), "agreement": agreement, "ok": found.ok}


def _rivals(found: Representatives) -> dict[str, Any]:
    return {
        "labels": found.labels,
        "weights": found.weights,
        "distance": found.distance,
        "expected_loss": found.expected_loss,
        "radius": found.radius,
        "chains": found.chains,
        "chain_names": found.chain_names,
    }


def _path(path: PricePath) -> dict[str, Any]:
    shown = _columns(path, without=("loss", "item_names", "_draws"))
    return {**shown, "loss": repr(path.loss), "is_proven": path.is_proven, "gap": path.gap}


def _curve(curve: ClustersCurve) -> dict[str, Any]:
    shown = {**_columns(curve), "loss": repr(curve.loss), "percent": curve.percent}
    return {**shown, "plateau": curve.plateau, "sentence": curve.sentences}


def _columns(table: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        name: getattr(table, name) for name in table.__dataclass_fields__ if name not in without
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
