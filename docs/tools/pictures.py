"""The pictures of the pages, drawn when the pages are built."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import partita as pt
from partita.search.bounds.matching import matching_bound

INK, GREY, BLUE, RED = "#222222", "#8899a6", "#33566f", "#b5523b"


def draw_all(folder: Path) -> None:
    """Every picture into the folder, and the printed summary beside it."""
    mpl.rcParams.update({"svg.hashsalt": "partita", "font.size": 9})
    for name, draw in PICTURES.items():
        figure = draw()
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    summary = galaxies_summary()
    (folder.parent / "galaxies.txt").write_text(f"{summary}\n", encoding="utf-8")
    page = f'<div class="notebook-output">{summary._repr_html_()}</div>\n'
    (folder.parent / "summary.html").write_text(page, encoding="utf-8")


def velocities() -> pd.DataFrame:
    """The galaxies as a table with a name."""
    return pd.DataFrame({"velocity, 1,000 km/s": pt.datasets.galaxies()})


@cache
def galaxies() -> Any:
    """The fit of the tutorial, with its column named."""
    return pt.sample(velocities(), kernel="empirical", draws=1_000, burn_in=500, chains=4, rng=1)


@cache
def galaxies_summary() -> Any:
    """Its summary, which the tutorial prints, shows and draws."""
    return pt.summarize(galaxies(), data=velocities())


@cache
def normals() -> Any:
    """The paper's first example."""
    simulated = pt.datasets.four_normals(example=1, n=200, rng=3)
    return pt.sample(simulated.data, kernel="empirical", draws=1_000, burn_in=500, chains=4, rng=0)


def write_report(path: Path) -> None:
    """The sample report that the first page links to."""
    galaxies_summary().to_html(path, overwrite=True)


def overview() -> Any:
    """The four panels of a summary."""
    return pt.plots.overview(galaxies_summary(), fit=galaxies())[0].figure


def ball() -> Any:
    """Estimate and bounds on the galaxies, two by two."""
    fit = galaxies()
    figure, axes = plt.subplots(
        2, 2, figsize=(9, 6), layout="constrained", sharex=True, sharey=True
    )
    pt.plots.ball(galaxies_summary(), fit=fit, axes=axes.ravel())
    return figure


def estimates() -> Any:
    """Binder's and the VI estimate of the paper's first example, side by side."""
    fit = normals()
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for ax, loss in zip(axes, ("binder", "vi"), strict=True):
        best = pt.estimate(fit.draws, loss=loss)
        pt.plots.estimate(best, fit=fit, ax=ax)
    return figure


def hasse() -> Any:
    """The lattice of four items, stretched by either loss."""
    figure, axes = plt.subplots(2, 1, figsize=(8, 8.5), layout="constrained")
    for ax, loss in zip(axes, ("vi", "binder"), strict=True):
        pt.plots.hasse(4, loss=loss, ax=ax)
    return figure


def matching() -> Any:
    """What is proven by pairing draws with more and more care."""
    draws = galaxies().draws.unique()
    best = pt.estimate(galaxies().draws, bound=None)
    rng = np.random.default_rng(0)
    order = rng.permutation(draws.n_draws)
    pairs = np.array(
        [pt.distance(draws.labels[a], draws.labels[b]) for a, b in order.reshape(-1, 2)[:300]]
    )
    efforts = {"blocks of 16\n(“fast”)": 16, "blocks of 1,024\n(“tight”)": 1_024}
    bounds = {"random pairs": pairs.mean() / 2}
    for name, block in efforts.items():
        generator = np.random.default_rng(0)
        bounds[name] = matching_bound(draws, pt.VI(), block=block, whole=block, rng=generator)
    figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
    ax.barh(list(bounds)[::-1], list(bounds.values())[::-1], color=BLUE, height=0.55)
    for row, value in enumerate(list(bounds.values())[::-1]):
        ax.text(value - 0.005, row, f"{value:.3f}", ha="right", va="center", color="white")
    ax.axvline(best.expected_loss, color=RED)
    ax.text(best.expected_loss, 2.45, f" found: {best.expected_loss:.3f}", color=RED, ha="center")
    ax.set(xlim=(0.6 * best.expected_loss, 1.02 * best.expected_loss))
    ax.set_xlabel("expected VI in bits; no partition is below the end of a bar")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def chains() -> Any:
    """Similarity of each of four chains in two modes."""
    rng = np.random.default_rng(0)
    one, other = np.repeat([0, 1, 2], 20), np.tile([0, 1, 2], 20)
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    for number, (ax, mode) in enumerate(zip(axes, (one, one, other, other), strict=True)):
        redrawn = rng.random((500, 60)) < 0.05
        draws = np.where(redrawn, rng.integers(0, 3, (500, 60)), mode)
        ax.imshow(pt.similarity(draws), cmap="Blues", vmin=0, vmax=1)
        ax.set_title(f"chain {number}", fontsize=9)
        ax.set(xticks=[], yticks=[])
    return figure


@cache
def two_answers() -> Any:
    """Draws around two partitions that differ in ten items, as on the page."""
    rng = np.random.default_rng(0)
    one = np.repeat([0, 1, 2], 20)
    other = np.where(np.arange(60) >= 50, 0, one)
    modes = np.array([one, other])[(np.arange(1_000) % 10 >= 7).astype(int)]
    noise = rng.random(modes.shape) < 0.05
    return pt.Draws(np.where(noise, rng.integers(0, 3, modes.shape), modes))


@cache
def overlapping() -> Any:
    """The summary of the simulated feature draws, as on the page."""
    return pt.summarize(pt.datasets.overlapping_features().draws)


def memberships() -> Any:
    """Probabilities of membership."""
    return pt.plots.memberships(overlapping()).figure


def feature_ball() -> Any:
    """The estimate of overlapping clusters and the bounds of its ball."""
    return pt.plots.feature_ball(overlapping())[0].figure


def representatives() -> Any:
    """The two representatives."""
    return pt.plots.representatives(pt.representatives(two_answers()))[0].figure


def representatives_curve() -> Any:
    """How many representatives."""
    return pt.plots.representatives_curve(pt.representatives(two_answers())).figure


def persistence() -> Any:
    """Peaks at each rate."""
    return pt.plots.persistence(pt.modes(two_answers())).figure


@cache
def few_galaxies() -> Any:
    """The fit of the page on numbers of clusters."""
    return pt.sample(
        pt.datasets.galaxies(), kernel="empirical", draws=250, burn_in=200, chains=2, rng=1
    )


def price_path() -> Any:
    """Which clusters split and merge along the price."""
    return pt.plots.price_path(pt.price_path(few_galaxies(), low=0.4, bound=None)).figure


def clusters_curve() -> Any:
    """What each number of clusters costs."""
    return pt.plots.clusters_curve(pt.clusters_curve(few_galaxies())).figure


def methods() -> Any:
    """Expected VI reached by each method on the same draws."""
    draws = normals().draws
    names = ("draws", "complete", "average", "hasse", "sweep")
    reached = {name: pt.estimate(draws, method=name, bound=None).expected_loss for name in names}
    lower = pt.estimate(draws, bound="tight").lower_bound
    assert lower is not None
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    ax.plot(list(reached.values()), list(reached), "o", color=BLUE, markersize=8)
    for name, value in reached.items():
        ax.annotate(f"{value:.4f}", (value, name), (8, 4), textcoords="offset points", color=BLUE)
    ax.axvline(lower, color=RED)
    ax.annotate(
        f"no partition is below {lower:.3f}",
        (lower, "draws"),
        (6, 14),
        textcoords="offset points",
        color=RED,
    )
    span = max(reached.values()) - lower
    ax.set(xlim=(lower - 0.1 * span, max(reached.values()) + 0.25 * span), ylim=(4.8, -0.6))
    ax.set_xlabel("expected VI in bits")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


PICTURES = {
    "ball": ball,
    "overview": overview,
    "estimates": estimates,
    "hasse": hasse,
    "matching": matching,
    "chains": chains,
    "memberships": memberships,
    "feature_ball": feature_ball,
    "representatives": representatives,
    "representatives_curve": representatives_curve,
    "persistence": persistence,
    "price_path": price_path,
    "clusters_curve": clusters_curve,
    "methods": methods,
}
"""Name of the file to what draws it."""
