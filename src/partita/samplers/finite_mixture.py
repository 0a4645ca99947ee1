"""Mixtures of finite mixtures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import boolean, integer, plain_array, positive, unexpected
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Ints
from partita.kernels.gibbs.primitives import Prior
from partita.labels import cluster_sizes
from partita.samplers.priors import F, Gamma, PartitionPrior, PriorTables, join_tables

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

    The weight can be learned, and it can shrink with the number of components (``dynamic``,
    γ = weight/K): then surplus components stay empty, and a fit says how many components there
    are beside how many clusters.

    Parameters
    ----------
    weight : float, Gamma or F
        γ > 0, or α of γ = α/K; 1 makes all component weights equally likely. With a prior,
        ``Gamma(shape, rate)`` or ``F(6, 3)``, it is updated in each iteration.
    mean_components : float
        Mean of K, above 1, when K − 1 is Poisson distributed. Ignored when components are given.
    components : sequence of float, optional
        Probabilities of K = 1, 2, …; scaled to sum to 1.
    dynamic : bool
        Whether γ = weight/K.

    Notes
    -----
    An item is placed at a cost of O(k) for k clusters. For a fixed, static weight V(N, k) is
    summed once for all k, before sampling. Otherwise an iteration begins with a draw of K given
    the partition and a slice step of the log weight, at a cost of O(N + terms·k), and goes on
    given both (telescoping sampling). ``Fit.trace["n_components"]`` has the draws of K in every
    case, ``Fit.trace["weight"]`` those of a learned weight.

    References
    ----------
    Miller and Harrison (2018), Journal of the American Statistical Association 113.
    Frühwirth-Schnatter, S., Malsiner-Walli, G. and Grün, B. (2021), Generalized mixtures of finite
    mixtures and telescoping sampling. Bayesian Analysis 16.

    Examples
    --------
    >>> import partita as pt
    >>> prior = pt.FiniteMixture(mean_components=5)
    >>> round(prior.expected_clusters(100), 3)
    4.773
    >>> pt.FiniteMixture.exactly(2).log_probability([0, 1, 2])
    -inf
    >>> round(pt.FiniteMixture(pt.F(6, 3), dynamic=True).expected_clusters(100), 3)
    3.285
    """

    parameter: ClassVar[str] = "weight"

    weight: float | Gamma | F = 1.0
    mean_components: float = 5.0
    components: tuple[float, ...] | None = None
    dynamic: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.weight, (Gamma, F)):
            object.__setattr__(self, "weight", positive(self.weight, "weight"))
        mean = positive(self.mean_components, "mean_components")
        if mean <= 1:
            raise unexpected(mean, "mean_components", "a number above 1")
        object.__setattr__(self, "mean_components", mean)
        object.__setattr__(self, "dynamic", boolean(self.dynamic, "dynamic"))
        if self.components is not None:
            object.__setattr__(self, "components", _clean_components(self.components))

    @classmethod
    def exactly(
        cls, n_components: int, *, weight: float | Gamma | F = 1.0, dynamic: bool = False
    ) -> FiniteMixture:
        """A mixture of that many components; at most that many clusters."""
        n_components = integer(n_components, "n_components", least=1)
        components = (0.0,) * (n_components - 1) + (1.0,)
        return cls(weight=weight, components=components, dynamic=dynamic)

    def _terms(self) -> int:
        """Numbers of components from k on that count.

        Beyond k, terms of a sum fall off at least like the Poisson probabilities they contain.
        """
        if self.components is not None:
            return len(self.components)
        rate = self.mean_components - 1
        return int(rate + 12 * math.sqrt(rate)) + 20

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

    def _nodes(self, extra: float) -> tuple[Floats, Floats]:
        """Weights and their log probabilities: one, or a quadrature of those that are learned."""
        if isinstance(self.weight, float):
            return np.array([self.weight]), np.zeros(1)
        u, log_weights = self.weight.nodes(extra, n_factors=extra)
        return np.exp(u), log_weights

    def _log_v(self, n_items: int, clusters: Floats) -> Floats:
        """log V(N, k) for whole numbers k ≥ 1, for a fixed, static weight."""
        from scipy.special import gammaln, logsumexp

        weight = self._start()
        terms = self._terms()
        beyond = np.arange(terms, dtype=np.float64)
        found = np.empty(clusters.size)
        step = max(1, _CELLS // terms)
        for start in range(0, clusters.size, step):
            k = clusters[start : start + step, None]
            total = k + beyond
            log_terms = self._log_components(total) + gammaln(total + 1) - gammaln(beyond + 1)
            log_terms += gammaln(weight * total) - gammaln(weight * total + n_items)
            found[start : start + step] = logsumexp(log_terms, axis=1)
        return found

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; a learned weight is integrated out.

        −∞ for more clusters than components are possible.
        """
        return float(self.log_probability_of_sizes(cluster_sizes(labels)[None, :])[0])

    def log_probability_of_sizes(self, sizes: Ints) -> Floats:
        """Log probabilities of partitions by their cluster sizes; see ``PartitionPrior``."""
        kinds, number = np.unique(np.sort(sizes, axis=1), axis=0, return_inverse=True)
        clusters, found = (kinds > 0).sum(axis=1), np.empty(len(kinds))
        for k in np.unique(clusters).tolist():
            found[clusters == k] = self._log_of_kinds(kinds[clusters == k][:, -k:])
        return found[number.reshape(-1)]

    def _log_of_kinds(self, kinds: Ints) -> Floats:
        """The same of rows of k sizes each: sums over numbers of components and weights."""
        from scipy.special import gammaln

        k, n = kinds.shape[1], int(kinds[0].sum())
        numbers = k + np.arange(self._terms(), dtype=np.float64)
        weights, log_weights = self._nodes(float(k - 1))
        each = weights[:, None] / numbers if self.dynamic else weights[:, None]
        terms = self._log_components(numbers) + gammaln(numbers + 1) - gammaln(numbers - k + 1)
        terms = terms - _log_rising(each * numbers, n) + log_weights[:, None]
        if not self.dynamic:  # sizes matter by the weight alone
            terms = np.logaddexp.reduce(terms, axis=1, keepdims=True)
        rising: dict[int, Floats] = {}
        found = np.empty(len(kinds))
        for row, each_kind in enumerate(kinds):
            total = terms.copy()
            for size, count in zip(*np.unique(each_kind, return_counts=True), strict=True):
                if size not in rising:
                    rising[size] = _log_rising(each, int(size))
                total += count * rising[size]
            highest = float(total.max())
            top = highest if math.isfinite(highest) else 0.0
            with np.errstate(divide="ignore"):
                found[row] = np.log(np.exp(total - top).sum()) + top
        return found

    def expected_clusters(self, n_items: int) -> float:
        """Σ_K p(K) · K · P(a component has items); averaged over a learned weight."""
        n_items = integer(n_items, "n_items", least=1)
        numbers = np.arange(1.0, self._terms() + 1)
        probabilities = np.exp(self._log_components(numbers))
        weights, log_weights = self._nodes(0.0)
        each = weights[:, None] / numbers if self.dynamic else weights[:, None]
        # A component is empty with probability Γ(others + N)/Γ(others) · Γ(all)/Γ(all + N).
        others = each * np.maximum(numbers - 1, 1e-300)
        empty = np.exp(_log_rising(others, n_items) - _log_rising(each * numbers, n_items))
        empty[:, 0] = 0.0  # a single component has all items
        return float(np.exp(log_weights) @ (1 - empty) @ (probabilities * numbers))

    def _start(self) -> float:
        """The weight, or where chains start that learn it."""
        if isinstance(self.weight, Gamma):
            return self.weight.mean
        if isinstance(self.weight, F):
            return self.weight.mode or 1.0
        return self.weight

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        weight = self._start()
        log_size, log_block = join_tables(n_items, -weight)
        learned = not isinstance(self.weight, float)
        is_learned = self.dynamic or learned
        if is_learned:  # given K, of which the chain fills the tables
            open_table, constant = np.full(n_items + 1, -np.inf), 0.0
        else:
            log_v = self._log_v(n_items, np.arange(1.0, n_items + 2))
            possible = np.isfinite(log_v[:-1])
            ratio = np.full(n_items, -np.inf)
            ratio[possible] = log_v[1:][possible] - log_v[:-1][possible]
            open_table = np.concatenate([[0.0], ratio + math.log(weight)])
            constant = float(log_v[0]) + math.log(weight)
        open_table[0] = 0.0
        shape, rate = _hyperparameters(self.weight)
        most = self._terms() + (n_items if self.components is None else 0)
        numbers = self._log_components(np.arange(1.0, most + 1))
        arrays = Prior(
            -weight,
            log_size,
            log_block,
            open_table,
            shape,
            rate,
            np.concatenate([[-np.inf], numbers]),
            self._terms(),
            self.dynamic,
            isinstance(self.weight, F),
        )
        parameter = self.parameter if learned else None
        return PriorTables(arrays, weight, constant, parameter, True, is_learned)

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        if self.components is None:
            return None
        return max(i + 1 for i, p in enumerate(self.components) if p > 0)

    def config(self) -> dict[str, Any]:
        """Weight, components and kind of weight."""
        found = super().config()
        if not self.dynamic:  # as in files and checkpoints of version 0.1
            found.pop("dynamic")
        return found


def _log_rising(x: Any, n: int) -> Floats:
    """log Γ(x + n)/Γ(x); by Stirling's series where the difference would lose its digits."""
    from scipy.special import gammaln

    x = np.asarray(x, np.float64)
    if x.max() < 1e5:
        return np.asarray(gammaln(x + n) - gammaln(x))
    large = np.maximum(x, 1e5)
    series = n * np.log(large) + (large + n - 0.5) * np.log1p(n / large) - n
    series += (1.0 / (large + n) - 1.0 / large) / 12.0
    small = np.minimum(x, 1e5)
    return np.asarray(np.where(x < 1e5, gammaln(small + n) - gammaln(small), series))


def _hyperparameters(weight: float | Gamma | F) -> tuple[float, float]:
    if isinstance(weight, Gamma):
        return weight.shape, weight.rate
    if isinstance(weight, F):
        return weight.df1, weight.df2
    return 0.0, 0.0


def _clean_components(components: Sequence[float]) -> tuple[float, ...]:
    try:
        values = np.asarray(plain_array(components, "components"), np.float64)
    except Exception:  # whatever an object of a user raises
        values = np.empty((0, 0))
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or values.min() < 0:
        raise unexpected(
            components,
            "components",
            "the probabilities of 1, 2, … components. For a fixed number use FiniteMixture.exactly",
        )
    if not values.sum() > 0:
        raise InvalidInputError(
            "components are all zero; expected probabilities.", argument="components"
        )
    return tuple((values / values.sum()).tolist())
