"""Draws that the adapters' tests share: three groups of ten items, blurred."""

import numpy as np
import pytest

import partita as pt
from simulated import labels_around


@pytest.fixture(scope="session")
def labels():
    return labels_around(np.repeat([0, 1, 2], 10), 300, seed=3, redrawn=0.12)


@pytest.fixture(scope="session")
def summary(labels):
    return pt.summarize(labels)
