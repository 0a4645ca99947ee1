"""Priors on partitions: the Dirichlet and the Pitman–Yor process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import number, unexpected, whole
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import Prior
from partita.partitions.labels import cluster_sizes
from partita.samplers.hyperpriors import Gamma
from partita.samplers.partition_prior import PartitionPrior, PriorTables, join_tables


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
        discount = clean_discount(self.discount)
        object.__setattr__(self, "discount", discount)
        object.__setattr__(self, "concentration", _clean(self.concentration, discount))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; a random concentration is integrated out."""
        return _log_probability(self.concentration, self.discount, labels)

    def expected_clusters(self, n_items: int) -> float:
        """α/σ · [Π_{i<N} (α + σ + i)/(α + i) − 1]; averaged over a random concentration."""
        return _expected_clusters(self.concentration, self.discount, n_items)

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        return _tables(self.concentration, self.discount, n_items)

    def least_parameter(self) -> float:
        """A concentration is above −discount."""
        return -self.discount


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


def clean_discount(discount: Any) -> float:
    """The discount of a Pitman–Yor process."""
    expected = "a number in [0, 1)"
    cleaned = number(discount, "discount", expected)
    if not 0 <= cleaned < 1:
        raise unexpected(discount, "discount", expected)
    return cleaned


def _clean(concentration: Any, discount: float) -> float | Gamma:
    if isinstance(concentration, Gamma):
        return concentration
    expected = f"a number above {0.0 - discount:g} or a Gamma(shape, rate) prior"
    cleaned = number(concentration, "concentration", expected)
    if not cleaned > -discount:
        raise unexpected(concentration, "concentration", expected)
    return cleaned


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
        u, log_weights = concentration.nodes(extra, n_factors=k - 1)
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
