"""Chains and model fit: traces, rank histograms, replicated data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partita._validate import Rng, integer, strings, unexpected
from partita._wording import counted, rhat_in_words
from partita.diagnostics.agreement import functionals
from partita.diagnostics.diagnose import rhat_and_ess, title_of, trace_functionals
from partita.errors import NotSupportedError, UnknownNameError, about
from partita.kernels.arrays import Array, Floats, Ints
from partita.labels import DrawsLike, LabelsLike
from partita.plots import _style as style
from partita.samplers.base import Product
from partita.samplers.fit import Fit
from partita.scan import chain_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Functional:
    """One functional: its values by chain, shape (n_chains, n_draws), and their diagnostics."""

    name: str
    chains: Floats
    rhat: float
    ess: float

    @property
    def title(self) -> str:
        """Name in prose, with R-hat and effective sample size where they are known."""
        parts = [style.shorten(title_of(self.name), 40)]
        if np.isfinite(self.rhat):
            parts.append(f"R-hat {rhat_in_words(self.rhat)}")
        if np.isfinite(self.ess):
            parts.append(f"ESS {self.ess:,.0f}")
        return ", ".join(parts)


@about("source")
def prepare_functionals(
    source: DrawsLike,
    estimate: LabelsLike | None,
    names: Sequence[str] | None,
    n_jobs: int | None = None,
) -> tuple[Functional, ...]:
    """The functionals asked for, or all there are."""
    posterior = style.posterior_of(source, n_jobs)
    draws = posterior.draws
    if draws.kind == "ensemble":
        raise NotSupportedError(
            "runs of an ensemble have no order and no chains, so there are no traces or ranks to "
            "show. If they are draws of a posterior, say so: as_draws(draws, kind='posterior')."
        )
    if draws.weights is not None:
        raise NotSupportedError(
            "weighted draws have lost their order and chains, so there are no traces or ranks to "
            "show. Pass the draws before they were merged or weighted."
        )
    labels = style.estimate_for(source, estimate, draws.n_items)
    values = functionals(posterior, estimate=labels)
    values |= trace_functionals(source, draws.n_draws)
    if names is None:
        chosen = list(values)
    else:
        chosen = [names] if isinstance(names, str) else list(strings(names, "names"))
    unknown = [name for name in chosen if name not in values]
    if unknown or not chosen:
        known = ", ".join(map(repr, values))
        raise unexpected(names, "names", f"some of {known}", UnknownNameError)
    rhat, ess = rhat_and_ess({name: values[name] for name in chosen}, draws, n_jobs)
    rows = chain_rows(draws)
    return tuple(
        Functional(name, values[name][rows], *numbers)
        for name, *numbers in zip(chosen, rhat.tolist(), ess.tolist(), strict=True)
    )


_MOST_POINTS = 2_000
"""Points of a line: more than a page can show."""


def traces(
    source: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    names: Sequence[str] | None = None,
    axes: Sequence[Axes] | Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Traces of quantities that do not depend on labels, one colour per chain.

    Number of clusters, entropy, size of the largest cluster, VI to the
    estimate, and for sampler output concentration and log posterior: chains
    that have converged look alike, and like noise without a trend. Of long
    chains the extremes of runs of draws are drawn.

    Parameters
    ----------
    source : Fit, Summary, Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate, optional
        Adds the VI distance to it; by default that of a summary.
    names : sequence of str, optional
        Which functionals, as named by :func:`diagnose`; all by default.
    axes : sequence of Axes, one per functional, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    ndarray of Axes, shape (n_functionals,)

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(200, 12))
    >>> draws = pt.Draws(labels, chain=np.repeat([0, 1], 100))
    >>> axes = pt.plots.traces(draws, names=["entropy"])
    >>> len(axes[0].lines)
    2
    """
    style.library("figure")
    found = prepare_functionals(source, estimate, names, n_jobs)
    drawn = style.many_axes(axes, len(found), columns=1, width=7.0, height=1.45, sharex=True)
    for ax, functional in zip(drawn, found, strict=True):
        for c, values in enumerate(functional.chains):
            x, y = extremes(values, _MOST_POINTS)
            ax.plot(x, y, color=style.colour(c), linewidth=0.7, alpha=0.85)
        ax.margins(x=0.01)
        style.finish(ax, functional.title)
    chains = counted(len(found[0].chains), "chain")
    drawn[-1].set_xlabel(f"draw ({chains})")
    return drawn


def extremes(values: Floats, most: int) -> tuple[Ints, Floats]:
    """Positions and values of fewer points that keep every peak.

    The smallest and the largest value of each run of draws, in their order.
    """
    n = values.size
    if n <= most:
        return np.arange(n), values
    runs = np.array_split(np.arange(n), most // 2)
    ends = [run[0] + np.array([values[run].argmin(), values[run].argmax()]) for run in runs]
    places = np.unique(ends)
    return places, values[places]


_BINS = 20


def ranks(
    source: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    names: Sequence[str] | None = None,
    bins: int = _BINS,
    axes: Sequence[Axes] | Array | None = None,
    n_jobs: int | None = None,
) -> Array:
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
    style.library("figure")
    bins = integer(bins, "bins", least=2, most=_MOST_POINTS)
    found = prepare_functionals(source, estimate, names, n_jobs)
    pieces = [_pieces(functional.chains) for functional in found]
    quarters = len(pieces[0]) > len(found[0].chains)
    height = 1.3 + 0.28 * min(len(pieces[0]), 12)
    drawn = style.many_axes(axes, len(found), columns=3, width=3.1, height=height)
    for ax, functional, piece in zip(drawn, found, pieces, strict=True):
        _draw(ax, rank_counts(piece, bins))
        title = functional.title.replace(", ", "\n", 1)
        by = "quarter of the chain" if quarters else "chain"
        style.finish(ax, title, xlabel="rank among all draws", ylabel=by)
    return drawn


def rank_counts(chains: Floats, bins: int) -> Floats:
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


def _draw(ax: Axes, counts: Floats) -> None:
    n_chains, bins = counts.shape
    expected = counts.sum() / counts.size
    scale = 0.85 / max(float(counts.max()), 1.5 * expected)
    places = (np.arange(bins) + 0.5) / bins
    for c in range(n_chains):
        base = n_chains - 1 - c
        ax.bar(places, scale * counts[c], bottom=base, width=0.9 / bins, color=style.colour(c))
        level = base + scale * expected
        ax.plot([0.0, 1.0], [level, level], color=style.INK, linewidth=0.7, linestyle=":")
    step = -(-n_chains // 12)
    numbers = range(0, n_chains, step)
    ax.set_yticks([n_chains - 0.6 - c for c in numbers], [str(c + 1) for c in numbers])
    ax.set(xlim=(0.0, 1.0), ylim=(-0.05, n_chains))
    ax.tick_params(axis="y", length=0.0)
    ax.spines["left"].set_color(style.GREY)


_DISCRETE = ("BetaBernoulli", "DirichletCategorical", "GammaPoisson")
"""Kernels whose columns are shown as shares of their values."""

_GREY = "#9a9a9a"


def replicates(
    fit: Fit, *, n: int = 20, rng: Rng | None = None, axes: Sequence[Axes] | Array | None = None
) -> Array:
    """The data against replicates from the fitted model: does the kernel describe them?

    One panel per column: the density of a column of numbers (a histogram drawn as a line), the
    shares of the values of a column of counts or categories, the data dark and each replicate
    grey. Two columns of numbers get two more panels: the data's points, and those of one
    replicate. Where the dark line leaves the grey ones, the model is wrong there.

    Parameters
    ----------
    fit : Fit
    n : int
        Replicates to draw.
    rng : int, SeedSequence or Generator, optional
        By default 0.
    axes : sequence of Axes, one per panel, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=1, rng=0)
    >>> axes = pt.plots.replicates(fit, n=10)
    >>> len(axes[0].lines)
    11
    """
    made = style.result_of(fit, Fit, "sample", "fit").replicate(n, rng=rng)
    numbers = [c for c in range(fit.values.shape[1]) if _kind(fit, c) not in _DISCRETE]
    plane = numbers if fit.values.shape[1] == 2 == len(numbers) else []
    panels = fit.values.shape[1] + len(plane)
    drawn = style.many_axes(
        axes, panels, columns=min(2, panels), width=3.4, height=2.4, sharex=False
    )
    for c, name in enumerate(fit.columns):
        discrete = _kind(fit, c) in _DISCRETE
        _column(drawn[c], fit.values[:, c], made[:, :, c], discrete=discrete)
        style.headline(drawn[c], style.shorten(name, 40))
    if plane:
        _points(drawn[2:], fit, made[0])
    for ax in drawn:
        style.plain(ax)
    return drawn


def _kind(fit: Fit, column: int) -> str:
    kernel = fit.kernel
    return kernel.part_of(column)[0].kind if isinstance(kernel, Product) else kernel.kind


def _column(ax: Axes, data: Floats, made: Floats, *, discrete: bool) -> None:
    data = data[np.isfinite(data)]
    everything = np.concatenate([data, made.ravel()])
    if discrete:
        x = places = np.unique(everything)
    else:
        low, high = np.quantile(everything, [0.002, 0.998])
        places = np.linspace(min(low, data.min()), max(high, data.max()), 31)
        x = (places[1:] + places[:-1]) / 2
    height = _shares if discrete else _density
    for rows in made:
        ax.plot(x, height(rows, places), color=_GREY, linewidth=0.6, alpha=0.6)
    marker = "o" if discrete else None
    ax.plot(x, height(data, places), color=style.INK, linewidth=1.4, marker=marker, markersize=3)
    ax.set_ylabel("share" if discrete else "density")


def _shares(rows: Floats, values: Floats) -> Floats:
    return np.asarray((rows[:, None] == values).mean(axis=0))


def _density(rows: Floats, edges: Floats) -> Floats:
    """Share of all rows per unit, those outside the edges included in the total."""
    counts, _ = np.histogram(rows, edges)
    return np.asarray(counts / (rows.size * np.diff(edges)))


def _points(axes: Array, fit: Fit, made: Floats) -> None:
    for ax, rows, title in ((axes[0], fit.values, "data"), (axes[1], made, "a replicate")):
        ax.scatter(*rows[:, :2].T, s=6, color=style.INK if title == "data" else style.colour(0))
        style.headline(ax, title)
        x, y = (style.shorten(name, 40) for name in fit.columns)
        ax.set(xlabel=x, ylabel=y)
    whole = np.concatenate([fit.values[np.isfinite(fit.values).all(axis=1)], made])
    edge = 0.04 * np.ptp(whole, axis=0)
    low, high = whole.min(axis=0) - edge, whole.max(axis=0) + edge
    for ax in axes:
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
