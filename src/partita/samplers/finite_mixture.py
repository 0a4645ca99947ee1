"""Mixtures of finite mixtures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import positive, whole
from partita.errors import InvalidInputError
from partita.kernels.gibbs.types import Prior
from partita.partitions.labels import cluster_sizes
from partita.samplers.priors import Floats, PartitionPrior, PriorTables, join_tables

_CELLS = 1 << 20
"""Terms summed at a time."""


@dataclass(frozen=True)
class FiniteMixture(PartitionPrior):
    """Partitions of a finite mixture whose number of components has a prior.

    K ~ p(K), component weights ~ Dirichlet(γ, …, γ) on K components. Clusters
    are the components that have items: p(c) = V(N, k) Π_j γ(γ + 1)…(γ + n_j − 1) with
    V(N, k) = Σ_K p(K) K!/(K − k)! · Γ(γK)/Γ(γK + N). Unlike under a Dirichlet
    process, the number of clusters does not grow with N for ever: choose it
    where a true, finite number of groups is believed in.

    Parameters
    ----------
    weight : float
        γ > 0; 1 makes all component weights equally likely.
    mean_components : float
        Mean of K, above 1, when K − 1 is Poisson distributed. Ignored when components are given.
    components : sequence of float, optional
        Probabilities of K = 1, 2, …; scaled to sum to 1.

    Notes
    -----
    An item is placed at a cost of O(k) for k clusters. V(N, k) is summed once
    for all k, before sampling.

    References
    ----------
    Miller and Harrison (2018), Journal of the American Statistical Association 113.

    Examples
    --------
    >>> import partita as pt
    >>> prior = pt.FiniteMixture(mean_components=5)
    >>> round(prior.expected_clusters(100), 3)
    4.773
    >>> pt.FiniteMixture.exactly(2).log_probability([0, 1, 2])
    -inf
    """

    weight: float = 1.0
    mean_components: float = 5.0
    components: tuple[float, ...] | None = None

    kind: ClassVar[str] = "FiniteMixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", positive(self.weight, "weight"))
        mean = positive(self.mean_components, "mean_components")
        if mean <= 1:
            raise InvalidInputError(f"mean_components={mean!r}; expected a number above 1.")
        object.__setattr__(self, "mean_components", mean)
        if self.components is not None:
            object.__setattr__(self, "components", _clean_components(self.components))

    @classmethod
    def exactly(cls, n_components: int, *, weight: float = 1.0) -> FiniteMixture:
        """A mixture of that many components; at most that many clusters."""
        n_components = whole(n_components, "n_components", least=1)
        return cls(weight=weight, components=(0.0,) * (n_components - 1) + (1.0,))

    def _log_components(self, numbers: Floats) -> Floats:
        """log p(K) of whole numbers K."""
        from scipy.special import gammaln

        if self.components is None:
            rate = self.mean_components - 1
            return np.asarray((numbers - 1) * math.log(rate) - rate - gammaln(numbers))
        padded = np.zeros(int(numbers.max()) + 1)
        most = min(padded.size - 1, len(self.components))
        padded[1 : most + 1] = self.components[:most]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(padded[numbers.astype(np.int64)]))

    def _log_v(self, n_items: int, clusters: Floats) -> Floats:
        """log V(N, k) for whole numbers k ≥ 1."""
        from scipy.special import gammaln, logsumexp

        if self.components is None:
            # Beyond k, terms fall off at least like the Poisson probabilities they contain.
            rate = self.mean_components - 1
            terms = int(rate + 12 * math.sqrt(rate)) + 60
        else:
            terms = len(self.components)
        beyond = np.arange(terms, dtype=np.float64)
        found = np.empty(clusters.size)
        step = max(1, _CELLS // terms)
        for start in range(0, clusters.size, step):
            k = clusters[start : start + step, None]
            total = k + beyond
            log_terms = self._log_components(total) + gammaln(total + 1) - gammaln(beyond + 1)
            log_terms += gammaln(self.weight * total) - gammaln(self.weight * total + n_items)
            found[start : start + step] = logsumexp(log_terms, axis=1)
        return found

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; −∞ for more clusters than components are possible."""
        from scipy.special import gammaln

        sizes = cluster_sizes(labels)
        blocks = gammaln(self.weight + sizes) - gammaln(self.weight)
        log_v = self._log_v(int(sizes.sum()), np.array([float(sizes.size)]))
        return float(log_v[0] + blocks.sum())

    def expected_clusters(self, n_items: int) -> float:
        """Σ_K p(K) · K · P(a component has items)."""
        from scipy.special import betaln

        n_items = whole(n_items, "n_items", least=1)
        if self.components is None:
            rate = self.mean_components - 1
            numbers = np.arange(1.0, int(rate + 12 * math.sqrt(rate)) + 61)
        else:
            numbers = np.arange(1.0, len(self.components) + 1)
        probabilities = np.exp(self._log_components(numbers))
        others = self.weight * np.maximum(numbers - 1, 1e-300)
        empty = np.exp(betaln(self.weight, others + n_items) - betaln(self.weight, others))
        empty[0] = 0.0  # a single component has all items
        return float((probabilities * numbers * (1 - empty)).sum())

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        log_size, log_block = join_tables(n_items, -self.weight)
        log_v = self._log_v(n_items, np.arange(1.0, n_items + 2))
        possible = np.isfinite(log_v[:-1])
        ratio = np.full(n_items, -np.inf)
        ratio[possible] = log_v[1:][possible] - log_v[:-1][possible]
        open_table = np.concatenate([[0.0], ratio + math.log(self.weight)])
        constant = float(log_v[0]) + math.log(self.weight)
        arrays = Prior(-self.weight, log_size, log_block, open_table, 0.0, 0.0)
        return PriorTables(arrays, 1.0, constant, None)

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        if self.components is None:
            return None
        return max(i + 1 for i, p in enumerate(self.components) if p > 0)


def _clean_components(components: Sequence[float]) -> tuple[float, ...]:
    try:
        values = np.asarray(components, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or values.min() < 0:
        raise InvalidInputError(
            f"components={components!r}; expected the probabilities of 1, 2, … components. For a "
            "fixed number use FiniteMixture.exactly."
        )
    if not values.sum() > 0:
        raise InvalidInputError("components are all zero; expected probabilities.")
    return tuple((values / values.sum()).tolist())
