"""How many clusters: what a summary finds out about it, and when that is cheap enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from partita.posterior import Posterior
from partita.search.clusters_curve import ClustersCurve, clusters_curve, plateau
from partita.search.result import PointEstimate

if TYPE_CHECKING:
    from partita.search.price_path import PricePath

CHEAP_CELLS = 30_000_000
"""Draws × items × (clusters of the estimate + 4), at most, for a short curve without request."""

CHEAP_ITEMS = 8
"""Items, at most, for a price path without request: all partitions of so few are compared."""


def curve_and_path(
    posterior: Posterior,
    found: PointEstimate,
    wanted: bool | tuple[float, float] | None,
    wishes: dict[str, Any],
) -> dict[str, Callable[[dict[str, Any]], Any] | None]:
    """How to make the price path and the curve; None for what is not to be made.

    Both where wanted; where it is left open, what is cheap. Cheap is counted in work, so that
    the same call gives the same summary on every machine. The short curve begins at the
    estimate, which must have been searched for freely.
    """
    loss, draws = found.loss, posterior.draws

    def shared(timed: dict[str, Any]) -> dict[str, Any]:
        return {name: timed[name] for name in ("time_limit", "rng", "n_jobs", "progress")}

    def path(timed: dict[str, Any]) -> PricePath:
        from partita.search.price_path import price_path

        low, high = wanted if isinstance(wanted, tuple) else (0.0, 2.0)
        return price_path(draws, loss=loss, low=low, high=high, bound=None, **shared(timed))

    def whole_curve(timed: dict[str, Any]) -> ClustersCurve:
        return clusters_curve(draws, loss=loss, **shared(timed))

    def short_curve(timed: dict[str, Any]) -> ClustersCurve:
        return plateau(posterior, found.labels, loss=loss, **shared(timed))

    cells = draws.n_draws * draws.n_items * (found.n_clusters + 4)
    free = all(wishes[name] is None for name in ("max_clusters", "n_clusters"))
    free = free and wishes["min_size"] == 1 and wishes["method"] == "auto"
    cheap = free and loss.form(1) is not None and cells <= CHEAP_CELLS
    few = wanted is None and draws.n_items <= CHEAP_ITEMS
    curve = None
    if loss.averages_distances and wanted is not False:
        curve = whole_curve if wanted else short_curve if cheap else None
    return {
        "price path": path if loss.has_price and (wanted or few) else None,
        "curve over numbers of clusters": curve,
    }
