"""Figures of the price path and of the curve over numbers of clusters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import partita as pt
from figure_checks import assert_tidy
from partita.plots._price_path import prepare_price_path

FIVE = np.array(
    [
        [1, 1, 2, 2, 3, 3],
        [1, 1, 2, 2, 2, 3],
        [1, 1, 1, 2, 2, 2],
        [1, 1, 2, 2, 2, 2],
        [1, 2, 2, 3, 3, 3],
    ]
)


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
        assert sum(r.height for r in between) == FIVE.shape[1]
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
