"""The figures of a summary as files."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._optional import require

if TYPE_CHECKING:
    from partita.samplers.fit import Fit
    from partita.summary.result import Summary


def check_figures(suffix: str | None) -> None:
    """Refuse figures early where their library is missing."""
    if suffix is not None and find_spec("matplotlib") is None:
        require("matplotlib", extra="plot", purpose="figures")


def write_figures(
    summary: Summary, fit: Fit | None, directory: Path, suffix: str, *, n_jobs: int | None = None
) -> None:
    """``figures/`` with every figure that a summary has, and of a fit its traces and densities."""
    from partita import plots
    from partita.plots.canvas import close_figure

    place = directory / "figures"
    place.mkdir()
    for name, draw in _figures(summary, fit, n_jobs).items():
        axes = draw(plots)
        first = axes if hasattr(axes, "figure") else axes.flat[0]
        first.figure.savefig(place / f"{name}.{suffix}", dpi=200)
        close_figure(first.figure)


def _figures(
    summary: Summary, fit: Fit | None, n_jobs: int | None
) -> dict[str, Callable[[Any], Any]]:
    """By name of the file; each takes ``partita.plots`` and returns its axes."""
    figures: dict[str, Callable[[Any], Any]] = {
        "similarity": lambda plots: plots.similarity(summary, n_jobs=n_jobs),
        "ball": lambda plots: plots.ball(summary, fit=fit, n_jobs=n_jobs),
        "distances": lambda plots: plots.distances(summary),
        "n_clusters": lambda plots: plots.n_clusters(summary),
        "items": lambda plots: plots.items(summary),
        f"{summary.draws.kind}_map": lambda plots: plots.posterior_map(summary, n_jobs=n_jobs),
    }
    if summary.draws.kind == "posterior":
        figures["traces"] = lambda plots: plots.traces(
            summary if fit is None else fit, estimate=summary.estimate, n_jobs=n_jobs
        )
    if summary.core is not None:
        figures["core"] = lambda plots: plots.core(summary)
    if summary.profiles is not None:
        figures["profiles"] = lambda plots: plots.profiles(summary)
    if summary.data is not None:
        figures["estimate"] = lambda plots: plots.estimate(summary, fit=fit, n_jobs=n_jobs)
    return figures
