"""Figures that went through pyplot are closed before and after each test."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def closed_figures():
    plt.close("all")  # other tests may have left some
    yield
    plt.close("all")
