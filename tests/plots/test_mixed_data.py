"""Codes of categories have no order: no picture may depend on them."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.plots._on_data import mixed_axes, prepare_view
from partita.report.prepare import item_positions
from partita.summary.summarize import Observations


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
    pandas = pytest.importorskip("pandas")
    return pt.sample(pandas.DataFrame(table), draws=40, burn_in=20, chains=2, rng=0)


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
    pytest.importorskip("matplotlib")
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
