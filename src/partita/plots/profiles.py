"""What each cluster is like: small multiples, one per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._text import percent
from partita.credible.profile_table import Profiles
from partita.errors import InvalidInputError
from partita.kernels.arrays import Ints
from partita.plots.canvas import GREY, headline, library, many_axes, plain, shorten
from partita.plots.colours import colour
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PANELS = 12


def profiles(
    source: Summary | Profiles, *, axes: Sequence[Axes] | NDArray[Any] | None = None
) -> NDArray[Any]:
    """Parameters of each cluster with their intervals, one panel per column and parameter.

    In each panel, for each cluster: the interval with the uncertainty of the
    clustering (colour), and thin and grey the one given the partition, where a model
    provides it.

    Parameters
    ----------
    source : Summary or Profiles
        A summary made with data or from a fit; ``fit.profiles(labels)``.
    axes : sequence of Axes, optional
        One per panel; a new figure by default. At most 12 panels are drawn, means,
        rates and shares before standard deviations.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> found = pt.profiles(draws, [0, 0, 1, 1], data=[1.0, 2.0, 5.0, 6.0])
    >>> [ax.get_title(loc="left") for ax in pt.plots.profiles(found)]
    ['0: mean', '0: sd']
    """
    library("figure")
    table = source.profiles if isinstance(source, Summary) else source
    if not isinstance(table, Profiles):
        raise InvalidInputError(
            f"got {type(source).__name__}; expected Profiles or a Summary made with data.",
            argument="source",
        )
    shown = panels_of(table, _MOST_PANELS)
    panels = many_axes(axes, len(shown), columns=3, width=2.9, height=2.0)
    for ax, ((column, parameter), rows) in zip(panels, shown.items(), strict=True):
        _panel(ax, table, rows)
        note = f"{percent(table.prob)} intervals" if ax is panels[0] else ""
        headline(ax, shorten(f"{column}: {parameter}", 30), note)
    return panels


def panels_of(table: Profiles, most: int) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Columns with a parameter each, deviations last, and their rows in the table, by cluster."""
    names = list(dict.fromkeys(zip(table.column, table.parameter, strict=True)))
    order = sorted(range(len(names)), key=lambda j: names[j][1] == "sd")
    return {names[j]: np.arange(j, len(table), len(names)) for j in order[:most]}


def _panel(ax: Any, table: Profiles, at: Ints) -> None:
    for k, r in enumerate(at.tolist()):
        low, high = table.given_low[r], table.given_high[r]
        if np.isfinite(low) and np.isfinite(high):
            ax.plot([low, high], [k + 0.22] * 2, color=GREY, linewidth=0.8)
        ax.plot([table.given[r]], [k + 0.22], "|", color=GREY, markersize=6)
        ends = [table.averaged_low[r], table.averaged_high[r]]
        ax.plot(ends, [k] * 2, color=colour(k), linewidth=2.2, solid_capstyle="butt")
        ax.plot([table.averaged[r]], [k], "o", color=colour(k), markersize=4)
    ax.set_yticks(range(at.size), [str(k) for k in range(at.size)])
    ax.set_ylim(at.size - 0.5, -0.5)
    ax.set_ylabel("cluster")
    plain(ax)
