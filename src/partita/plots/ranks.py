"""Rank plots of label-invariant functionals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import whole
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, LabelsLike
from partita.plots.canvas import GREY, INK, NORMAL, library, many_axes, plain
from partita.plots.colours import colour
from partita.plots.functional_table import prepare_functionals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 20


def ranks(
    source: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    names: Sequence[str] | None = None,
    bins: int = _BINS,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Rank plots of quantities that do not depend on labels, one row per chain.

    All draws are ranked together; each chain's ranks are counted in bins. The
    bars of chains that explore the same posterior reach the dotted line, give
    or take noise; a slope or a hole shows a chain that does not. One chain
    alone is cut into quarters. Draws of equal value share their ranks evenly.

    Parameters
    ----------
    source, estimate, names, n_jobs
        As in :func:`traces`.
    bins : int, default 20
    axes : sequence of Axes, one per functional, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes, shape (n_functionals,)

    References
    ----------
    Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C.
    (2021), Rank-normalization, folding, and localization: An improved R-hat.
    Bayesian Analysis 16.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(400, 12))
    >>> draws = pt.Draws(labels, chain=np.repeat([0, 1], 200))
    >>> axes = pt.plots.ranks(draws, names=["entropy", "n_clusters"], bins=10)
    >>> len(axes[0].patches)
    20
    """
    library("figure")
    bins = whole(bins, "bins", least=2)
    found = prepare_functionals(source, estimate, names, n_jobs)
    pieces = [_pieces(functional.chains) for functional in found]
    quarters = len(pieces[0]) > len(found[0].chains)
    height = 1.3 + 0.28 * min(len(pieces[0]), 12)
    drawn = many_axes(axes, len(found), columns=3, width=3.1, height=height)
    for ax, functional, piece in zip(drawn, found, pieces, strict=True):
        _draw(ax, rank_counts(piece, bins), quarters=quarters)
        title = functional.title.replace(", ", "\n", 1)
        ax.set_title(title, loc="left", fontsize=NORMAL, color=INK)
    return drawn


def rank_counts(chains: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """How many of each chain's ranks among all draws fall into each of equal bins.

    Rows sum to n_draws and columns to n_chains · n_draws / bins, exactly so because draws of
    equal value are spread over the ranks they share.
    """
    _, group, sizes = np.unique(chains, return_inverse=True, return_counts=True)
    group = group.reshape(chains.shape)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    edges = np.linspace(0.0, chains.size, bins + 1)
    counts = []
    for row in group:
        below = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=sizes.size))))
        # Ranks of a group of equals are one interval, on which each chain has an even share.
        counts.append(np.diff(np.interp(edges, ends, below)))
    return np.array(counts)


def _pieces(chains: Floats) -> Floats:
    """The chains, or the quarters of a single one."""
    if len(chains) > 1 or chains.shape[1] < 4:
        return chains
    quarter = chains.shape[1] // 4
    return chains[0, chains.shape[1] - 4 * quarter :].reshape(4, quarter)


def _draw(ax: Axes, counts: Floats, *, quarters: bool) -> None:
    n_chains, bins = counts.shape
    expected = counts.sum() / counts.size
    scale = 0.85 / max(float(counts.max()), 1.5 * expected)
    places = (np.arange(bins) + 0.5) / bins
    for c in range(n_chains):
        base = n_chains - 1 - c
        ax.bar(places, scale * counts[c], bottom=base, width=0.9 / bins, color=colour(c))
        level = base + scale * expected
        ax.plot([0.0, 1.0], [level, level], color=INK, linewidth=0.7, linestyle=":")
    step = -(-n_chains // 12)
    numbers = range(0, n_chains, step)
    ax.set_yticks([n_chains - 0.6 - c for c in numbers], [str(c + 1) for c in numbers])
    ax.set(xlim=(0.0, 1.0), ylim=(-0.05, n_chains), xlabel="rank among all draws")
    ax.set_ylabel("quarter of the chain" if quarters else "chain")
    ax.tick_params(axis="y", length=0.0)
    plain(ax)
    ax.spines["left"].set_color(GREY)
