"""The figure of data against replicates: what its lines are."""

from __future__ import annotations

import numpy as np

import partita as pt

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
