"""Figures of representatives, modes, cores, profiles, paths, curves, the lattice and the map."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots._posterior_map import embed, prepare_lattice, prepare_map
from partita.plots._price_path import prepare_price_path
from partita.plots._style import OTHER as GREY
from simulated import FIVE

ONE = np.repeat([0, 1, 2], 6)
OTHER = np.where(np.arange(18) >= 15, 0, ONE)


@pytest.fixture(scope="module")
def draws() -> pt.Draws:
    rng = np.random.default_rng(0)
    labels = np.array([ONE, OTHER])[(np.arange(240) % 3 == 0).astype(int)]
    noise = rng.random(labels.shape) < 0.02
    return pt.Draws(np.where(noise, rng.integers(0, 3, labels.shape), labels))


@pytest.fixture(scope="module")
def several(draws) -> pt.results.Representatives:
    return pt.representatives(draws)


@pytest.mark.parametrize("data", [None, np.arange(18.0), np.random.default_rng(1).random((18, 2))])
def test_panels_say_mass_and_mark_what_differs(several, data):
    panels = pt.plots.representatives(several, data=data)
    assert several.n == len(panels) == 2
    assert panels[0].get_title(loc="left").startswith("0: mass 6")
    assert "from 0" in panels[1].get_title(loc="left")
    if data is None:
        marked = [line.get_xdata() for line in panels[1].lines][-1]
        assert len(marked) == 3
        assert len(panels[1].patches) >= 3
    else:
        rings = [c for c in panels[1].collections if c.get_facecolor().size == 0]
        assert len(rings[-1].get_offsets()) == 3
    assert_tidy(panels[0].figure)


def test_the_curve_marks_the_number_chosen(several):
    ax = pt.plots.representatives_curve(several)
    assert ax.get_title(loc="left") == "How many representatives? 2"
    assert ax.lines[-1].get_xdata() == [2]
    assert_tidy(ax.figure)


def test_persistence_and_map_of_modes(draws):
    found = pt.modes(draws)
    ax = pt.plots.persistence(found)
    assert ax.get_title(loc="left") == "2 modes of the posterior"
    assert_tidy(ax.figure)
    ball = pt.credible_ball(draws, ONE)
    names = pt.plots.posterior_map(ball, marks=found).get_legend().get_texts()
    assert [t.get_text() for t in names][-1].startswith("mode 1 (3")


DRAWS = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]


def test_the_curve_and_the_items():
    core = pt.credible_core(DRAWS, prob=0.9, held_out=False)
    curve, items = pt.plots.core(core, data=[[1.0, 2.0], [1.1, 2.0], [3.0, 1.0], [4.0, 1.0]])
    step = curve.lines[0]
    assert np.array_equal(step.get_ydata(), core.curve)
    assert curve.get_title(loc="left") == "Grouped identically with probability 0.9"
    grey, *clusters = items.collections
    assert to_hex(grey.get_facecolor()[0]).upper() == GREY
    assert len(grey.get_offsets()) == 4 - core.size
    assert sum(len(found.get_offsets()) for found in clusters) == core.size
    (alone,) = pt.plots.core(core)
    assert alone.get_xlabel() == "items"
    _, line = pt.plots.core(core, data=[1.0, 1.2, 3.0, 3.1])
    assert [tick.get_text() for tick in line.get_yticklabels()] == ["not stated", "0", "1"]


def test_profiles_are_drawn_by_value():
    found = pt.profiles(DRAWS, [0, 0, 1, 1], data=[1.0, 2.0, 5.0, 6.0])
    mean, sd = pt.plots.profiles(found)
    assert mean.get_title(loc="left") == "0: mean"
    points = [line.get_xdata()[0] for line in mean.lines if line.get_marker() == "o"]
    assert points == [found.averaged[0], found.averaged[2]]
    assert sd.get_title(loc="left") == "0: sd"


@pytest.fixture(scope="module")
def path() -> pt.results.PricePath:
    return pt.price_path(FIVE)


def test_columns_stand_over_their_prices_and_ribbons_hold_every_item(path):
    columns, ribbons = prepare_price_path(path)
    edges = [path.low, *path.breakpoints, path.high]
    for column, low, high, labels in zip(columns, edges, edges[1:], path.labels, strict=False):
        assert low <= column.left < column.right <= high
        assert column.right - column.left > 0.3 * (high - low)
        assert column.heights.tolist() == np.bincount(labels).tolist()
        order = np.argsort(column.bottoms)
        tops = (column.bottoms + column.heights)[order]
        assert tops[:-1].tolist() == column.bottoms[order][1:].tolist()
        assert tops[-1] == labels.size
    for one, two in pairwise(columns):
        between = [r for r in ribbons if r.left == one.right]
        assert sum(r.height for r in between) == 6
        assert {r.right for r in between} == {two.left}


@pytest.mark.parametrize("a", [0.3, 1.0, 1.9])
def test_the_estimate_is_marked_with_its_interval(a):
    path = pt.price_path(FIVE, loss=pt.VI(a))
    ax = pt.plots.price_path(path)
    corner = next(c for c in path if c.low <= a <= c.high)
    bracket = ax.lines[0].get_xdata()
    assert tuple(bracket) == (corner.low, corner.high)
    assert set(ax.lines[1].get_xdata()) == {a}
    assert ax.get_title(loc="left").startswith(f"How many clusters? {corner.n_clusters}, for")
    assert_tidy(ax.figure)


def test_any_reported_estimate_is_marked_with_its_interval(path):
    two = pt.plots.price_path(path, estimate=path.labels[3])
    low, high = path.breakpoints[2:]
    assert tuple(two.lines[0].get_xdata()) == (low, high)
    assert_tidy(two.figure)
    crossed = [0, 1, 0, 1, 0, 1]
    never = pt.plots.price_path(path, estimate=crossed)
    assert len(never.lines) == 1  # the price alone
    lost = path.stability(crossed).excess(1.0)
    assert never.get_title(loc="left").endswith(f"optimal at no price; it loses {lost:.3g} bits")
    assert_tidy(never.figure)
    part = pt.plots.price_path(pt.price_path(FIVE, low=1.2), estimate=path.labels[3])
    assert tuple(part.lines[0].get_xdata()) == pytest.approx((1.2, high))


def test_the_curve_shades_the_plateau_and_rings_the_estimate():
    draws = np.array([[0, 0, 1, 1, 2]] * 9 + [[0, 0, 1, 1, 1]] * 8)
    curve = pt.clusters_curve(draws, k=range(1, 5))
    ax = pt.plots.clusters_curve(curve)
    assert [p.get_x() + 0.5 for p in ax.patches] == curve.plateau.tolist() == [2, 3]
    assert ax.lines[-1].get_xdata().tolist() == [3]
    assert ax.get_title(loc="left").startswith("2 to 3 clusters are within two")
    assert_tidy(ax.figure)
    assert curve.excess[2] == 0.0
    one = pt.clusters_curve(np.array([[0, 0, 1, 1, 2]] * 9))
    assert_tidy(pt.plots.clusters_curve(one).figure)


CENTER = pt.canonical([0, 0, 1, 1])


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder()], ids=repr)
def test_levels_are_ranks_of_distances(loss):
    """Which partitions a ball of four items gains at each level, credible/test_ball.py says."""
    diagram = pt.hasse_diagram(4, loss=loss)
    found = prepare_lattice(diagram, CENTER, loss)
    distances = pt.pairwise_distances([CENTER], diagram.nodes, loss)[0]
    np.testing.assert_allclose(found.distances[found.level], distances)
    assert (np.diff(found.distances) > 1e-9).all()


def test_only_what_is_inside_a_ball_has_a_level():
    ball = pt.credible_ball([CENTER] * 3 + [[0, 0, 1, 2]], CENTER, prob=1.0)
    diagram = pt.hasse_diagram(4)
    found = prepare_lattice(diagram, ball.center, ball.loss, ball.radius)
    inside = found.level >= 0
    assert [ball.contains(node) for node in diagram.nodes] == inside.tolist()
    assert inside.sum() == 3


@pytest.mark.parametrize(
    ("n", "loss"), [*((n, "vi") for n in range(1, 7)), (4, "binder"), (6, "binder")]
)
def test_diagrams_are_legible(n, loss):
    ax = pt.plots.hasse(n, loss=loss, center=np.arange(n) // 2)
    assert_tidy(ax.figure)
    edges = ax.collections[0].get_segments()
    assert len(edges) == len(pt.hasse_diagram(n).edges)
    names = set(texts_of(ax.figure))
    if n == 4:
        assert set(pt.hasse_diagram(4).names()) <= names
    if n == 5:
        assert {"12|34|5", "1|2|3|4|5", "12345"} <= names


def test_the_ball_gives_loss_and_colours():
    labels = [[0, 0, 1, 1]] * 9 + [[0, 0, 1, 2]] * 8 + [[0, 1, 2, 3]]
    ball = pt.credible_ball(labels, CENTER, loss="binder", prob=0.9)
    ax = pt.plots.hasse(4, ball=ball)
    assert "Binder's loss" in ax.get_title(loc="left")
    fills = {t.get_text(): t.get_bbox_patch().get_facecolor() for t in ax.texts}
    white = (1.0, 1.0, 1.0, 1.0)
    covered = {"{1,2}{3}{4}", "{1}{2}{3,4}"}
    assert {name for name, fill in fills.items() if fill != white} == {*covered, "{1,2}{3,4}"}
    assert fills["{1,2}{3}{4}"] == fills["{1}{2}{3,4}"]
    assert "outside" in texts_of(ax.figure)
    given_axes = Figure(figsize=(9, 5), layout="constrained").subplots()
    diagram = pt.hasse_diagram(4, loss="binder")
    assert pt.plots.hasse(diagram, ball=ball, ax=given_axes) is given_axes


def between(points, others=None):
    others = points if others is None else others
    return np.linalg.norm(points[:, None] - others[None], axis=2)


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(0, 10_000))
def test_points_of_a_plane_come_back(n, seed):
    rng = np.random.default_rng(seed)
    points, more = rng.normal(size=(n, 2)), rng.normal(size=(5, 2))
    found = embed(between(points), between(more, points) if n > 6 else None)
    assert found.stress < 1e-6
    np.testing.assert_allclose(between(found.places[:n]), between(points), atol=1e-6)
    if n > 6:
        # The rounds end at a relative decrease of 1e-4, hence not exact.
        error = np.abs(between(found.places[n:], found.places[:n]) - between(more, points))
        assert np.median(error) < 0.1


@pytest.mark.parametrize("landmarks", [300, 12])
def test_partitions_in_a_chain_come_to_lie_on_a_line(monkeypatch, landmarks):
    """Each splits a cluster of the one before: VI adds up along them."""
    monkeypatch.setattr("partita.plots._posterior_map._LANDMARKS", landmarks)
    rows = np.array([np.minimum(np.arange(16), k) for k in range(16)])
    draws = pt.Draws(np.repeat(rows, 2, axis=0))
    ball = pt.credible_ball(draws, rows[3], prob=0.8)
    found = prepare_map(ball, {"centre": ball.center, "top": rows[0]}, 100)
    assert found.names == ("centre", "top")
    assert found.n_draws == 32
    assert len(found.places) == 16
    np.testing.assert_allclose(found.weights, 1 / 16)
    np.testing.assert_array_equal(found.n_clusters, np.arange(1, 17))
    np.testing.assert_array_equal(found.inside, [ball.contains(row) for row in rows])
    true = pt.pairwise_distances(rows)
    tolerance = 1e-6 if landmarks > 16 else 0.05  # the others are placed to a relative 1e-4
    np.testing.assert_allclose(between(found.places), true, atol=tolerance)
    np.testing.assert_allclose(between(found.named, found.places)[0], true[3], atol=tolerance)


@pytest.mark.parametrize(("n_items", "n_clusters", "n_draws"), [(5, 2, 40), (60, 20, 700)])
def test_maps_are_legible(n_items, n_clusters, n_draws):
    labels, truth = noisy_draws(n_items, n_clusters, n_draws=n_draws)
    ball = pt.credible_ball(labels, truth)
    ax = pt.plots.posterior_map(ball, marks={"$truth": truth, "x" * 80: truth})
    assert_tidy(ax.figure)
    assert any(text.startswith("stress ") or "\nstress " in text for text in texts_of(ax.figure))


def test_a_certain_posterior_and_weights_have_a_map():
    assert_tidy(pt.plots.posterior_map(pt.credible_ball([[0, 1]] * 4, [0, 1])).figure)
    labels, truth = noisy_draws(20, 3)
    ball = pt.credible_ball(pt.Draws(labels).unique(), truth)
    assert_tidy(pt.plots.posterior_map(ball, most_draws=20).figure)
