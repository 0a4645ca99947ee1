"""Priors on partitions: the Dirichlet and the Pitman–Yor process."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import positive, whole
from partita.errors import InvalidInputError
from partita.kernels.gibbs.types import Prior
from partita.partitions.labels import cluster_sizes
from partita.samplers.registered import Registered

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gamma:
    """A gamma distribution, as the prior of a concentration: mean shape/rate.

    Parameters
    ----------
    shape, rate : float
        Positive.

    Notes
    -----
    The concentration is updated once per iteration, at a cost of O(1).

    References
    ----------
    Escobar, M. D. and West, M. (1995), Bayesian density estimation and
    inference using mixtures. Journal of the American Statistical Association 90.

    Examples
    --------
    >>> import partita as pt
    >>> pt.DirichletProcess(pt.Gamma(1, 1))
    DirichletProcess(concentration=Gamma(shape=1.0, rate=1.0))
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            object.__setattr__(self, name, positive(getattr(self, name), f"Gamma {name}"))

    @property
    def mean(self) -> float:
        """shape/rate."""
        return self.shape / self.rate

    def nodes(self, extra: float) -> tuple[Floats, Floats]:
        """log α and log weights of a quadrature for E f(α), f(α) ~ α^extra near 0.

        The trapezoidal rule in log α converges exponentially, because the integrand decays at
        both ends and is analytic in the strip of half-width π/2.
        """
        low = math.log(self.mean) - 45.0 / (self.shape + extra) - 5.0
        high = math.log(self.shape + extra + 40.0) - math.log(self.rate) + 3.0
        step = 0.1
        u = np.arange(low, high, step)
        log_density = self.shape * (math.log(self.rate) + u) - math.lgamma(self.shape)
        return u, log_density - self.rate * np.exp(u) + math.log(step)


@dataclass(frozen=True)
class PriorTables:
    """A prior for N items as the compiled loops read it.

    ``constant`` completes the log probability of a partition; ``concentration`` is where chains
    start; ``parameter`` names it in traces, None where the prior has none.
    """

    arrays: Prior
    concentration: float
    constant: float
    parameter: str | None


class PartitionPrior(Registered, ABC):
    """A probability for every partition of N items that depends on the cluster sizes alone.

    The samplers take priors of product form, p(c) = V(N, k) Π_j W(n_j), under which an item joins
    a cluster with a weight that depends on that cluster's size alone;
    :class:`partita.ProductPartition` makes one from V and W. Under other exchangeable priors the
    weight depends on all sizes, and the compiled loops, which take it from a table, would
    sample another distribution; :func:`partita.testing.check_prior` tells.

    Notes
    -----
    A subclass defines ``log_probability`` and ``expected_clusters``, and ``tables`` to be sampled.
    An item is placed at a cost of O(k) for k clusters.

    References
    ----------
    Quintana, F. A. and Iglesias, P. L. (2003), Bayesian clustering and product partition models.
    Journal of the Royal Statistical Society B 65.

    Examples
    --------
    >>> import partita as pt
    >>> isinstance(pt.DirichletProcess(1.0), pt.PartitionPrior)
    True
    """

    @abstractmethod
    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition."""

    @abstractmethod
    def expected_clusters(self, n_items: int) -> float:
        """Expected number of clusters of n items."""

    def log_ratio(self, labels: ArrayLike, other: ArrayLike) -> float:
        """Log of the ratio of two partitions' probabilities."""
        return self.log_probability(labels) - self.log_probability(other)

    def tables(self, n_items: int) -> PriorTables:  # noqa: ARG002
        """The prior for n items, for the compiled loops."""
        raise InvalidInputError(
            f"{self.kind} has no tables V(N, k) and W(n), so it cannot be sampled: the sampler "
            "takes priors of the form p(c) = V(N, k) Π W(n_j), where the weight of joining a "
            "cluster depends on its size alone. Use ProductPartition(log_v, log_w) if yours has "
            "that form."
        )

    def bind(self, n_items: int) -> PartitionPrior:  # noqa: ARG002
        """This prior with everything fixed that the number of items leaves open."""
        return self

    def least_parameter(self) -> float:
        """What the parameter in the trace, if any, is always above."""
        return 0.0

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        return None


def join_tables(n_items: int, sigma: float) -> tuple[Floats, Floats]:
    """log(n − σ) for n = 0 … N, and log (1 − σ)(2 − σ)…(n − 1 − σ)."""
    n = np.arange(n_items + 1.0)
    log_size = np.log(np.where(n > 0, n - sigma, 1.0))
    log_block = np.concatenate([[0.0], np.cumsum(log_size)[:-1]])
    return log_size, log_block


@dataclass(frozen=True)
class PitmanYor(PartitionPrior):
    """Partitions of the Pitman–Yor process.

    p(c) = Π_{i=1}^{k−1} (α + iσ) / [(α + 1)…(α + N − 1)] · Π_j (1 − σ)…(n_j − 1 − σ)
    with concentration α and discount σ. The number of clusters grows like N^σ
    and their sizes follow a power law. Choose it where many small clusters
    beside a few large ones are plausible.

    Parameters
    ----------
    concentration : float or Gamma
        α > −discount; with a gamma prior it is updated in each iteration.
    discount : float
        0 ≤ σ < 1; 0 is the Dirichlet process.

    Notes
    -----
    An item is placed at a cost of O(k) for k clusters; tables of O(N) are made once.

    References
    ----------
    Pitman and Yor (1997), Annals of Probability 25.

    Examples
    --------
    >>> import partita as pt
    >>> prior = pt.PitmanYor(concentration=1.0, discount=0.25)
    >>> round(prior.expected_clusters(100), 3)
    9.977
    >>> round(prior.log_probability([0, 0, 1]), 4)
    -1.8563
    """

    concentration: float | Gamma
    discount: float

    kind: ClassVar[str] = "PitmanYor"

    def __post_init__(self) -> None:
        discount = self.discount
        if not (isinstance(discount, (int, float, np.number)) and 0 <= discount < 1):
            raise InvalidInputError(f"discount={discount!r}; expected a number in [0, 1).")
        object.__setattr__(self, "discount", float(discount))
        object.__setattr__(self, "concentration", _clean(self.concentration, float(discount)))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; a random concentration is integrated out."""
        return _log_probability(self.concentration, self.discount, labels)

    def expected_clusters(self, n_items: int) -> float:
        """α/σ · [Π_{i<N} (α + σ + i)/(α + i) − 1]; averaged over a random concentration."""
        return _expected_clusters(self.concentration, self.discount, n_items)

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        return _tables(self.concentration, self.discount, n_items)

    def config(self) -> dict[str, Any]:
        """Concentration and discount."""
        return {"concentration": _config(self.concentration), "discount": self.discount}

    def least_parameter(self) -> float:
        """A concentration is above −discount."""
        return -self.discount

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> PitmanYor:
        """The prior again."""
        return cls(_from_config(config["concentration"]), config["discount"])


@dataclass(frozen=True)
class DirichletProcess(PartitionPrior):
    """Partitions of the Dirichlet process, the Chinese restaurant process.

    p(c) = Γ(α)/Γ(α + N) · α^k Π_j Γ(n_j). The number of clusters grows like
    α log N. The prior of the paper's examples, with α ~ Gamma(1, 1).

    Parameters
    ----------
    concentration : float or Gamma
        α > 0; with a gamma prior it is updated in each iteration.

    Notes
    -----
    An item is placed at a cost of O(k) for k clusters; tables of O(N) are made once.

    References
    ----------
    Ferguson (1973); Escobar and West (1995) for the update of α.

    Examples
    --------
    >>> import partita as pt
    >>> prior = pt.DirichletProcess(concentration=1.0)
    >>> round(prior.expected_clusters(100), 3)
    5.187
    >>> round(prior.log_probability([0, 0, 1]), 4)
    -1.7918
    """

    concentration: float | Gamma

    kind: ClassVar[str] = "DirichletProcess"

    def __post_init__(self) -> None:
        object.__setattr__(self, "concentration", _clean(self.concentration, 0.0))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; a random concentration is integrated out."""
        return _log_probability(self.concentration, 0.0, labels)

    def expected_clusters(self, n_items: int) -> float:
        """Σ_{i<N} α/(α + i); averaged over a random concentration."""
        return _expected_clusters(self.concentration, 0.0, n_items)

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        return _tables(self.concentration, 0.0, n_items)

    def config(self) -> dict[str, Any]:
        """The concentration."""
        return {"concentration": _config(self.concentration)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DirichletProcess:
        """The prior again."""
        return cls(_from_config(config["concentration"]))


def _clean(concentration: Any, discount: float) -> float | Gamma:
    if isinstance(concentration, Gamma):
        return concentration
    number = isinstance(concentration, (int, float, np.number)) and np.isfinite(concentration)
    if not number or isinstance(concentration, bool) or not concentration > -discount:
        raise InvalidInputError(
            f"concentration={concentration!r}; expected a number above {0.0 - discount:g} or a "
            "Gamma(shape, rate) prior."
        )
    return float(concentration)


def _config(concentration: float | Gamma) -> Any:
    if isinstance(concentration, Gamma):
        return {"shape": concentration.shape, "rate": concentration.rate}
    return concentration


def _from_config(concentration: Any) -> float | Gamma:
    return Gamma(**concentration) if isinstance(concentration, dict) else concentration


def _tables(concentration: float | Gamma, sigma: float, n_items: int) -> PriorTables:
    log_size, log_block = join_tables(n_items, sigma)
    shape, rate, start = 0.0, 0.0, concentration
    if isinstance(concentration, Gamma):
        shape, rate, start = concentration.shape, concentration.rate, concentration.mean
    arrays = Prior(sigma, log_size, log_block, np.empty(0), shape, rate)
    return PriorTables(arrays, float(start), 0.0, "concentration")  # type: ignore[arg-type]


def _log_probability(concentration: float | Gamma, sigma: float, labels: ArrayLike) -> float:
    from scipy.special import gammaln, logsumexp

    sizes = cluster_sizes(labels)
    n, k = int(sizes.sum()), sizes.size
    blocks = float((gammaln(sizes - sigma) - gammaln(1 - sigma)).sum())
    if isinstance(concentration, Gamma):
        extra = float(k - 1) if sigma == 0 else 0.0
        u, log_weights = concentration.nodes(extra)
        opened = _log_opened(np.exp(u), u, sigma, k)
        ratio = gammaln(np.exp(u) + 1) - gammaln(np.exp(u) + n)
        return float(logsumexp(log_weights + opened + ratio)) + blocks
    alpha = np.array([concentration])
    with np.errstate(divide="ignore", invalid="ignore"):
        opened = _log_opened(alpha, np.log(alpha), sigma, k)
    return float(opened[0] + gammaln(alpha[0] + 1) - gammaln(alpha[0] + n)) + blocks


def _log_opened(alpha: Floats, log_alpha: Floats, sigma: float, k: int) -> Floats:
    """log Π_{i=1}^{k−1} (α + iσ)."""
    if sigma == 0:
        return (k - 1) * log_alpha if k > 1 else np.zeros_like(alpha)
    i = np.arange(1, k)
    return np.asarray(np.log(alpha[:, None] + sigma * i).sum(axis=1))


def _expected_clusters(concentration: float | Gamma, sigma: float, n_items: int) -> float:
    n_items = whole(n_items, "n_items", least=1)
    if isinstance(concentration, Gamma):
        u, log_weights = concentration.nodes(0.0)
        return float(np.exp(log_weights) @ expected_at(np.exp(u), sigma, n_items))
    return float(expected_at(np.array([concentration]), sigma, n_items)[0])


def expected_at(alpha: Floats, sigma: float, n_items: int) -> Floats:
    """Expected number of clusters at each concentration."""
    from scipy.special import digamma, gammaln

    if sigma == 0:
        alpha = np.maximum(alpha, 1e-300)
        return np.asarray(alpha * (digamma(alpha + n_items) - digamma(alpha)))
    # Π_{i=1}^{N−1} (α + σ + i)/(α + i); the factor i = 0 is taken out, for α ≤ 0.
    log_ratio = gammaln(alpha + sigma + n_items) - gammaln(alpha + sigma + 1)
    log_ratio -= gammaln(alpha + n_items) - gammaln(alpha + 1)
    return np.asarray(((alpha + sigma) * np.exp(log_ratio) - alpha) / sigma)
