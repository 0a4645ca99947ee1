"""How many representatives: distance on draws that did not choose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._text import with_unit, words
from partita.errors import InvalidInputError
from partita.plots.canvas import (
    GREY,
    SMALL,
    headline,
    library,
    one_axes,
    plain,
    points_with_errors,
    whole_ticks,
)
from partita.plots.inputs import of_kind
from partita.representative.representatives import MATTERS, Representatives

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def representatives_curve(source: Representatives, *, ax: Axes | None = None) -> Axes:
    """Mean distance to the nearest of n representatives, on held-out draws, and the n chosen.

    Parameters
    ----------
    source : Representatives
        Made without ``n``, so that it was chosen.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> rivals = pt.representatives([[0, 0, 1, 1]] * 9 + [[0, 1, 0, 1]] * 9)
    >>> ax = pt.plots.representatives_curve(rivals)
    >>> ax.get_title(loc="left")
    'How many representatives? 2'
    """
    library("figure")
    expected = "Representatives. partita.representatives(draws) makes them."
    curve = of_kind(source, Representatives, expected).curve
    if curve is None:
        raise InvalidInputError(
            "there is no held-out curve: the number of representatives was given. "
            "partita.representatives(draws) without n chooses it, and keeps the curve.",
            argument="source",
        )
    axes = one_axes(ax, width=4.6, height=3.4)
    own = words(source.draws.kind).draws
    chosen, shown = curve.chosen, [curve.chosen - 1]
    wanted = curve.held_out[shown[0]] - MATTERS * curve.held_out[0] * (curve.n - chosen)
    later = curve.n >= chosen
    axes.plot(curve.n[later], wanted[later], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.plot(curve.n, curve.fitted, color=GREY, linewidth=1.0, label=f"{own} that chose them")
    points_with_errors(axes, curve.n, curve.held_out, curve.error, shown, label=f"held-out {own}")
    axes.set_ylim(bottom=0.0 if curve.fitted.min() < 0.3 * curve.held_out.max() else None)
    axes.set_xlabel("representatives")
    axes.set_ylabel(with_unit("mean distance to the nearest", source.loss.unit))
    axes.legend(fontsize=SMALL, frameon=False, loc="upper right")
    whole_ticks(axes, "x")
    plain(axes)
    note = f"dashed: each further one takes off {100 * MATTERS:g}% of the distance to one"
    headline(axes, f"How many representatives? {chosen}", note)
    return axes
