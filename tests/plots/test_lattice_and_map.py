"""The Hasse diagram with a ball, and the map of the posterior."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots._posterior_map import embed, prepare_lattice, prepare_map

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


def nested(n_items=16):
    """Partitions each of which splits a cluster of the one before: VI adds up along them."""
    return np.array([np.minimum(np.arange(n_items), k) for k in range(n_items)])


@pytest.mark.parametrize("landmarks", [300, 12])
def test_partitions_in_a_chain_come_to_lie_on_a_line(monkeypatch, landmarks):
    plane = import_module("partita.plots._posterior_map")

    monkeypatch.setattr(plane, "_LANDMARKS", landmarks)
    rows = nested()
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
