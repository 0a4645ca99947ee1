"""Draws of feature allocations of which much is known."""

import numpy as np

import partita as pt

F5 = [[{0, 1}, {2}], [{0, 1}, {2, 3}], [{0}, {2, 3}], [{0, 1, 2}, {3}], [{0, 1}, {1, 2}, {3}]]
"""The five draws of four items of which every distance and minimum is known."""

ESTIMATE = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
"""Their estimate: {0, 1}, {2, 3}."""


def f5(**fields):
    return pt.FeatureDraws.from_sets(F5, n_items=4, **fields)


def cube():
    """The same as one array (draw, item, feature)."""
    draws = f5()
    out = np.zeros((5, 4, 3), np.uint8)
    for m in range(5):
        out[m, :, : draws.n_features[m]] = draws[m]
    return out


def two_modes(n=400):
    """Four chains, two in each of two allocations of twelve items, with noise."""
    rng = np.random.default_rng(0)
    planted = [np.zeros((12, 2), bool), np.zeros((12, 2), bool)]
    planted[0][:7, 0] = planted[0][5:, 1] = True
    planted[1][::2, 0] = planted[1][::3, 1] = True
    chain = np.repeat([0, 1, 2, 3], n // 4)
    draws = [planted[c % 2] ^ (rng.random((12, 2)) < 0.03) for c in chain]
    return pt.FeatureDraws(draws, chain=chain)


def overlapping():
    """How the file behind ``pt.datasets.overlapping_features`` was made."""
    truth = pt.datasets.overlapping_features().truth
    rng, matrices = np.random.default_rng(1), []
    for _ in range(1_000):
        z = truth ^ (rng.random(truth.shape) < 0.04)
        if rng.random() < 0.25:
            z[:, 2] = False
        alone = np.eye(24, dtype=bool)[:, rng.choice(24, rng.poisson(1.5), replace=False)]
        matrices.append(np.column_stack([z, alone]))
    return pt.FeatureDraws(matrices, chain=np.repeat([0, 1, 2, 3], 250))
