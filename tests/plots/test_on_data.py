"""The estimate, the ball and replicates on data: places, shapes, densities, codes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots._on_data import (
    mixed_axes,
    packed_rows,
    prepare_ball,
    prepare_curve,
    prepare_shapes,
    prepare_view,
)
from partita.plots._style import colour, colour_indices, observations_of
from partita.report.content import item_positions
from partita.summary.summarize import Observations


@pytest.fixture(scope="module")
def galaxies():
    return pt.sample(
        pt.datasets.galaxies(), kernel="empirical", draws=150, burn_in=150, chains=2, rng=0
    )


@pytest.fixture(scope="module")
def plane():
    simulated = pt.datasets.four_normals(n=80, rng=1)
    fit = pt.sample(simulated.data, kernel="empirical", draws=60, burn_in=60, chains=2, rng=0)
    return fit, pt.summarize(fit, data=simulated.data)


def observed(data):
    return observations_of(None, data, None, len(data))


def colours_of_items(ax, n_items):
    """Colour of the marker at each place."""
    found = {}
    for points in ax.collections:
        face = to_hex(points.get_facecolor()[0]).upper()
        for x, y in points.get_offsets().tolist():
            found[x, y] = face
    assert sum(len(points.get_offsets()) for points in ax.collections) == n_items
    return found


def test_principal_components_by_value():
    rng = np.random.default_rng(3)
    data = rng.normal(size=(50, 4)) @ np.diag([1.0, 100.0, 0.1, 5.0]) + 7.0
    data[:, 3] += data[:, 0]
    view = prepare_view(observed(data), None)
    values, vectors = np.linalg.eigh(np.corrcoef(data.T))
    scaled = (data - data.mean(axis=0)) / data.std(axis=0)
    for j in range(2):
        expected = scaled @ vectors[:, -1 - j]
        sign = np.sign(expected @ view.points[:, j])
        np.testing.assert_allclose(view.points[:, j], sign * expected, atol=1e-10)
        assert view.names[j] == f"PC {j + 1} ({100 * values[-1 - j] / 4:.0f}% of variance)"


def test_shapes_from_items_by_value():
    data = np.random.default_rng(0).normal(size=(9, 2))
    labels = pt.canonical([0, 0, 0, 0, 1, 1, 1, 2, 2])
    observations = observed(data)
    shapes = prepare_shapes(labels, prepare_view(observations, None), observations, None)
    np.testing.assert_allclose(shapes.means[1], data[4:7].mean(axis=0))
    np.testing.assert_allclose(shapes.covariances[0], np.cov(data[:4].T))
    assert np.isnan(shapes.covariances[2]).all()  # two items say nothing about two dimensions


def test_a_correlated_kernel_gives_turned_ellipses():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 3)) @ np.array([[1.0, 0.9, 0], [0, 0.3, 0], [0, 0, 1]])
    kernel = pt.NormalInverseWishart(mean=0.0, precision=0.1, degrees=5.0, scale=1.0)
    fit = pt.sample(data, kernel=kernel, draws=20, burn_in=20, chains=1, rng=0)
    observations = observations_of(None, None, fit, 40)
    labels = np.zeros(40, np.int32)
    shapes = prepare_shapes(labels, prepare_view(observations, (0, 1)), observations, fit)
    expected = fit.cluster_parameters(labels)["covariance"].mean[0, :2, :2]
    np.testing.assert_allclose(shapes.covariances[0], expected)
    whole = prepare_view(observations, None)
    shapes = prepare_shapes(labels, whole, observations, fit, True)
    full = fit.cluster_parameters(labels)["covariance"].mean[0]
    np.testing.assert_allclose(shapes.covariances[0], whole.directions.T @ full @ whole.directions)


def test_density_of_a_fit_given_and_estimated(galaxies):
    velocities = pt.datasets.galaxies()
    view = prepare_view(observed(velocities), None)
    curve = prepare_curve(view, galaxies, None)
    np.testing.assert_allclose(curve.at_items, galaxies.density(velocities).mean, rtol=2e-3)
    given = prepare_curve(view, galaxies, ([40.0, 0.0], [4.0, 0.0]))
    np.testing.assert_allclose(given.at_items, velocities / 10.0)
    kernel = prepare_curve(view, None, None)
    assert kernel.name == "kernel density estimate"
    assert np.trapezoid(kernel.values, kernel.grid) == pytest.approx(1.0, abs=0.02)
    constant = prepare_curve(prepare_view(observed(np.ones(5)), None), None, None)
    assert np.isfinite(constant.at_items).all()


def test_bars_of_one_row_never_touch():
    rng = np.random.default_rng(0)
    starts = rng.random(40)
    ends = starts + 0.3 * rng.random(40)
    rows = packed_rows(starts, ends)
    for row in range(int(rows.max()) + 1):
        mine = np.flatnonzero(rows == row)
        mine = mine[np.argsort(starts[mine])]
        assert (starts[mine][1:] > ends[mine][:-1]).all()
    # As few as can be: the most intervals that share a point.
    deepest = max(((starts <= s) & (ends >= s)).sum() for s in starts)
    assert rows.max() + 1 == deepest


def test_estimate_in_one_dimension(galaxies):
    velocities = pt.datasets.galaxies()
    labels = pt.canonical((velocities > 15).astype(int) + (velocities > 30))
    ax = pt.plots.estimate(labels, fit=galaxies)
    assert_tidy(ax.figure)
    assert ax.get_ylabel() == "posterior predictive density"
    assert "stars and bars: posterior mean ± 2 sd of each cluster" in texts_of(ax.figure)
    found = colours_of_items(ax, 82)
    indices = colour_indices([labels])[0]
    at = dict(zip((x for x, _ in found), found.values(), strict=True))
    for x, label in zip(velocities.tolist(), labels.tolist(), strict=True):
        assert at[x] == colour(int(indices[label]))
    stars = [line for line in ax.lines if line.get_marker() == "*"]
    expected = galaxies.cluster_parameters(labels)["mean"].mean[:, 0]
    np.testing.assert_allclose([star.get_xdata()[0] for star in stars], expected)


def test_estimate_in_two_dimensions(plane):
    fit, summary = plane
    ax = pt.plots.estimate(summary, fit=fit)
    assert_tidy(ax.figure)
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == summary.n_clusters
    variance = fit.cluster_parameters(summary.labels)["variance"].mean
    widths = np.array([sorted((e.width, e.height)) for e in ellipses])
    np.testing.assert_allclose(widths, np.sort(4 * np.sqrt(variance), axis=1))
    assert ax.get_title(loc="left").startswith("Estimate (variation of information): ")


@pytest.mark.parametrize(
    ("n_items", "n_clusters", "columns"),
    [(5, 2, 1), (5, 2, 2), (5, 2, 5), (300, 24, 1), (300, 24, 5), (5_000, 40, 2)],
)
def test_estimate_at_every_size(n_items, n_clusters, columns):
    rng = np.random.default_rng(0)
    labels = np.arange(n_items) % n_clusters
    data = rng.normal(size=(n_items, columns)) + 3 * rng.normal(size=(n_clusters, columns))[labels]
    ax = pt.plots.estimate(labels, data=data)
    assert_tidy(ax.figure)


@pytest.mark.parametrize("with_data", [True, False])
def test_a_cluster_keeps_its_colour_from_panel_to_panel(plane, with_data):
    _, summary = plane
    axes = pt.plots.ball(summary if with_data else summary.ball)
    assert_tidy(axes[0].figure)
    panels = prepare_ball(summary.ball)
    if not with_data:
        return
    for ax, panel in zip(axes, panels, strict=True):
        found = colours_of_items(ax, 80)
        for place, label in zip(summary.data.tolist(), panel.labels.tolist(), strict=True):
            assert found[tuple(place)] == colour(int(panel.indices[label]))
    for panel in panels[1:]:  # items of a cluster present in the centre and in the bound
        for cluster in range(pt.n_clusters(panel.labels)):
            members = panel.labels == cluster
            own = summary.labels[members]
            if (own == own[0]).all() and (summary.labels == own[0]).sum() == members.sum():
                assert panel.indices[cluster] == panels[0].indices[own[0]]


def test_ball_of_one_dimension_and_of_many_clusters(galaxies):
    summary = pt.summarize(galaxies)
    axes = pt.plots.ball(summary, fit=galaxies)
    assert_tidy(axes[0].figure)
    assert len({ax.get_ylim() for ax in axes}) == 1
    labels, truth = noisy_draws(400, 30, n_draws=40)
    assert_tidy(pt.plots.ball(pt.credible_ball(labels, truth))[0].figure)


RNG = np.random.default_rng(0)
RUN = {"draws": 40, "burn_in": 20, "chains": 1, "rng": 0, "progress": False}


def test_a_column_of_numbers_is_a_density_that_sums_to_one():
    rows = np.concatenate([RNG.normal(0, 1, 40), RNG.normal(9, 1, 40)])
    fit = pt.sample(rows, **RUN)
    (ax,) = pt.plots.replicates(fit, n=6)
    assert len(ax.lines) == 7
    x, y = ax.lines[-1].get_data()  # the data come last, on top
    assert abs((y * (x[1] - x[0])).sum() - 1) < 1e-9


def test_counts_are_shares_and_two_columns_of_numbers_are_points():
    counts = RNG.poisson(4, 60).astype(float)
    fit = pt.sample(counts, kernel=pt.GammaPoisson(1, 0.2), **RUN)
    (ax,) = pt.plots.replicates(fit, n=3)
    x, y = ax.lines[-1].get_data()
    np.testing.assert_allclose(y, [(counts == value).mean() for value in x])
    plane = pt.sample(RNG.normal(size=(50, 2)), **RUN)
    axes = pt.plots.replicates(plane, n=3)
    assert len(axes) == 4
    np.testing.assert_allclose(axes[2].collections[0].get_offsets(), plane.values)


def mixed(n=60, seed=0):
    """A column of numbers, one of three levels that goes with it, one of five that does not."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 3, n)
    return np.column_stack([rng.normal(size=n) + 3.0 * level, level, rng.integers(0, 5, n)])


def inertia(values, categories):
    """Of the whole table, by the definition of Pagès: variances of the scaled columns."""
    total = 0.0
    for j, column in enumerate(values.T):
        if j not in categories:
            total += 1.0
            continue
        for level in np.unique(column):
            p = np.mean(column == level)
            total += p * (1 - p) / p
    return total


def test_the_inertia_is_that_of_the_method():
    values = mixed()
    points, names = mixed_axes(values, (1, 2))
    assert inertia(values, (1, 2)) == pytest.approx(1 + 2 + 4)  # numbers, and levels less one
    shares = [float(name.split("(")[1].split("%")[0]) / 100 for name in names]
    variances = points.var(axis=0)
    assert variances / inertia(values, (1, 2)) == pytest.approx(shares, abs=0.005)


def test_numbers_alone_are_principal_components():
    values = np.random.default_rng(1).normal(size=(50, 4)) * [1, 5, 0.1, 2]
    points, _ = mixed_axes(values, ())
    same = prepare_view(Observations(values, None), None).points
    np.testing.assert_allclose(points, same, atol=1e-9)


def test_codes_do_not_matter():
    values = mixed()
    other = values.copy()
    other[:, 1] = np.array([7.0, 0.0, 100.0])[values[:, 1].astype(int)]
    a, b = mixed_axes(values, (1, 2))[0], mixed_axes(other, (1, 2))[0]
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-9)
    wrong = prepare_view(Observations(other, None), None).points  # taken for numbers they do
    assert not np.allclose(np.abs(wrong), np.abs(b), atol=0.1)


def test_few_dimensions_and_missing_values():
    one = np.array([[0.0], [1.0], [1.0], [np.nan]])
    points, _ = mixed_axes(one, (0,))
    assert np.isfinite(points).all()
    assert np.array_equal(points[:, 1], np.zeros(4))
    assert points[3, 0] == pytest.approx(0.0)
    constant, _ = mixed_axes(np.ones((3, 2)), (1,))
    assert np.array_equal(constant, np.zeros((3, 2)))


@pytest.fixture(scope="module")
def fit():
    values = mixed(40)
    table = {"x": values[:, 0], "level": values[:, 1].astype(int).astype(str)}
    return pt.sample(pd.DataFrame(table), draws=40, burn_in=20, chains=2, rng=0)


def test_a_fit_knows_its_categories_and_a_summary_keeps_them(fit, tmp_path):
    assert fit.kernel.categories(2) == (1,)
    summary = pt.summarize(fit, bound=None)
    assert summary.data_categories == (1,)
    summary.save(tmp_path / "s.npz")
    assert pt.Summary.load(tmp_path / "s.npz").data_categories == (1,)
    place = item_positions(summary.data, summary.data_names, summary.data_categories)
    assert "factor analysis of mixed data" in place.note
    assert "inertia" in place.x_title


def test_ellipses_are_drawn_on_own_columns_or_when_asked_for(fit):
    labels = np.repeat([0, 1], 20)
    three = np.random.default_rng(0).normal(size=(40, 3))

    def count(**options):
        ax = pt.plots.estimate(labels, **options)
        return sum(type(patch).__name__ == "Ellipse" for patch in ax.patches)

    assert count(data=three[:, :2]) == 2
    assert count(data=three) == 0
    assert count(data=three, ellipses=True) == 2
    assert count(data=three, dims=(0, 2)) == 2
    assert count(data=three[:, :2], ellipses=False) == 0
    assert count(fit=fit) == 0
    assert count(fit=fit, ellipses=True) == 2
    assert len(pt.plots.estimate(labels, data=three[:, 0], ellipses=False).lines) == 1
