"""Quantiles of the normal and beta laws, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import betaincinv, ndtri

from partita.mcmc import beta_quantile, normal_quantile


def test_normal_quantiles_of_the_middle_and_of_both_tails():
    far = 10.0 ** -np.arange(1.0, 300.0)
    p = np.concatenate([np.linspace(0.0, 1.0, 2001)[1:-1], far, 1.0 - far[:15]])
    # 1e-14: the approximation has 16 digits, and the logarithm of a tail loses one.
    assert_allclose(normal_quantile(p), ndtri(p), rtol=1e-14, atol=1e-15)
    assert normal_quantile(p.reshape(1, -1)).shape == (1, p.size)


@pytest.mark.parametrize("n", [0.5, 4.0, 95.3, 1e4, 1e6])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("p", [1e-3, 0.1586553, 0.8413447])
def test_beta_quantiles(n, share, p):
    a, b = n * share + 1.0, n * (1.0 - share) + 1.0
    # 1e-8 standard deviations: differences of log Γ lose digits as n grows.
    spread = np.sqrt(a * b / (a + b) ** 3)
    assert beta_quantile(a, b, p) == pytest.approx(betaincinv(a, b, p), rel=0, abs=1e-8 * spread)
