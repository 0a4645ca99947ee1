"""What holds, for the report: cores of several probabilities, and profiles of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partita._result import Table
from partita._text import counted, words
from partita.kernels.arrays import Ints

if TYPE_CHECKING:
    from partita.credible.profiles import Profiles
    from partita.summary.result import Summary

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Probabilities on offer."""

_ROWS = 200


@dataclass(frozen=True, eq=False)
class Held:
    """A core, in words, and its items."""

    percent: str
    text: str
    items: Ints


@dataclass(frozen=True, eq=False)
class Holds:
    """Cores from the smallest probability on, and which of them is the one at 0.9."""

    levels: tuple[Held, ...]
    start: int


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
    return Holds(levels, LEVELS.index(0.9))


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
