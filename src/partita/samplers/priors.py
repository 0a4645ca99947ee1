"""Priors of partitions, and of the parameters that are learned with them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from partita._archive import Registered
from partita._validate import integer, number, positive, translate_call_errors, unexpected
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Ints
from partita.kernels.gibbs.primitives import Prior
from partita.labels import cluster_sizes


def _step(curvature: float) -> float:
    """A step of a quadrature: at most 0.6 standard deviations of an integrand so curved."""
    return min(0.1, 0.6 / math.sqrt(max(curvature, 1.0)))


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

    @classmethod
    def for_clusters(cls, mean: float, sd: float, *, n_items: int) -> Gamma:
        """The prior under which the number of clusters of n items has that mean and that sd.

        Solves E k = mean and Var k = sd² for shape and rate, k being the number of clusters of n
        items under a Dirichlet process whose concentration is drawn from the gamma law:
        Var k = E[Var(k | α)] + Var(E[k | α]). Choose it to state a belief about the number of
        clusters in place of one about α; :func:`partita.concentration_for` fixes α instead.
        Printed, the law shows what it says of the largest cluster, which a belief about their
        number leaves open.

        Parameters
        ----------
        mean : float
            Expected number of clusters, above 1 and below n_items.
        sd : float
            Its standard deviation: above the one that remains when α is known.
        n_items : int
            Number of items, at least 2.

        Notes
        -----
        Two nested roots in one dimension, some 0.1 s.

        References
        ----------
        Lee, J. (2026), Design-conditional prior elicitation for Dirichlet process mixtures.
        arXiv 2602.06301.

        Examples
        --------
        >>> import partita as pt
        >>> law = pt.Gamma.for_clusters(mean=5, sd=10**0.5, n_items=50)
        >>> round(law.shape, 4), round(law.rate, 4)
        (1.4082, 1.077)
        >>> print(law)
        Gamma(shape=1.40..., rate=1.07...): mean 1.31; P(largest weight > 1/2) = 0.64
        """
        n_items, mean = _clean_clusters(mean, n_items, "mean")
        sd = positive(sd, "sd")
        fixed = _matched(lambda alpha: float(expected_at(alpha, 0.0, n_items)[0]), mean)
        least = math.sqrt(float(_variance_at(np.array([fixed]), n_items)[0]))
        most = math.sqrt((mean - 1.0) * (n_items - mean))
        if not least < sd < most:
            raise InvalidInputError(
                f"sd={sd:g}, but the number of clusters of {n_items} items with mean {mean:g} has "
                f"a standard deviation above {least:.4g}, that of the fixed concentration "
                f"{fixed:.4g}, and below {most:.4g}.",
                argument="sd",
            )
        from scipy.optimize import brentq

        def law(log_shape: float) -> Gamma:
            shape = math.exp(log_shape)
            # The mean of α, of which the rate follows, grows with E k.
            center = _matched(
                lambda mean: cls(shape, shape / float(mean[0]))._clusters(n_items)[0], mean
            )
            return cls(shape, shape / center)

        def excess(log_shape: float) -> float:
            return law(log_shape)._clusters(n_items)[1] - sd**2

        low, high = -2.0, 2.0
        while excess(low) < 0:
            low -= 1.0
            if low < _LEAST_LOG_SHAPE:
                raise InvalidInputError(
                    f"sd={sd:g} is more than a gamma law can give the number of clusters of "
                    f"{n_items} items with mean {mean:g}. Take a smaller one.",
                    argument="sd",
                )
        while excess(high) > 0 and high < _MOST_LOG_SHAPE:
            high += 2.0
        return law(brentq(excess, low, high, xtol=1e-10))

    def _clusters(self, n_items: int) -> tuple[float, float]:
        """Mean and variance of the number of clusters of n items."""
        u, log_weights = self.nodes(0.0)
        alpha, weights = np.exp(u), np.exp(log_weights)
        expected = expected_at(alpha, 0.0, n_items)
        mean = float(weights @ expected)
        return mean, float(weights @ (_variance_at(alpha, n_items) + (expected - mean) ** 2))

    def p_dominant(self) -> float:
        """P(the largest weight of a Dirichlet process exceeds 1/2), α being drawn from this law.

        At most one weight can, so that it is the expected number of weights above 1/2:
        E ∫_{1/2}^1 α x⁻¹ (1 − x)^(α − 1) dx. Under α = 1 it is log 2.
        """
        u, log_weights = self.nodes(0.0)
        return float(np.exp(log_weights) @ _dominant(np.exp(u)))

    def __str__(self) -> str:
        # Of a belief about numbers of clusters this is the side that nobody sees.
        return f"{self!r}: mean {self.mean:.3g}; P(largest weight > 1/2) = {self.p_dominant():.2g}"

    @property
    def mean(self) -> float:
        """shape/rate."""
        return self.shape / self.rate

    def nodes(self, extra: float, n_factors: float = 0.0) -> tuple[Floats, Floats]:
        """log α and log weights of a quadrature for E f(α), f(α) ~ α^extra near 0.

        The trapezoidal rule in log α converges exponentially, because the integrand decays at
        both ends and is analytic in the strip of half-width π/2. ``n_factors`` factors of f that
        grow with α at most as it does make the integrand narrow, and the steps short.
        """
        low = math.log(self.mean) - 45.0 / (self.shape + extra) - 5.0
        high = math.log(self.shape + max(extra, n_factors) + 40.0) - math.log(self.rate) + 3.0
        step = _step(self.shape + n_factors)
        u = np.arange(low, high, step)
        log_density = self.shape * (math.log(self.rate) + u) - math.lgamma(self.shape)
        return u, log_density - self.rate * np.exp(u) + math.log(step)


@dataclass(frozen=True)
class F:
    """An F distribution, as the prior of a Dirichlet weight.

    Density ∝ x^(df1/2 − 1) (1 + x·df1/df2)^(−(df1 + df2)/2). F(6, 3) has its mode at 0.4 and a
    heavy tail: it leaves open whether few or many components have items. Choose it for the weight
    of a :class:`partita.FiniteMixture`.

    Parameters
    ----------
    df1, df2 : float
        Positive degrees of freedom: the density grows like x^(df1/2 − 1) at 0 and falls like
        x^(−df2/2 − 1).

    Notes
    -----
    A weight is updated by one slice step per iteration, at a cost of O(k) for k clusters.

    References
    ----------
    Frühwirth-Schnatter, S., Malsiner-Walli, G. and Grün, B. (2021), Generalized mixtures of finite
    mixtures and telescoping sampling. Bayesian Analysis 16.

    Examples
    --------
    >>> import partita as pt
    >>> pt.FiniteMixture(pt.F(6, 3), dynamic=True).weight
    F(df1=6.0, df2=3.0)
    """

    df1: float
    df2: float

    def __post_init__(self) -> None:
        for name in ("df1", "df2"):
            object.__setattr__(self, name, positive(getattr(self, name), f"F {name}"))

    @property
    def mode(self) -> float:
        """(df1 − 2)/df1 · df2/(df2 + 2); 0 where df1 ≤ 2."""
        return max(self.df1 - 2.0, 0.0) / self.df1 * self.df2 / (self.df2 + 2.0)

    def nodes(self, extra: float, n_factors: float = 0.0) -> tuple[Floats, Floats]:
        """log x and log weights of a quadrature for E f(x), f(x) ~ x^extra near 0; see Gamma."""
        half, tail = self.df1 / 2.0, self.df2 / 2.0
        scale = math.log(self.df1 / self.df2)
        low = -scale - 45.0 / (half + extra) - 5.0
        high = -scale + 45.0 / tail + 5.0
        step = _step(half * tail / (half + tail) + n_factors)
        u = np.arange(low, high, step)
        log_beta = math.lgamma(half) + math.lgamma(tail) - math.lgamma(half + tail)
        log_density = half * (scale + u) - (half + tail) * np.logaddexp(0.0, scale + u) - log_beta
        return u, log_density + math.log(step)


@dataclass(frozen=True)
class PriorTables:
    """A prior for N items as the compiled loops read it.

    ``constant`` completes the log probability of a partition; ``concentration`` is where chains
    start; ``parameter`` names it in traces, None where the prior has none. ``has_components``:
    each draw has a number of components, too. ``is_learned``: the tables follow the parameters
    of the draw, so that each chain needs its own.
    """

    arrays: Prior
    concentration: float
    constant: float
    parameter: str | None
    has_components: bool = False
    is_learned: bool = False

    def own(self) -> Prior:
        """The arrays for one chain, which may write to its tables."""
        if not self.is_learned:
            return self.arrays
        log_size, log_block, opening = (table.copy() for table in self.arrays[1:4])
        return self.arrays._replace(log_size=log_size, log_block=log_block, open_table=opening)


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

    parameter: ClassVar[str] = ""
    """Name of the attribute, or its law, that sets how many clusters there are."""

    @abstractmethod
    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition."""

    @abstractmethod
    def expected_clusters(self, n_items: int) -> float:
        """Expected number of clusters of n items."""

    def log_probability_of_sizes(self, sizes: Ints) -> Floats:
        """Log probabilities of partitions by their cluster sizes, (n, most clusters), 0 for none.

        By default ``log_probability`` of one partition of each kind; up to a constant where
        :meth:`is_normalised` says no.
        """
        kinds, number = np.unique(np.sort(sizes, axis=1), axis=0, return_inverse=True)
        found = [self.log_probability(np.repeat(np.arange(row.size), row)) for row in kinds]
        return np.array(found)[number.reshape(-1)]

    def is_normalised(self, n_items: int) -> bool:
        """Whether ``log_probability_of_sizes`` has the constant that makes it sum to one."""
        return True

    def log_ratio(self, labels: ArrayLike, other: ArrayLike) -> float:
        """Log of the ratio of two partitions' probabilities."""
        return self.log_probability(labels) - self.log_probability(other)

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        raise InvalidInputError(
            f"{self.kind} has no tables V(N, k) and W(n), so it cannot be sampled: the sampler "
            "takes priors of the form p(c) = V(N, k) Π W(n_j), where the weight of joining a "
            "cluster depends on its size alone. Use ProductPartition(log_v, log_w) if yours has "
            "that form.",
            argument="prior",
        )

    def bind(self, n_items: int) -> PartitionPrior:
        """This prior, completed for a number of items."""
        return self

    def least_parameter(self) -> float:
        """Lower limit of the parameter in the trace, if there is one."""
        return 0.0

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        return None


def clean_prior(prior: Any, argument: str) -> PartitionPrior:
    """The prior, if it is one."""
    if not isinstance(prior, PartitionPrior):
        raise unexpected(prior, argument, PRIORS)
    return prior


PRIORS = "DirichletProcess, PitmanYor, FiniteMixture or another PartitionPrior"
"""What a prior may be, in the words of a message."""


def join_tables(n_items: int, sigma: float) -> tuple[Floats, Floats]:
    """log(n − σ) for n = 0 … N, and log (1 − σ)(2 − σ)…(n − 1 − σ)."""
    n = np.arange(n_items + 1.0)
    log_size = np.log(np.where(n > 0, n - sigma, 1.0))
    log_block = np.concatenate([[0.0], np.cumsum(log_size)[:-1]])
    return log_size, log_block


class _Process(PartitionPrior):
    """What the Dirichlet and the Pitman–Yor process share: the former has the discount 0."""

    parameter: ClassVar[str] = "concentration"
    concentration: float | Gamma
    discount: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "concentration", _clean(self.concentration, self.discount))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; a random concentration is integrated out."""
        return float(self.log_probability_of_sizes(cluster_sizes(labels)[None, :])[0])

    def log_probability_of_sizes(self, sizes: Ints) -> Floats:
        """Log probabilities of partitions by their cluster sizes; see ``PartitionPrior``."""
        from scipy.special import gammaln

        sigma = self.discount
        terms = gammaln(np.maximum(sizes, 1) - sigma) - gammaln(1 - sigma)
        blocks = np.where(sizes > 0, terms, 0.0).sum(axis=1)
        clusters, number = np.unique((sizes > 0).sum(axis=1), return_inverse=True)
        n = int(sizes[0].sum())
        opened = [_log_opening(self.concentration, sigma, n, k) for k in clusters.tolist()]
        return np.asarray(blocks + np.array(opened)[number])

    def expected_clusters(self, n_items: int) -> float:
        """α/σ · [Π_{i<N} (α + σ + i)/(α + i) − 1], or Σ_{i<N} α/(α + i) where σ is 0.

        Averaged over a random concentration.
        """
        n_items = integer(n_items, "n_items", least=1)
        if isinstance(self.concentration, Gamma):
            u, log_weights = self.concentration.nodes(0.0)
            return float(np.exp(log_weights) @ expected_at(np.exp(u), self.discount, n_items))
        return float(expected_at(np.array([self.concentration]), self.discount, n_items)[0])

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        log_size, log_block = join_tables(n_items, self.discount)
        shape, rate, start = 0.0, 0.0, self.concentration
        if isinstance(start, Gamma):
            shape, rate, start = start.shape, start.rate, start.mean
        arrays = Prior(self.discount, log_size, log_block, np.empty(0), shape, rate)
        return PriorTables(arrays, start, 0.0, self.parameter)

    def least_parameter(self) -> float:
        """A concentration is above −discount."""
        return 0.0 - self.discount


@dataclass(frozen=True)
class PitmanYor(_Process):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "discount", clean_discount(self.discount))
        super().__post_init__()


@dataclass(frozen=True)
class DirichletProcess(_Process):
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

    discount = 0.0


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


def _log_opening(concentration: float | Gamma, sigma: float, n: int, k: int) -> float:
    """log Π_{i=1}^{k−1} (α + iσ) / [(α + 1)…(α + n − 1)], a random α integrated out."""
    from scipy.special import gammaln, logsumexp

    if isinstance(concentration, Gamma):
        extra = float(k - 1) if sigma == 0 else 0.0
        u, log_weights = concentration.nodes(extra, n_factors=k - 1)
        opened = _log_opened(np.exp(u), u, sigma, k)
        ratio = gammaln(np.exp(u) + 1) - gammaln(np.exp(u) + n)
        return float(logsumexp(log_weights + opened + ratio))
    alpha = np.array([concentration])
    with np.errstate(divide="ignore", invalid="ignore"):
        opened = _log_opened(alpha, np.log(alpha), sigma, k)
    return float(opened[0] + gammaln(alpha[0] + 1) - gammaln(alpha[0] + n))


def _log_opened(alpha: Floats, log_alpha: Floats, sigma: float, k: int) -> Floats:
    """log Π_{i=1}^{k−1} (α + iσ)."""
    if sigma == 0:
        return (k - 1) * log_alpha if k > 1 else np.zeros_like(alpha)
    i = np.arange(1, k)
    return np.asarray(np.log(alpha[:, None] + sigma * i).sum(axis=1))


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


def concentration_for(n_clusters: float, *, n_items: int, discount: float = 0.0) -> float:
    """The concentration that gives n items a wanted expected number of clusters.

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
    n_items, n_clusters = _clean_clusters(n_clusters, n_items, "n_clusters")
    discount = clean_discount(discount)
    expected = partial(expected_at, sigma=discount, n_items=n_items)
    return _matched(lambda alpha: float(expected(alpha)[0]), n_clusters, discount)


def _clean_clusters(mean: Any, n_items: Any, argument: str) -> tuple[int, float]:
    n_items, mean = integer(n_items, "n_items", least=2), number(mean, argument)
    if not 1 < mean < n_items:
        raise unexpected(mean, argument, f"a number above 1 and below n_items={n_items}")
    return n_items, mean


def _matched(expected: Callable[[Floats], float], mean: float, discount: float = 0.0) -> float:
    """The α > −discount at which an expectation that grows with it, of 1 at least, is ``mean``."""
    from scipy.optimize import brentq

    def excess(log_distance: float) -> float:
        return expected(np.array([math.exp(log_distance) - discount])) - mean

    low, high = -30.0, 1.0
    while excess(high) < 0:
        high += 2.0
    return math.exp(brentq(excess, low, high, xtol=1e-14)) - discount


_LEAST_LOG_SHAPE = -4.0
"""A gamma law of shape e⁻⁴ says one cluster or as many as items, and hardly a number in between."""
_MOST_LOG_SHAPE = 20.0
"""From here on the concentration is as good as fixed."""


def _variance_at(alpha: Floats, n_items: int) -> Floats:
    """Variance of the number of clusters at each concentration: Σ_{i<N} α·i/(α + i)²."""
    from scipy.special import digamma, polygamma

    alpha = np.clip(alpha, 1e-100, 1e9)  # beyond, digits are lost and every item is alone
    slope = polygamma(1, alpha + n_items) - polygamma(1, alpha)
    found = alpha * (digamma(alpha + n_items) - digamma(alpha)) + alpha**2 * slope
    return np.asarray(np.maximum(found, 0.0))


def _dominant(alpha: Floats) -> Floats:
    """P(largest weight > 1/2) at each concentration: ∫_{1/2}^1 α x⁻¹ (1 − x)^(α − 1) dx.

    With y = (1 − x)^α it is ∫ dy/(1 − y^(1/α)) for y from 0 to 2^−α.
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    y = 0.5 * (nodes + 1.0)  # of 2^−α, so that (1 − x) = y^(1/α)/2
    alpha = np.maximum(alpha, 1e-12)
    inside = 1.0 / (1.0 - 0.5 * y ** (1.0 / alpha[:, None]))
    return np.asarray(0.5**alpha * (inside @ (0.5 * weights)))


_SUMMED = 300
"""Items up to which the constant of a product prior is summed, in about a second."""

LogV = Callable[[int, int], float] | Sequence[float] | Mapping[int, Sequence[float]]
LogW = Callable[[int], float] | Sequence[float]


@dataclass(frozen=True)
class ProductPartition(PartitionPrior):
    r"""A prior of product form, from its two factors.

    :math:`p(c) \propto V(N, k) \prod_j W(n_j)` for k clusters of sizes n_j. Every prior under which
    an item joins a cluster with a weight that depends on that cluster's size alone has this
    form: the Dirichlet and Pitman–Yor processes, finite mixtures, the uniform distribution over
    partitions (V = W = 1). Choose it where none of the named priors says what you believe.

    Parameters
    ----------
    log_v : callable or sequence of float
        log V(N, k): a function of N and k, or the values for k = 1, 2, … whatever N; a sequence
        that ends allows no more clusters than it has entries. A factor that depends on N alone
        may be left out.
    log_w : callable or sequence of float
        log W(n): a function of n, or the values for n = 1, 2, …, at least N + 1 of them.

    Notes
    -----
    Sampling costs as much as under the named priors; tables of O(N) are made once. The
    constant that makes probabilities sum to one, which ``log_probability`` and
    ``expected_clusters`` need, is summed over all sizes at O(N²·k); ``Fit.trace["log_posterior"]``
    is given without it.

    A fit keeps the tables for its own N, so that it can be saved; the functions are not kept.

    References
    ----------
    Hartigan, J. A. (1990), Partition models. Communications in Statistics 19; Quintana, F. A. and
    Iglesias, P. L. (2003), Journal of the Royal Statistical Society B 65.

    Examples
    --------
    The uniform distribution over the five partitions of three items:

    >>> import numpy as np
    >>> import partita as pt
    >>> uniform = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)
    >>> round(float(np.exp(uniform.log_probability([0, 0, 1]))), 3)
    0.2
    >>> uniform.expected_clusters(3)
    2.0
    """

    log_v: LogV
    log_w: LogW

    def __post_init__(self) -> None:
        log_v, log_w = self.log_v, self.log_w
        if isinstance(log_v, Mapping):
            with translate_call_errors(log_v, "log_v", "a table for each number of items"):
                log_v = {int(n): _numbers(row, "log_v") for n, row in log_v.items()}
        elif not callable(log_v):
            log_v = _numbers(log_v, "log_v")
        object.__setattr__(self, "log_v", log_v)
        object.__setattr__(self, "log_w", log_w if callable(log_w) else _numbers(log_w, "log_w"))

    def _tabulated(self, n_items: int) -> tuple[Floats, Floats]:
        """log V(N, k) for k = 1 … N + 1 (−∞ beyond the possible), log W(n) for n = 1 … N."""
        with translate_call_errors(self.log_w, "log_w", "a function of n that returns a number"):
            w = np.array([_entry(self.log_w, n) for n in range(1, n_items + 1)])
        if not np.isfinite(w).all():
            n = int(np.flatnonzero(~np.isfinite(w))[0]) + 1
            raise InvalidInputError(
                f"log_w({n}) is {w[n - 1]}; expected finite numbers for clusters of 1 to {n_items} "
                "items. A size that is impossible would leave partitions that no sequence of moves "
                "connects.",
                argument="log_w",
            )
        if isinstance(self.log_v, Mapping):
            if n_items not in self.log_v:
                known = ", ".join(str(n) for n in sorted(self.log_v))
                raise InvalidInputError(
                    f"this prior holds tables for {known} items, not for {n_items}; make it from "
                    "its functions again.",
                    argument="prior",
                )
            row: Any = self.log_v[n_items]
        else:
            row = self.log_v
        if callable(row):
            with translate_call_errors(row, "log_v", "a function of N and k that returns a number"):
                v = np.array([float(row(n_items, k)) for k in range(1, n_items + 1)])
        else:
            v = np.full(n_items, -np.inf)
            v[: len(row)] = row[:n_items]
        return np.append(_connected(v), -np.inf), w

    def bind(self, n_items: int) -> ProductPartition:
        """With tables for N items and, for predictions, one more."""
        more = integer(n_items, "n_items", least=1) + 1
        rows = {n: _finite(self._tabulated(n)[0]) for n in (n_items, more)}
        return ProductPartition(rows, tuple(self._tabulated(more)[1].tolist()))

    def log_probability(self, labels: ArrayLike) -> float:
        """Log probability of a partition; −∞ for more clusters than are possible."""
        found, v, w = self._log_product(cluster_sizes(labels)[None, :])
        return float(found[0]) - float(np.logaddexp.reduce(_log_by_clusters(v, w)))

    def log_probability_of_sizes(self, sizes: Ints) -> Floats:
        """See ``PartitionPrior``; above 300 items without the normalising constant."""
        found, v, w = self._log_product(sizes)
        if not self.is_normalised(w.size):
            return found
        return np.asarray(found - np.logaddexp.reduce(_log_by_clusters(v, w)))

    def is_normalised(self, n_items: int) -> bool:
        """Up to 300 items: the constant is a sum of O(N²·k) terms."""
        return n_items <= _SUMMED

    def log_ratio(self, labels: ArrayLike, other: ArrayLike) -> float:
        """Log of the ratio of two partitions' probabilities; needs no constant."""
        first, second = (
            self._log_product(cluster_sizes(each)[None, :])[0][0] for each in (labels, other)
        )
        return float(first - second)

    def _log_product(self, sizes: Ints) -> tuple[Floats, Floats, Floats]:
        """log V(N, k) Π W(n_j) of rows of cluster sizes, and both tables."""
        v, w = self._tabulated(int(sizes[0].sum()))
        blocks = np.where(sizes > 0, w[np.maximum(sizes, 1) - 1], 0.0).sum(axis=1)
        return v[(sizes > 0).sum(axis=1) - 1] + blocks, v, w

    def expected_clusters(self, n_items: int) -> float:
        """Σ_k k V(N, k) B(N, k), B being the sum of ΠW over the partitions with k clusters."""
        n_items = integer(n_items, "n_items", least=1)
        total = _log_by_clusters(*self._tabulated(n_items))
        p = np.exp(total - np.logaddexp.reduce(total))
        return float(p @ np.arange(1, n_items + 1))

    def tables(self, n_items: int) -> PriorTables:
        """The prior for n items, for the compiled loops."""
        v, w = self._tabulated(n_items)
        log_size = np.concatenate([[0.0], np.diff(w), [0.0]])
        log_block = np.concatenate([[0.0], w - w[0]])
        possible = np.isfinite(v[:-1])
        opening = np.full(n_items, -np.inf)
        opening[possible] = v[1:][possible] - v[:-1][possible]
        open_table = np.concatenate([[0.0], opening + w[0]])
        arrays = Prior(0.0, log_size, log_block, open_table, 0.0, 0.0)
        return PriorTables(arrays, 1.0, float(v[0] + w[0]), None)

    def most_clusters(self) -> int | None:
        """The largest number of clusters that is possible, or None."""
        if isinstance(self.log_v, Mapping):
            return min(len(row) for row in self.log_v.values())
        return None if callable(self.log_v) else len(self.log_v)

    def config(self) -> dict[str, Any]:
        """The tables; functions have none, ``bind`` makes them."""
        if callable(self.log_v) or callable(self.log_w):
            raise InvalidInputError(
                "functions cannot be written to a file; use bind(n_items) to make tables of them.",
                argument="prior",
            )
        return {"log_v": self.log_v, "log_w": self.log_w}


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise unexpected(values, name, "a function, or a sequence of finite numbers")
    return tuple(array.tolist())


def _entry(log_w: Any, n: int) -> float:
    if callable(log_w):
        return float(log_w(n))
    if n > len(log_w):
        raise InvalidInputError(
            f"log_w has {len(log_w)} entries, but a cluster may have {n} items. Give one for each "
            "size, and one more for predictions.",
            argument="log_w",
        )
    return float(log_w[n - 1])


def _connected(v: Floats) -> Floats:
    """Finite from k = 1 on, then −∞."""
    possible = np.isfinite(v)
    if np.isnan(v).any() or (v == np.inf).any() or not possible[0]:
        raise InvalidInputError(
            f"log V(N, k) is {v[:4].tolist()}… for k = 1, 2, …; expected finite numbers from one "
            "cluster on, and −inf from the first impossible number of clusters.",
            argument="log_v",
        )
    if possible[int(possible.argmin()) :].any() and not possible.all():
        k = int(possible.argmin()) + 1
        raise InvalidInputError(
            f"log V(N, {k}) is −inf, but more clusters are possible; moves change the number by "
            "one, so no sequence of them could pass it.",
            argument="log_v",
        )
    return v


def _finite(v: Floats) -> tuple[float, ...]:
    return tuple(v[np.isfinite(v)].tolist())


def _log_by_clusters(v: Floats, w: Floats) -> Floats:
    """log V(N, k) B(N, k) for k = 1 … N: the mass of each number of clusters.

    B(n, k) = Σ_m C(n − 1, m − 1) W(m) B(n − m, k − 1): the first item has m − 1 companions.
    """
    from scipy.special import gammaln, logsumexp

    n_items = w.size
    most = int(np.isfinite(v).sum())
    m = np.arange(1, n_items + 1)
    with_factorial = w - gammaln(m)  # W(m)/(m − 1)!
    b = np.full((most + 1, n_items + 1), -np.inf)  # log B(n, k)/(n)!, and 1 for nobody
    b[0, 0] = 0.0
    for k in range(1, most + 1):
        for n in range(k, n_items + 1):
            sizes = m[: n - k + 1]
            terms = with_factorial[sizes - 1] + b[k - 1, n - sizes]
            b[k, n] = logsumexp(terms) - np.log(n)
    by_clusters = b[1:, n_items] + gammaln(n_items + 1) + v[:most]
    return np.concatenate([by_clusters, np.full(n_items - most, -np.inf)])
