"""Conformal p-values of partitions, and the sets they define."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from partita._result import Result, as_html, frozen
from partita._tolerance import MASS
from partita._validate import choice, integer, positive, probability
from partita._wording import Kind, words
from partita.diagnostics.agreement import functionals
from partita.draws import AnyDraws, any_draws, systematic
from partita.errors import InvalidInputError
from partita.kernels.arrays import Array, Floats
from partita.labels import DrawsLike, LabelsLike
from partita.losses.base import Loss
from partita.losses.evaluate import metric_for, pairwise_distances
from partita.mcmc import ess_mean
from partita.posterior import Posterior
from partita.scan import by_chain

_MIN_DRAWS = 8
"""Draws per chain below which correlation cannot be estimated."""


@dataclass(frozen=True, eq=False)
class ThinnedDraws:
    """Draws thinned to about their effective number.

    Attributes
    ----------
    draws : Draws
        Unweighted.
    said : str
        What was done, in one sentence.
    """

    draws: AnyDraws
    said: str


def thin_to_effective(
    draws: AnyDraws, max_draws: int, *, min_draws: int = 1, each_chain: bool = False
) -> ThinnedDraws:
    """About as many draws as the given ones are worth: at most ``max_draws``.

    At least ``min_draws`` are kept, where there are as many, whatever they are worth. With
    ``each_chain`` a chain is worth what it is by itself, also where chains disagree.

    Chains are thinned by the least effective number of the functionals that :func:`diagnose`
    looks at; weighted draws are taken by
    a systematic sample of Kish's effective number.
    """
    own = words(draws.kind).draws
    if draws.weights is not None:
        size = max(1, min(max_draws, round(draws.n_effective)))
        rows = systematic(draws.weights, size, np.random.default_rng(0))
        said = f"{size:,} of {draws.n_draws:,} weighted {own}, a systematic sample"
        return ThinnedDraws(draws._with(weights=None)._take(rows), said)
    effective = max(
        effective_draws(draws, each_chain=each_chain), float(min(min_draws, draws.n_draws))
    )
    by_correlation = round(draws.n_draws / effective)
    step = max(1, by_correlation, -(-draws.n_draws // max_draws))
    if step == 1:
        return ThinnedDraws(draws, f"all {draws.n_draws:,} {own}")
    kept = draws.thin(step)
    reason = "as they are correlated" if step == by_correlation else f"for max_draws={max_draws:,}"
    said = f"every {_ordinal(step)} of {draws.n_draws:,} {own}, {kept.n_draws:,} in all, {reason}"
    return ThinnedDraws(kept, said)


def effective_draws(draws: AnyDraws, *, each_chain: bool = False) -> float:
    """The least effective number of draws over label-invariant functionals, at most all of them."""
    least = float(draws.n_draws)
    if draws.kind == "ensemble":  # runs have no order in which they could depend on each other
        return least
    for column in functionals(Posterior(draws)).values():
        chains = by_chain(draws, column)
        if chains.shape[1] < _MIN_DRAWS or np.ptp(column) == 0.0:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            found = sum(ess_mean(c[None]) for c in chains) if each_chain else ess_mean(chains)
            found *= draws.n_draws / chains.size
        if np.isfinite(found):
            least = min(least, found)
    return max(1.0, least)


def _ordinal(number: int) -> str:
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


TIE = MASS
"""Scores whose difference is a smaller share of them than this are tied."""


class PValue(float):
    """A p-value: a float that records how it was computed.

    Attributes
    ----------
    rate : float or None
        The rate of the kernel whose p-value this number is; None for the ball.
    rates, values : ndarray of float
        Every rate that was tried, and its p-value.
    method : str
        "kernel" or "ball".
    n_draws : int
        Draws it was ranked among.
    drawn : str
        Which draws these are.
    kind : "posterior" or "ensemble"
        What they are.

    Examples
    --------
    >>> import partita as pt
    >>> p = pt.p_value([[0, 0, 1], [0, 0, 1], [0, 1, 1]], [0, 1, 2], rate=1)
    >>> float(p), p.n_draws
    (0.5, 3)
    """

    rate: float | None
    rates: Floats
    values: Floats
    method: str
    n_draws: int
    drawn: str
    kind: Kind

    def __new__(
        cls,
        value: float,
        *,
        rate: float | None,
        rates: Floats,
        values: Floats,
        method: str,
        n_draws: int,
        drawn: str,
        kind: Kind = "posterior",
    ) -> PValue:
        """A float with what it was made from."""
        self = super().__new__(cls, value)
        self.rate, self.rates, self.values = rate, frozen(rates), frozen(values)
        self.method, self.n_draws, self.drawn, self.kind = method, n_draws, drawn, kind
        return self

    def __repr__(self) -> str:
        return f"PValue({float(self):.4g})"

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return as_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (float(self), self.__dict__)

    def in_words(self) -> str:
        """The number, what it means, and which choice was made."""
        said = words(self.kind)
        above = round((1.0 - float(self)) * (self.n_draws + 1))
        known = "approximately independent " if self.kind == "posterior" else ""
        text = (
            f"Of {self.n_draws:,} {known}{said.draws}, {f'{above:,}' if above else 'none'} "
            f"{'is' if above < 2 else 'are'} more typical than this clustering (p = "
            f"{float(self):.3g}; {self.drawn})"
        )
        if self.method == "ball":
            return f"{text}, by distance to the estimate."
        if self.rates.size == 1:
            return f"{text}, by closeness exp(−{self.rate:.3g}·distance) to the others."
        low, high = f"{self.values.min():.3g}", f"{self.values.max():.3g}"
        return (
            f"{text}, by closeness exp(−{self.rate:.3g}·distance) to the others; over rates from "
            f"{self.rates[0]:.3g} to {self.rates[-1]:.3g}, p "
            f"{f'is {low}' if low == high else f'goes from {low} to {high}'}. Quoted is the rate "
            f"of one over the median distance of two {said.draws}."
        )


def _restored(value: float, fields: dict[str, object]) -> PValue:
    return PValue(value, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class ConformalSet(Result):
    """Draws with their scores, ready to rank any hypothesis. Made by :func:`conformal_set`.

    Attributes
    ----------
    draws : Draws
        The draws that are ranked, after thinning.
    rates : ndarray of float, shape (n_rates,)
        Rates of the kernel; empty for the ball.
    quoted : int
        Which of the rates is quoted.
    scores : ndarray of float, shape (max(n_rates, 1), n_draws)
        Closeness of each draw to the others; minus its distance to the centre for the ball.
    center : ndarray of int32, or None
        Centre of the ball.
    loss : Loss
    drawn : str
        Which draws these are.

    Examples
    --------
    >>> import partita as pt
    >>> ready = pt.conformal_set([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rate=1)
    >>> ready.contains([0, 0, 1]), ready.contains([0, 1, 2], prob=0.4)
    (True, False)
    """

    draws: AnyDraws
    rates: Floats
    quoted: int
    scores: Floats
    center: Array | None
    loss: Loss
    drawn: str

    def p_value(self, labels: LabelsLike) -> PValue:
        """p-value of one partition, or of one allocation, in O(M (N + K²))."""
        one = self.draws.clean(labels, "labels")
        if self.center is not None:
            far = self.loss.distances(one, self.draws.from_points([self.center]), n_jobs=1)
            values = np.array([_rank(self.scores[0], -float(far[0]))])
        else:
            closeness = np.exp(-np.outer(self.rates, self.loss.distances(one, self.draws)))
            values = np.array(
                [
                    _rank(score + near, float(near.sum()))
                    for score, near in zip(self.scores, closeness, strict=True)
                ]
            )
        return PValue(
            float(values[self.quoted]),
            rate=float(self.rates[self.quoted]) if self.rates.size else None,
            rates=self.rates,
            values=values,
            method="kernel" if self.center is None else "ball",
            n_draws=self.draws.n_draws,
            drawn=self.drawn,
            kind=self.draws.kind,
        )

    def contains(self, labels: LabelsLike, *, prob: float = 0.95) -> bool:
        """Whether p > 1 − prob: a set whose probability is ``prob`` on average over draws.

        For the set at hand it may be more or less, by the Monte Carlo error of the draws.
        """
        return float(self.p_value(labels)) > 1.0 - probability(prob)

    def __repr__(self) -> str:
        kind = "ball" if self.center is not None else f"{self.rates.size} rate(s)"
        return f"<ConformalSet: {self.drawn}, {kind}, {self.loss!r}>"


def _rank(scores: Floats, own: float) -> float:
    """Share of the draws and the hypothesis that score no more than the hypothesis."""
    lower = int((scores <= own + TIE * max(1.0, abs(own))).sum())
    return (1 + lower) / (scores.size + 1)


RATES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
"""Rates that are tried when none is given, times one over the median distance of two draws."""

DEFAULT_RATE = 1.0
"""Of these, the one whose p-value is quoted."""

MAX_DRAWS = 2_000
"""Most draws that are scored against each other, by default."""


def p_value(
    draws: DrawsLike,
    labels: LabelsLike,
    *,
    loss: str | Loss | None = None,
    rate: float | None = None,
    method: Literal["kernel", "ball"] = "kernel",
    estimate: LabelsLike | None = None,
    max_draws: int = MAX_DRAWS,
    n_jobs: int | None = None,
) -> PValue:
    r"""Rank a hypothesis among the draws: is this clustering compatible with the posterior?

    Full conformal prediction. With the closeness
    :math:`k(c, c') = e^{-\text{rate}\, d(c, c')}` and every partition scored by its
    closeness to all the others, hypothesis and draws alike,

    .. math::

        p(\theta) = \frac{1 + \#\{i : S_i + k(\theta, c_i) \le \sum_j k(\theta, c_j)\}}{M + 1},
        \qquad S_i = \sum_{j \ne i} k(c_i, c_j).

    If the hypothesis were one more draw, exchangeable with the others, p ≤ α
    would happen with probability at most α: the partitions with p > α form a
    set whose posterior probability is at least 1 − α on average over sets of
    draws, not necessarily for the draws at hand. Unlike the credible ball it
    may consist of several pieces. Choose it to test a clustering you did not
    get from these draws.

    Parameters
    ----------
    draws : Draws, array_like or path, or FeatureDraws
    labels : label vector, estimate or summary; of feature draws an allocation
        The hypothesis.
    loss : str or Loss, optional
        A metric; VI by default, and FARO of feature draws.
    rate : float, optional
        How fast closeness falls with distance: a small rate ranks by the mean
        distance to all draws, a large one by how many lie very near. No rate
        is right for all posteriors. When omitted, p-values for six rates
        around one over the median distance of two draws are computed, and
        that one is quoted.
    method : "kernel" or "ball"
        "ball" scores by minus the distance to an estimate, as the credible
        ball does.
    estimate : label vector or estimate, optional
        Centre for "ball". When omitted it is found on every other draw, and
        the remaining ones are ranked; p is then exact. One that was found on
        the same draws makes p slightly too small.
    max_draws : int, default 2000
        Draws are thinned to their effective number, and to this.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    PValue
        A float; ``print`` it for what it means, ``.values`` for every rate.

    Notes
    -----
    O(M² (N + K²)) once, for M draws after thinning, and O(M (N + K²)) for each
    hypothesis: :func:`conformal_set` keeps the first part for many hypotheses.
    8 M² bytes.

    References
    ----------
    Vovk, V., Gammerman, A. and Shafer, G. (2005), Algorithmic Learning in a
    Random World. Springer.
    Bariletto, N., Ho, N. and Rinaldo, A. (2025), Conformalized Bayesian
    inference, with applications to random partition models.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1],
    ...          [0, 0, 1, 1, 1, 1], [0, 1, 1, 2, 2, 2]]
    >>> pt.p_value(draws, [0, 0, 0, 0, 0, 0], rate=0.5)
    PValue(0.1667)
    >>> float(pt.p_value(draws, [0, 0, 1, 2, 2, 2], rate=0.5))
    1.0
    """
    ready = conformal_set(
        draws,
        loss=loss,
        rate=rate,
        method=method,
        estimate=estimate,
        max_draws=max_draws,
        n_jobs=n_jobs,
    )
    return ready.p_value(labels)


def conformal_set(
    draws: DrawsLike,
    *,
    loss: str | Loss | None = None,
    rate: float | None = None,
    method: Literal["kernel", "ball"] = "kernel",
    estimate: LabelsLike | None = None,
    max_draws: int = MAX_DRAWS,
    n_jobs: int | None = None,
) -> ConformalSet:
    """Score the draws against each other once, to rank many hypotheses. See :func:`p_value`.

    Parameters
    ----------
    draws : Draws, array_like or path
    loss, rate, method, estimate, max_draws, n_jobs
        As for :func:`p_value`.

    Returns
    -------
    ConformalSet

    Notes
    -----
    O(M² (N + K²)) for M draws after thinning.

    References
    ----------
    Vovk, V., Gammerman, A. and Shafer, G. (2005), Algorithmic Learning in a
    Random World. Springer.

    Examples
    --------
    >>> import partita as pt
    >>> ready = pt.conformal_set([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rate=1)
    >>> [float(ready.p_value(x)) for x in ([0, 0, 1], [0, 1, 2])]
    [1.0, 0.5]
    """
    posterior: AnyDraws = any_draws(draws)
    measure = metric_for(loss, posterior, "closeness needs one")
    method = choice(method, "method", ("kernel", "ball"))
    ready = thin_to_effective(posterior, integer(max_draws, "max_draws", least=2))
    if method == "ball":
        return _ball_scores(ready.draws, measure, rate, estimate, ready.said, n_jobs)
    if estimate is not None:
        raise InvalidInputError(
            "estimate=... is the centre of a ball; give method='ball' with it.", argument="estimate"
        )
    distance_matrix = pairwise_distances(ready.draws, loss=measure, n_jobs=n_jobs)
    rates, quoted = clean_rates(rate, distance_matrix)
    scores = np.array([np.exp(-r * distance_matrix).sum(axis=1) - 1.0 for r in rates])
    return ConformalSet(ready.draws, rates, quoted, scores, None, measure, ready.said)


def clean_rates(rate: float | None, distance_matrix: Floats) -> tuple[Floats, int]:
    """The rates to try, and which of them is quoted."""
    if rate is not None:
        return np.array([positive(rate, "rate", "a positive number, such as 0.5")]), 0
    between = distance_matrix[np.triu_indices(len(distance_matrix), 1)]
    usual = float(np.median(between)) if between.size else 0.0
    if usual <= 0.0:  # most draws are equal: any rate tells them from the others
        usual = float(between.mean()) if between.any() else 1.0
    return RATES / usual, int(np.flatnonzero(RATES == DEFAULT_RATE)[0])


def _ball_scores(
    draws: Any,
    loss: Loss,
    rate: float | None,
    given: LabelsLike | None,
    said: str,
    n_jobs: int | None,
) -> ConformalSet:
    """Scores by distance to a centre, given or found on every other draw."""
    from partita.search.estimate import estimate

    if rate is not None:
        raise InvalidInputError(
            "rate=... is of the kernel; leave it out with method='ball'.", argument="rate"
        )
    ranked = draws
    if given is not None:
        center = draws.clean(given, "estimate")
    else:
        if draws.n_draws < 2:
            raise InvalidInputError(
                "one draw cannot both give a centre and be ranked.", argument="draws"
            )
        found = estimate(draws[0::2], loss=loss, bound=None, n_jobs=n_jobs)
        center = draws.clean(found, "estimate")
        ranked = draws[1::2]
        said = f"every other of {said}" if not said.startswith("every") else f"half of {said}"
    scores = -loss.distances(center, ranked, n_jobs)[None, :]
    return ConformalSet(ranked, np.empty(0), 0, scores, center, loss, said)
