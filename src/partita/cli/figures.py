"""The figures of a summary as files."""

from __future__ import annotations

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


def write_figures(summary: Summary, fit: Fit | None, directory: Path, suffix: str) -> None:
    """``figures/`` with the similarity, the estimate on the data and the credible ball."""
    from partita import plots

    drawn: dict[str, Any] = {"similarity": plots.similarity(summary)}
    if summary.data is not None:
        drawn["estimate"] = plots.estimate(summary, fit=fit)
    drawn["ball"] = plots.ball(summary, fit=fit)[0]
    place = directory / "figures"
    place.mkdir()
    for name, axes in drawn.items():
        axes.figure.savefig(place / f"{name}.{suffix}", dpi=200)
