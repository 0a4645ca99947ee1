"""The losses that come with partita, each with its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from partita._resources import run
from partita._validate import number, positive, unexpected
from partita.draws import Draws
from partita.errors import InvalidInputError
from partita.features.draws import FeatureDraws
from partita.kernels.arrays import Floats, Ints, UInt64s
from partita.labels import Labels
from partita.losses.base import SOME_BITS, Counts, Loss, Rows, Term, pair_sums, pairs_within
from partita.scan import Block, sum_blocks


class PricedForm(NamedTuple):
    """[a·(truth − joint) + (2 − a)·(estimate − joint)] / scale."""

    a: float
    scale: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """Splitting costs what the truth's sum loses, merging what the estimate's loses."""
        split, merged = truth - joint, estimate - joint
        return max((self.a * split + (2.0 - self.a) * merged) / self.scale, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class WithPrice(Loss):
    """A loss a·A + (2 − a)·B of two kinds of errors."""

    parameter: ClassVar[str | None] = "a"
    prose: ClassVar[str]
    """Its name in prose at the price 1."""
    meaning: ClassVar[str] = (
        "a = 1 prices splitting and merging equally, a > 1 makes splitting a true cluster dearer"
    )
    """Meaning of the price, for error messages."""

    a: float = 1.0

    def __post_init__(self) -> None:
        expected = f"a number strictly between 0 and 2. {self.meaning}"
        cleaned = number(self.a, "a", expected)
        if not 0.0 < cleaned < 2.0:
            raise unexpected(self.a, "a", expected)
        object.__setattr__(self, "a", cleaned)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Its name in prose, with the price unless that is 1."""
        return self.prose if self.a == 1.0 else f"{self.prose} (a = {self.a:g})"

    @property
    def price(self) -> float:
        """The parameter a."""
        return self.a

    def with_price(self, a: float) -> Self:
        """The same loss at another price."""
        return replace(self, a=a)


@dataclass(frozen=True, eq=False, repr=False)
class PricedLoss(WithPrice):
    """A loss [a·Σf(n_t) + (2 − a)·Σf(n_e) − 2·Σf(n_te)] / scale.

    It is linear in the sums, so its expectation is its value at their means. A
    subclass supplies f (``terms``) and the scale.
    """

    averages_sums: ClassVar[bool] = True

    def scale(self, n_items: int) -> float:
        """The divisor of the sum."""
        raise NotImplementedError

    def form(self, n_items: int) -> PricedForm:
        """The price and the scale."""
        return PricedForm(self.a, self.scale(n_items))

    @property
    def has_price(self) -> bool:
        """True."""
        return True

    def minorant(self) -> tuple[float, Loss] | None:
        """a·A + (2 − a)·B is at least min(a, 2 − a) times the metric A + B."""
        fair = self.with_price(1.0)
        return (min(self.a, 2.0 - self.a), fair) if fair.is_metric else None

    def expected_from_similarity(self, estimate: Labels, similarity: Floats) -> float:
        """Where f(x) = x², the sums count pairs, whose expectations are similarities."""
        if self.pair_scale(estimate.size) is None:
            return super().expected_from_similarity(estimate, similarity)
        form = PricedForm(self.a, self.scale(estimate.size))
        return form.combine(*pair_sums(estimate, similarity))


@dataclass(frozen=True, eq=False, repr=False)
class VI(PricedLoss):
    r"""Variation of information, in bits: the paper's loss, and the default.

    .. math:: L(t, e) = a\,H(e \mid t) + (2 - a)\,H(t \mid e)

    with conditional entropies of the estimate e and the truth t, base 2. At
    ``a=1`` it is Meilă's variation of information, a metric between 0 and
    log2 N. Choose it when small spurious clusters are a nuisance: it prices
    them fairly, where Binder's loss invites them. a > 1 makes splitting a true
    cluster dearer and gives fewer clusters, a < 1 more.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting relative to merging.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions.

    References
    ----------
    Meilă, M. (2007), Comparing clusterings. Journal of Multivariate Analysis 98.
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss=pt.VI())
    1.0
    >>> pt.VI(a=0.5)
    VI(a=0.5)
    """

    name: ClassVar[str] = "vi"
    prose: ClassVar[str] = "variation of information"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "bits"
    conditional_entropies: ClassVar[bool] = True

    def scale(self, n_items: int) -> float:
        """Entropies are sums over N."""
        return float(n_items)


@dataclass(frozen=True, eq=False, repr=False)
class Binder(PricedLoss):
    r"""Binder's loss in the paper's N-invariant scale: 2/N² times the discordant pairs.

    .. math:: L(t, e) = \frac{1}{N^2} \Bigl[a \sum n_t^2 + (2 - a) \sum n_e^2
              - 2 \sum n_{te}^2\Bigr]

    At ``a=1`` it is a metric between 0 and 1 − 1/N, and one minus the Rand
    index up to scale. Its estimates tend to put doubtful items into small
    clusters of their own; choose it when pairs are what matters.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of separating two items that belong together, relative to the
        price 2 − a of joining two that do not.

    Notes
    -----
    O(N + K_t K_e) per pair. The expected loss depends on the draws through
    the similarity matrix alone. mcclust's ``binder`` is N²/2 times this one.

    References
    ----------
    Binder, D. A. (1978), Bayesian cluster analysis. Biometrika 65.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="binder")
    0.5
    """

    name: ClassVar[str] = "binder"
    prose: ClassVar[str] = "Binder's loss"
    term: ClassVar[Term] = "pairs"
    metric: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True

    def scale(self, n_items: int) -> float:
        """All ordered pairs of items, an item with itself included."""
        return float(n_items) * float(n_items)

    def pair_scale(self, n_items: int) -> float:
        """The same: the loss is linear in the pairs."""
        return self.scale(n_items)


@dataclass(frozen=True, eq=False, repr=False)
class VILowerBound(Loss):
    r"""The paper's E[VI_LB]: expected VI with logarithm and expectation exchanged.

    .. math:: \frac1N \sum_i \Bigl[\log n_i + \log \sum_j p_{ij}
              - 2 \log \sum_{j \in \hat C_i} p_{ij}\Bigr]

    with n_i the size of the estimated cluster of item i and p the similarity
    matrix. Jensen's inequality bounds the term that depends on the estimate,
    so the minimiser is that of a lower bound. The value itself is **not** a
    lower bound of E[VI]: the second term, constant in the estimate, is an
    upper bound of :math:`E \log |C_i|`. Choose it to reproduce mcclust.ext, or when
    only a similarity matrix is at hand; otherwise prefer :class:`VI`.

    Notes
    -----
    O(M N) from draws, O(N²) from a similarity matrix. For a single draw it is
    the variation of information itself. It is not a metric.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis, Section 4.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.expected_loss([0, 0, 1, 1], draws, loss="vi_lb").round(4)
    array([0.5527])
    """

    name: ClassVar[str] = "vi_lb"
    title: ClassVar[str] = "Jensen surrogate of the expected VI"
    unit: ClassVar[str] = "bits"
    term: ClassVar[Term] = "entropy"
    averages_distances: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    from_similarity: ClassVar[Literal["logarithms"]] = "logarithms"

    def form(self, n_items: int) -> PricedForm:
        """The form of the variation of information."""
        return VI().form(n_items)

    def ball_metric(self) -> Loss:
        """The variation of information, of which this is a surrogate."""
        return VI()

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Evaluate from the draws, without a similarity matrix."""
        counted = partial(_companions, estimate=estimate)
        within, anywhere = sum_blocks(counted, draws, n_jobs=n_jobs)
        return self._value(estimate, within, anywhere)

    def expected_from_similarity(self, estimate: Labels, similarity: Floats) -> float:
        """Evaluate from the similarity matrix."""
        return self._value(estimate, pairs_within(estimate, similarity), similarity.sum(axis=1))

    def _value(self, estimate: Labels, within: Floats, anywhere: Floats) -> float:
        # Σ n_k log n_k item by item, as the two other sums: equal partitions are at exactly 0.
        sums = (np.log2(x).sum() for x in (within, np.bincount(estimate)[estimate], anywhere))
        return VI().form(estimate.size).combine(*map(float, sums))


def _companions(block: Block, *, estimate: Labels) -> tuple[Floats, Floats]:
    """A block's share of each item's expected companions, in its cluster and anywhere."""
    from partita.kernels.contingency import companions

    within, anywhere = np.zeros(estimate.size), np.zeros(estimate.size)
    mass = block.probabilities
    companions(estimate, block.rows, block.n_clusters, mass, within, anywhere)
    return within, anywhere


class NVIForm(NamedTuple):
    """The sum of the two conditional entropies over the joint entropy."""

    top: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0."""
        below = self.top - joint
        value = (truth + estimate - 2.0 * joint) / below if below > SOME_BITS else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class NVI(Loss):
    r"""Variation of information divided by the joint entropy: between 0 and 1, a metric.

    .. math:: L(t, e) = \frac{H(e \mid t) + H(t \mid e)}{H(t, e)}

    0 when both partitions are one single cluster. Choose it to compare across
    data sets of different entropy; the scale of :class:`VI` is lost.

    Notes
    -----
    O(N + K_t K_e) per pair.

    References
    ----------
    Vinh, N. X., Epps, J. and Bailey, J. (2010), Information theoretic measures
    for clusterings comparison. Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 1, 0, 1], loss="nvi")
    1.0
    """

    name: ClassVar[str] = "nvi"
    title: ClassVar[str] = "normalised variation of information"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True

    def form(self, n_items: int) -> NVIForm:
        """N·log2(N), the sum of one cluster."""
        return NVIForm(float(self.terms(n_items)[-1]))


class IDForm(NamedTuple):
    """The larger of the two conditional entropies."""

    n: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """Entropies are log2 N minus sums over N."""
        return max((max(truth, estimate) - joint) / self.n, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ID(Loss):
    r"""Information distance, in bits: the larger of the two conditional entropies.

    .. math:: L(t, e) = \max\{H(t), H(e)\} - I(t, e) = \max\{H(e \mid t), H(t \mid e)\}

    A metric. Choose it when splitting and merging errors should not add up,
    and the worse of the two counts.

    Notes
    -----
    O(N + K_t K_e) per pair.

    References
    ----------
    Vinh, N. X., Epps, J. and Bailey, J. (2010), Information theoretic measures
    for clusterings comparison. Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 1, 0, 1], loss="id")
    1.0
    """

    name: ClassVar[str] = "id"
    title: ClassVar[str] = "information distance"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "bits"

    def form(self, n_items: int) -> IDForm:
        """The number of items."""
        return IDForm(float(n_items))


class NIDForm(NamedTuple):
    """The larger conditional entropy over the larger entropy."""

    top: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0."""
        below = self.top - min(truth, estimate)
        value = (max(truth, estimate) - joint) / below if below > SOME_BITS else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class NID(Loss):
    r"""Information distance divided by the larger entropy: between 0 and 1, a metric.

    .. math:: L(t, e) = 1 - \frac{I(t, e)}{\max\{H(t), H(e)\}}

    0 when both partitions are one single cluster. Choose it to compare across
    data sets of different entropy.

    Notes
    -----
    O(N + K_t K_e) per pair.

    References
    ----------
    Vinh, N. X., Epps, J. and Bailey, J. (2010), Information theoretic measures
    for clusterings comparison. Journal of Machine Learning Research 11.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="nid")
    1.0
    """

    name: ClassVar[str] = "nid"
    title: ClassVar[str] = "normalised information distance"
    term: ClassVar[Term] = "entropy"
    metric: ClassVar[bool] = True

    def form(self, n_items: int) -> NIDForm:
        """N·log2(N), the sum of one cluster."""
        return NIDForm(float(self.terms(n_items)[-1]))

    @property
    def near_losses(self) -> tuple[Loss, ...]:
        """The same distance without its denominator."""
        return (ID(),)


ROUNDING = 1e-14
"""Relative to the sums: what rounding may leave of a denominator that is 0."""


class OneMinusARIForm(NamedTuple):
    """1 − ARI in numbers of ordered pairs: (mean − joint) / (mean − expected by chance)."""

    n: float
    pairs: float

    def combine(self, joint: float, estimate: float, truth: float) -> float:
        """0 for equal partitions, also where the ratio would be 0/0.

        Where the sums are means over draws they carry rounding, and a
        denominator of that size would turn 0 into 1; the smallest genuine one,
        a single item out of place in one of many draws, is far larger.
        """
        mean = 0.5 * (truth + estimate) - self.n
        below = mean - (truth - self.n) * (estimate - self.n) / self.pairs
        value = (mean - (joint - self.n)) / below if below > ROUNDING * (truth + estimate) else 0.0
        return max(value, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class OneMinusARI(Loss):
    r"""One minus the adjusted Rand index of estimate and truth, averaged over the draws.

    .. math:: L(t, e) = 1 - \frac{\sum \binom{n_{te}}{2} - \epsilon}
              {\tfrac12 \bigl[\sum \binom{n_t}{2} + \sum \binom{n_e}{2}\bigr] - \epsilon},
              \quad \epsilon = \sum \binom{n_t}{2} \sum \binom{n_e}{2} / \binom{N}{2}

    Two equal partitions have loss 0, also where the index is 0/0 (both one
    cluster, or both all singletons). It is not a metric, so it has no credible
    ball and no proven bound. Choose it when agreement beyond chance is what
    readers know.

    Notes
    -----
    O(N + K_t K_e) per pair. It can exceed 1 where agreement is worse than chance.

    References
    ----------
    Hubert, L. and Arabie, P. (1985), Comparing partitions. Journal of Classification 2.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="one_minus_ari")
    1.0
    """

    name: ClassVar[str] = "one_minus_ari"
    title: ClassVar[str] = "one minus the adjusted Rand index"
    term: ClassVar[Term] = "pairs"
    symmetric: ClassVar[bool] = True

    def form(self, n_items: int) -> OneMinusARIForm:
        """The number of items and of their ordered pairs."""
        return OneMinusARIForm(float(n_items), max(float(n_items) * (n_items - 1.0), 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class OneMinusPEAR(Loss):
    r"""One minus the first-order posterior expected adjusted Rand index (mcclust's ``maxpear``).

    The numbers of pairs in the adjusted Rand index are replaced by their
    posterior expectations, so it depends on the similarity matrix p alone:

    .. math:: 1 - \frac{\sum_{i<j} I_{ij} p_{ij} - \epsilon}
              {\tfrac12 \bigl[\sum_{i<j} I_{ij} + \sum_{i<j} p_{ij}\bigr] - \epsilon},
              \quad \epsilon = \sum_{i<j} I_{ij} \sum_{i<j} p_{ij} / \binom{N}{2}

    with I_ij = 1 when the estimate joins i and j. Choose it to reproduce
    mcclust; :class:`OneMinusARI` averages the index itself.

    Notes
    -----
    O(M N) from draws, O(N²) from a similarity matrix. It is not a metric.

    References
    ----------
    Fritsch, A. and Ickstadt, K. (2009), Improved criteria for clustering based
    on the posterior similarity matrix. Bayesian Analysis 4.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.expected_loss([0, 0, 1, 1], draws, loss="one_minus_pear").round(4)
    array([0.5294])
    """

    name: ClassVar[str] = "one_minus_pear"
    title: ClassVar[str] = "one minus the posterior expected adjusted Rand index"
    term: ClassVar[Term] = "pairs"
    averages_distances: ClassVar[bool] = False
    averages_sums: ClassVar[bool] = True
    from_similarity: ClassVar[Literal["sums"]] = "sums"

    def form(self, n_items: int) -> OneMinusARIForm:
        """The form of the index itself, at mean sums."""
        return OneMinusARI().form(n_items)

    def expected(self, estimate: Labels, draws: Draws, n_jobs: int | None = None) -> float:
        """Evaluate from the draws, without a similarity matrix."""
        sums = partial(_mean_sums, estimate=estimate, terms=self.terms(draws.n_items))
        (means,) = sum_blocks(sums, draws, n_jobs=n_jobs)
        own = float((np.bincount(estimate).astype(np.float64) ** 2).sum())
        return OneMinusARI().form(draws.n_items).combine(float(means[0]), own, float(means[1]))

    def expected_from_similarity(self, estimate: Labels, similarity: Floats) -> float:
        """Evaluate from the similarity matrix."""
        return OneMinusARI().form(estimate.size).combine(*pair_sums(estimate, similarity))


def _mean_sums(block: Block, *, estimate: Labels, terms: Floats) -> tuple[Floats]:
    """A block's share of the means of Σ n_te² and Σ n_t²."""
    from partita.kernels.contingency import sums_of_rows

    joint, truth = sums_of_rows(estimate, block.rows, block.n_clusters, terms)
    mass = block.probabilities
    return (np.array([(joint * mass).sum(), (truth * mass).sum()]),)


@dataclass(frozen=True, eq=False, repr=False)
class Entropy(PricedLoss):
    r"""Variation of information with entropies of degree β, between VI and Binder's loss.

    .. math:: L(t, e) = \frac{a \sum n_t^\beta + (2 - a) \sum n_e^\beta - 2 \sum n_{te}^\beta}
              {N^\beta (1 - 2^{1 - \beta})}

    β = 1, the limit, is :class:`VI`; β = 2 is twice :class:`Binder`. Choose it
    between the two: the larger β, the more large clusters count and the less
    small ones do. A metric for β ≥ 1 (and a = 1).

    Parameters
    ----------
    beta : float above 0
        The degree.
    a : float in (0, 2), default 1
        Price of splitting relative to merging.

    Notes
    -----
    O(N + K_t K_e) per pair of partitions. Two equal halves are at distance 1
    from one cluster, for every β.

    References
    ----------
    Simovici, D. and Jaroszewicz, S. (2002), An axiomatization of partition
    entropy. IEEE Transactions on Information Theory 48.

    Examples
    --------
    >>> import partita as pt
    >>> round(pt.distance(range(6), [0] * 6, loss=pt.Entropy(1.5)), 6)
    2.020367
    >>> pt.distance([0, 0, 1, 1], [0, 0, 0, 0], loss="entropy(2)")
    1.0
    """

    name: ClassVar[str] = "entropy"
    parameter: ClassVar[str] = "beta"

    beta: float = 1.0

    def __init__(self, beta: float, a: float = 1.0) -> None:
        expected = "a positive number. beta = 1 is VI, beta = 2 is twice Binder's loss"
        object.__setattr__(self, "beta", positive(beta, "beta", expected))
        object.__setattr__(self, "a", a)
        self.__post_init__()

    @property
    def prose(self) -> str:  # type: ignore[override]
        """Its name in prose at the price 1."""
        return f"variation of information of degree {self.beta:g}"

    @property
    def is_metric(self) -> bool:
        """True for β ≥ 1 at a = 1."""
        return self.beta >= 1.0 and self.a == 1.0

    @property
    def is_symmetric(self) -> bool:
        """True at a = 1."""
        return self.a == 1.0

    def scale(self, n_items: int) -> float:
        """The sum over two equal halves less that of one cluster."""
        if self.beta == 1.0:
            return float(n_items)
        # 1 − 2^(1 − β), without cancellation where β is close to 1.
        halves = abs(np.expm1((1.0 - self.beta) * np.log(2.0)))
        with np.errstate(over="ignore"):
            value = float(np.float64(n_items) ** self.beta * halves)
        if value == np.inf:
            raise InvalidInputError(
                f"beta={self.beta:g} is too large for {n_items:,} items: {n_items:,}^{self.beta:g} "
                "is not a number that a computer can hold. Expected a smaller one.",
                argument="beta",
            )
        return value

    def pair_scale(self, n_items: int) -> float | None:
        """Linear in the pairs at β = 2."""
        return self.scale(n_items) if self.beta == 2.0 else None

    def terms(self, n_items: int) -> Floats:
        """x^β − x, whose second part cancels among the sums: its limit at β = 1 is exact."""
        from partita.kernels.contingency import entropy_terms, pair_terms

        if self.beta == 1.0:
            return entropy_terms(n_items)
        if self.beta == 2.0:
            return pair_terms(n_items)
        x = np.arange(n_items + 1, dtype=np.float64)
        powers = x * np.expm1((self.beta - 1.0) * np.log(np.maximum(x, 1.0)))
        return np.abs(powers)

    def __repr__(self) -> str:
        return f"Entropy({self.beta!r}{'' if self.a == 1.0 else f', a={self.a!r}'})"


# ------------------------------------------------------------------ feature allocations

_BLOCK_WORK = 1 << 24
"""Words of draws times features of the estimate that a thread compares at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class FARO(WithPrice):
    r"""Feature-allocation loss: memberships that differ after the best matching of features.

    With M(Z, T) the largest total overlap of the columns of the estimate Z and of the truth T,
    matched one to one, and :math:`|Z|` the number of memberships (ones) of an allocation,

    .. math:: L(Z, T) = a\,|Z| + (2 - a)\,|T| - 2\,M(Z, T) = a\,A + (2 - a)\,B,

    where A = :math:`|Z| - M` counts memberships that are claimed and not true, and
    B = :math:`|T| - M` those that are true and not claimed. Choose it for overlapping clusters
    (:class:`FeatureDraws`). At a = 1 it is a metric with whole values; on partitions, where a makes
    no difference, it is twice the transfer distance: the number of items to move, counted at both
    ends.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of a claimed membership that is not true; one that is missed costs 2 − a. An
        estimate claims a membership that has posterior probability above a/2.

    Notes
    -----
    O(K²N/64 + K³) per pair. The matching does not depend on a.

    References
    ----------
    Dahl, D. B., Johnson, D. J. and Andros, R. J. (2023), Comparison and Bayesian estimation of
    feature allocations. Journal of Computational and Graphical Statistics 32.

    Examples
    --------
    >>> import partita as pt
    >>> pt.distance([[1, 0], [1, 1], [0, 1]], [[1], [1], [1]], loss=pt.FARO())
    3.0
    >>> pt.distance([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], loss="faro")
    4.0
    """

    name: ClassVar[str] = "faro"
    unit: ClassVar[str] = "memberships"
    metric: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True
    of_features: ClassVar[bool] = True
    prose: ClassVar[str] = "feature-allocation loss"
    meaning: ClassVar[str] = (
        "a = 1 prices memberships that are claimed and not true, and those that are missed, "
        "equally; a > 1 claims fewer"
    )

    def distances(
        self, estimate: Labels | UInt64s, draws: Draws | FeatureDraws, n_jobs: int | None = None
    ) -> Floats:
        """Loss of one estimate against each draw, shape (n_draws,).

        The estimate is a partition as labels, or an allocation as columns of bits.
        """
        if isinstance(draws, FeatureDraws):
            matched = matchings(estimate, draws, n_jobs)  # type: ignore[arg-type]
            own = int(np.bitwise_count(estimate).sum())
            return self.a * own + (2.0 - self.a) * draws.n_memberships - 2.0 * matched
        return super().distances(np.asarray(estimate, np.int32), draws, n_jobs)

    def expected(
        self, estimate: Labels | UInt64s, draws: Draws | FeatureDraws, n_jobs: int | None = None
    ) -> float:
        """Posterior expected loss of one estimate."""
        return float((self.distances(estimate, draws, n_jobs) * draws.probabilities).sum())

    def among(self, draws: FeatureDraws, n_jobs: int | None = None) -> Floats:
        """Losses between every two draws, rows being the estimates."""
        return self.between(draws, draws, n_jobs)

    def between(self, a: FeatureDraws, b: FeatureDraws, n_jobs: int | None = None) -> Floats:
        """Losses between every draw of a (estimates) and every one of b (truths)."""
        symmetric = a is b and self.is_symmetric
        out = np.zeros((a.n_draws, b.n_draws))

        def row(m: int) -> None:
            first = m if symmetric else 0
            out[m, first:] = self.distances(a.point(m), b[first:], n_jobs=1)

        run(row, range(a.n_draws), n_jobs)
        if symmetric:
            lower = np.tril_indices(a.n_draws, -1)
            out[lower] = out.T[lower]
        return out

    def against(self, n_items: int) -> Callable[[Labels, Rows, Counts], Floats]:
        """Twice the items that lie outside the best matching of clusters."""
        del n_items
        return _transfers

    _against_by_sums = against


def _transfers(estimate: Labels, rows: Rows, counts: Counts) -> Floats:
    from partita.kernels.uncertainty import match_rows

    _, shared = match_rows(estimate, int(estimate.max()) + 1, rows, np.array(counts))
    return (2 * (estimate.size - shared)).astype(np.float64)


def matchings(estimate: UInt64s, draws: FeatureDraws, n_jobs: int | None = None) -> Ints:
    """M(Z, T): the overlap of the best matching of an allocation and each draw."""
    from partita.kernels.features import matched_overlaps

    z = np.array(estimate)  # a read-only array would compile again

    def matched(part: slice) -> Ints:
        columns, offsets = writable(draws, part)
        out = np.empty(offsets.size - 1, np.int64)
        matched_overlaps(z, columns, offsets, out)
        return out

    return np.concatenate(run(matched, feature_blocks(draws, z.size), n_jobs))


def feature_blocks(draws: FeatureDraws, size: int) -> Iterator[slice]:
    """Slices of draws for the threads, for work of ``size`` on each word of a draw."""
    words = draws.columns.size / draws.n_draws + 1.0
    step = max(16, int(_BLOCK_WORK / (words * (size + 1))))
    for start in range(0, draws.n_draws, step):
        yield slice(start, min(start + step, draws.n_draws))


def writable(draws: FeatureDraws, part: slice) -> tuple[UInt64s, Ints]:
    """Columns and offsets of some draws, copied: kernels compile for arrays that are writable."""
    offsets = draws.offsets[part.start : part.stop + 1]
    return np.array(draws.columns[offsets[0] : offsets[-1]]), offsets - offsets[0]
