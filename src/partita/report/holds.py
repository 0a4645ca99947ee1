"""What holds, for the report: cores of several probabilities, and profiles of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partita._result import Table
from partita._text import counted, words
from partita.kernels.arrays import Ints
from partita.plots._items import panels_of
from partita.plots._style import colour

if TYPE_CHECKING:
    from partita.credible.profiles import Profiles
    from partita.summary.result import Summary

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Probabilities on offer."""

WIDTH, HEIGHT = 320.0, 120.0
"""Of the small pictures, in the units of their drawing."""

_PANELS = 24
_ROWS = 200


@dataclass(frozen=True, eq=False)
class Held:
    """A core, in words, and its items."""

    percent: str
    text: str
    items: Ints


@dataclass(frozen=True, eq=False)
class Holds:
    """Cores from the smallest probability on, and the curve of the one at 0.9."""

    levels: tuple[Held, ...]
    start: int
    curve: str
    """Points of a line, for an SVG of WIDTH by HEIGHT."""
    n_items: int


@dataclass(frozen=True, eq=False)
class Mark:
    """One cluster in a panel: its interval, its mean and the mean given the partition."""

    cluster: int
    colour: str
    y: float
    low: float
    high: float
    mean: float
    given: float
    text: str


@dataclass(frozen=True, eq=False)
class Panel:
    """One parameter of one column over all clusters."""

    title: str
    marks: tuple[Mark, ...]
    height: float
    lowest: str
    highest: str


def holds(summary: Summary) -> Holds | None:
    """The cores of a summary whose draws are few enough for a short search."""
    core = summary.core
    if core is None:
        return None
    found = [core if prob == core.prob else core.at(prob) for prob in LEVELS]
    levels = tuple(
        Held(
            f"{100 * prob:g}%",
            one.sentence,
            one.items,
        )
        for prob, one in zip(LEVELS, found, strict=True)
    )
    curve = core.curve
    x = WIDTH * np.arange(1, curve.size + 1) / curve.size
    kept = np.unique(np.linspace(0, curve.size - 1, 200).astype(np.int64))
    points = " ".join(f"{x[j]:.1f},{HEIGHT * (1.0 - curve[j]):.1f}" for j in kept.tolist())
    return Holds(levels, LEVELS.index(0.9), points, core.draws.n_items)


def profile_table(profiles: Profiles) -> Table:
    """One row per cluster, column and parameter."""

    def interval(low: float, high: float) -> str:
        return f"{low:.4g} to {high:.4g}" if np.isfinite(low) and np.isfinite(high) else "–"

    shown = range(min(len(profiles), _ROWS))
    modelled = bool(np.isfinite(profiles.given_low).any())  # without a model there are no intervals
    rows = tuple(
        (
            str(profiles.cluster[r]),
            profiles.column[r],
            profiles.parameter[r],
            f"{profiles.given[r]:.4g}",
            *([interval(profiles.given_low[r], profiles.given_high[r])] if modelled else []),
            f"{profiles.averaged[r]:.4g}",
            interval(profiles.averaged_low[r], profiles.averaged_high[r]),
        )
        for r in shown
    )
    percent = f"{100 * profiles.prob:g}%"
    caption = (
        "What each cluster is like: given the partition, and averaged over the clusters that its "
        f"items have in {counted(profiles.n_draws, words(profiles.kind).draw)}, so that the "
        "uncertainty of the clustering is in it."
    )
    if len(profiles) > _ROWS:
        caption += f" The first {_ROWS} of {len(profiles):,} rows."
    columns = ["Cluster", "Column", "Parameter", "Given", "Averaged", f"{percent} interval"]
    if modelled:
        columns.insert(4, f"{percent} interval")
    return Table(caption, tuple(columns), rows)


def profile_panels(profiles: Profiles) -> tuple[Panel, ...]:
    """Small multiples, one per column and parameter."""
    return tuple(_panel(profiles, *panel) for panel in panels_of(profiles, _PANELS).items())


def _panel(profiles: Profiles, name: tuple[str, str], at: Ints) -> Panel:
    low, high = profiles.averaged_low[at], profiles.averaged_high[at]
    everything = np.concatenate([low, high, profiles.given[at], profiles.averaged[at]])
    finite = everything[np.isfinite(everything)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    span = most - least or 1.0

    def place(value: float) -> float:
        at_value = 8.0 + (WIDTH - 16.0) * (value - least) / span
        return round(at_value, 1) if np.isfinite(value) else 0.0

    marks = tuple(
        Mark(
            k,
            colour(k),
            16.0 * k + 10.0,
            place(low[k]),
            place(high[k]),
            place(profiles.averaged[r]),
            place(profiles.given[r]),
            f"cluster {k}: {profiles.averaged[r]:.4g} ({low[k]:.4g} to {high[k]:.4g})",
        )
        for k, r in enumerate(at.tolist())
    )
    unnamed = set(profiles.column) == {"0"}  # a single column that came without a name
    title = name[1] if unnamed else f"{name[0]}: {name[1]}"
    return Panel(title, marks, 16.0 * at.size + 4.0, f"{least:.4g}", f"{most:.4g}")
