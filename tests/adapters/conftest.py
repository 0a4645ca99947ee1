"""Draws that the adapters' tests share: three groups of ten items, blurred."""

import numpy as np
import pytest

import partita as pt

TRUTH = np.repeat([0, 1, 2], 10)


@pytest.fixture(scope="session")
def labels():
    rng = np.random.default_rng(3)
    return np.where(rng.random((300, 30)) < 0.12, rng.integers(0, 4, (300, 30)), TRUTH)


@pytest.fixture(scope="session")
def summary(labels):
    return pt.summarize(labels)
