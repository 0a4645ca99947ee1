"""The static figures of the report: those of ``partita.plots``, as SVG."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from partita import plots
from partita._optional import require
from partita._text import counted
from partita.plots._style import INK, close_figure, library
from partita.report.partitions import wide_corners

if TYPE_CHECKING:
    from partita.search.clusters_curve import ClustersCurve
    from partita.search.price_path import PricePath
    from partita.summary.result import Summary

_MOST_SHAPES = 2_000
"""Of a picture with more, the shapes are an image within the SVG."""
_SCALE = 1.45
"""Pixels for a point of a figure, at most."""


def pictures(summary: Summary) -> dict[str, str]:
    """The figures of ``partita.plots`` that a report shows, by the name of their place.

    What can be chosen in them carries the key of its choice.
    """
    require("matplotlib.figure", extra="report", purpose="the report")
    with library("style").context("default"):
        found = {"counts": _svg("counts", plots.n_clusters(summary))}
        if summary.curve is not None:
            found["curve"] = _curve(summary.curve)
        if summary.path is not None:
            found["path"] = _path(summary, summary.path)
        if summary.core is not None:
            found["core"] = _svg("core", plots.core(summary.core))
        if summary.profiles is not None:
            found["profiles"] = _svg("profiles", plots.profiles(summary))
        if summary.draws.kind != "ensemble" and summary.draws.weights is None:
            panels = plots.traces(summary, estimate=summary.estimate)
            for line in (line for ax in panels for line in ax.lines):
                line.set_rasterized(True)
            found["traces"] = _svg("traces", panels)
    return found


def _curve(curve: ClustersCurve) -> str:
    ax, choices = plots.clusters_curve(curve), {}
    for k, percent in zip(curve.k.tolist(), curve.percent.tolist(), strict=True):
        ax.axvspan(k - 0.5, k + 0.5, alpha=0.0, gid=f"k{k}")
        clusters = counted(k, "cluster")
        choices[f"k{k}"] = f"Show the best of {clusters}, {percent:.2g}% above the estimate"
    return _svg("curve", ax, choices)


def _path(summary: Summary, path: PricePath) -> str:
    ax, choices, corners = plots.price_path(path, estimate=summary.estimate), {}, list(path)
    if int(path.n_clusters.sum()) > _MOST_SHAPES:
        for artist in (*ax.patches, *ax.collections):
            artist.set_rasterized(True)
    for j in wide_corners(path):
        low, high = corners[j].low, corners[j].high
        ax.axvspan(low, high, alpha=0.0, gid=f"price{j}")
        clusters = counted(corners[j].n_clusters, "cluster")
        best = "optimal" if corners[j].is_proven else "the best found"
        choices[f"price{j}"] = f"Show {clusters}, {best} for prices from {low:.4f} to {high:.4f}"
    return _svg("path", ax, choices)


def _svg(name: str, axes: Any, choices: Mapping[str, str] | None = None) -> str:
    """A figure as an SVG element in the page's text colour, its choices as buttons.

    The figure is closed, which pyplot would keep.
    """
    figure = np.asarray(axes, dtype=object).flat[0].figure
    out = StringIO()
    # Text stays text; the salt keeps ids apart that several figures would share.
    with library("style").context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(out, format="svg", transparent=True, dpi=120)
    close_figure(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", text)  # every figure has a patch_1
    # All figures have letters of about the same size, however wide they are.
    widest = f"max-width:{_SCALE * 72.0 * figure.get_figwidth():.0f}px"
    opening = rf'<svg class="figure" style="{widest}" \1>'
    text = re.sub(r'^<svg[^>]*(viewBox="[^"]*")[^>]*>', opening, text)
    for key, label in (choices or {}).items():
        button = f'data-show="{key}" role="button" tabindex="0" aria-label="{escape(label)}"'
        text = text.replace(f'<g id="{key}">', f'<g class="pick" {button}>')
    return text.replace("#000000", "currentColor").replace(INK, "currentColor")
