"""The concentration for a wanted number of clusters."""

from __future__ import annotations

import math

import numpy as np

from partita._validate import number, unexpected, whole
from partita.samplers.priors import clean_discount, expected_at


def concentration_for(n_clusters: float, *, n_items: int, discount: float = 0.0) -> float:
    """The concentration under which n items have an expected number of clusters.

    Solves E[k] = n_clusters for α, with E[k] = Σ_{i<N} α/(α + i) under a
    Dirichlet process and its Pitman–Yor form with a discount.

    Parameters
    ----------
    n_clusters : float
        Wanted expectation, above 1 and below n_items.
    n_items : int
        Number of items, at least 2.
    discount : float
        0 ≤ σ < 1; 0 is the Dirichlet process.

    Returns
    -------
    float
        α > −discount. Negative where the discount alone gives more clusters than wanted.

    Notes
    -----
    A root in one dimension: cost O(N) per step, a few dozen steps.

    References
    ----------
    Lijoi, A., Mena, R. H. and Prünster, I. (2007), Controlling the
    reinforcement in Bayesian non-parametric mixture models. Journal of the
    Royal Statistical Society B 69.

    Examples
    --------
    >>> import partita as pt
    >>> round(pt.concentration_for(5, n_items=100), 3)
    0.948
    """
    n_items = whole(n_items, "n_items", least=2)
    discount, n_clusters = clean_discount(discount), number(n_clusters, "n_clusters")
    if not 1 < n_clusters < n_items:
        raise unexpected(n_clusters, "n_clusters", f"a number above 1 and below n_items={n_items}")
    from scipy.optimize import brentq

    def excess(log_distance: float) -> float:
        alpha = math.exp(log_distance) - discount
        return float(expected_at(np.array([alpha]), discount, n_items)[0]) - n_clusters

    low, high = -30.0, 1.0
    while excess(high) < 0:
        high += 2.0
    root = brentq(excess, low, high, xtol=1e-14)
    return math.exp(root) - discount
