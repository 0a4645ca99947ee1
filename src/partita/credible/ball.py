"""Credible balls around a partition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._result import Page, Result
from partita._tolerance import DISTANCE, MASS
from partita._validate import choice, has, probability
from partita._wording import counted, counts, percent, words
from partita.draws import AnyDraws, Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels, LabelsLike, data_frame, shared_items
from partita.losses.base import Loss
from partita.losses.evaluate import loss_for, loss_names
from partita.mcmc import ONE_SIGMA, beta_quantile, mcse_quantile
from partita.posterior import any_posterior
from partita.scan import FEW_DRAWS, error_of, weighted_error

if TYPE_CHECKING:
    import pandas as pd

    from partita.explanation import Explanation


def credible_ball(
    draws: DrawsLike,
    center: LabelsLike,
    *,
    prob: float = 0.95,
    loss: str | Loss | None = None,
    n_jobs: int | None = None,
) -> CredibleBall:
    r"""The credible ball around a partition, with its vertical and horizontal bounds.

    .. math:: B_{\epsilon}(c^*) = \{c : d(c^*, c) \le \epsilon\}, \quad
              \epsilon = \min \{\epsilon : P(d(c^*, c) \le \epsilon) \ge prob\}

    With probability ``prob`` the clustering is within the radius of the
    centre. The bounds are the extremes among the draws inside: what the
    clustering could still be.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    center : array_like, shape (n_items,), or an estimate
        The partition in the middle. It need not be a draw.
    prob : float in (0, 1], default 0.95
    loss : str or Loss, optional
        A metric, such as "vi" or "binder". By default the loss of
        the estimate given as centre ("vi_lb", which stands in for VI, gives
        VI), and VI for plain labels.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    CredibleBall

    Notes
    -----
    Every draw with d ≤ ε is inside, however many tie at ε, so the coverage can
    exceed ``prob``. Distances of the entropy metrics that differ by at most
    1e-10 are the same distance; Binder's loss is computed exactly. A mass
    within 1e-9 of ``prob`` reaches it. O(M·N) for M draws of N items.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13, Section 5.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> ball = pt.credible_ball(draws, [0, 0, 1, 1], prob=0.75)
    >>> ball.radius, ball.coverage
    (1.0, 0.75)
    >>> ball.lower.labels
    array([[0, 1, 2, 3]], dtype=int32)
    >>> ball.contains([0, 0, 0, 0]), ball.credible_level([0, 0, 0, 1])
    (True, 1.0)
    """
    posterior = any_posterior(draws, n_jobs)
    clean: AnyDraws = posterior.draws
    level = probability(prob)
    metric = _metric(center, loss, clean)
    middle = clean.clean(center, "center")
    distances = posterior.distances(metric, middle)
    levels = distance_levels(distances, clean, tie_tolerance(metric))
    result, _ = _RESULTS[clean.part_name]
    found: CredibleBall = result(
        center=clean.shown([middle])[0],
        loss=metric,
        distances=distances,
        draws=clean,
        _levels=levels,
        **_members(clean, distances, levels, level),
    )
    return found


def _metric(center: Any, loss: str | Loss | None, draws: AnyDraws) -> Loss:
    """The metric of the ball, or an error that says why the loss cannot have one."""
    asked = getattr(center, "loss", None) if loss is None and has(center, "loss") else loss
    measure: Loss = loss_for(asked, draws)
    metric = measure.ball_metric() if loss is None else measure
    if metric is None or not metric.is_metric:
        raise NotSupportedError(
            f"{measure!r} is not a metric, so a ball around a partition has no meaning under it: "
            "it is not symmetric or breaks the triangle inequality. "
            f"Pass loss='vi' or another metric: {loss_names(lambda known: known.is_metric)}, "
            "with a = 1.",
            argument="loss",
        )
    return metric


@dataclass(frozen=True, eq=False, repr=False)
class Ball(Result):
    """Base class of credible balls of partitions and of feature allocations.

    Nothing here looks inside a point.
    """

    center: Any
    loss: Loss
    prob: float
    radius: float
    coverage: float
    distances: NDArray[np.float64]
    inside: NDArray[np.bool_]
    upper: Any
    lower: Any
    horizontal: Any
    draws: AnyDraws
    _levels: Levels = field(repr=False)

    _argument: ClassVar[str]
    """Noun for a point in error messages."""
    _extremes: ClassVar[tuple[str, ...]] = ("upper", "lower", "horizontal")
    """The names of the bounds, which are those of ``draws.extremes``."""

    @property
    def bounds(self) -> Mapping[str, Any]:
        """The bounds by name."""
        return {name: getattr(self, name) for name in self._extremes}

    @property
    def n_parts(self) -> int:
        """Number of clusters, or of features, of the centre."""
        raise NotImplementedError

    @cached_property
    def radius_mcse(self) -> float:
        """Monte Carlo standard error of the radius, computed when first asked for.

        The radius is the ``prob`` quantile of the distances. Its error comes
        from the effective sample size of that quantile, which accounts for
        autocorrelation within chains and for disagreement between them (Vehtari
        et al., 2021). Weighted draws have lost their order and count as
        independent, with Kish's effective number 1/Σw². NaN for fewer than
        four draws per chain, at prob=1, where the error of a maximum cannot
        be estimated, and for an ensemble, whose runs are not a sample of a posterior.
        """
        return radius_mcse(self.distances, self.draws, self.prob)

    def at(self, prob: float) -> Self:
        """The ball of another probability, from the distances already there."""
        return ball_at(self, probability(prob))

    def contains(self, point: LabelsLike) -> bool:
        """Whether a partition, or an allocation, lies in the ball; it need not be a draw."""
        return self._distance(point) <= self.radius + tie_tolerance(self.loss)

    def credible_level(self, point: LabelsLike) -> float:
        """The smallest ``prob`` whose ball contains the point, in steps of one draw.

        Balls grow draw by draw, so this is the mass of all draws strictly
        closer to the centre plus one more draw (with weights: the lightest of
        those at the next distance). Infinite when the point is farther
        away than every draw, so that no ball contains it.
        """
        level = self._levels.containing(self._distance(point), tie_tolerance(self.loss))
        if level == self._levels.value.size:
            return float("inf")
        return float(self._levels.step[level])

    def _distance(self, point: Any) -> float:
        other = self.draws.from_points([self.draws.clean(point, self._argument)])
        return float(self.loss.distances(self.draws.canonical(self.center), other, n_jobs=1)[0])

    def _lines(self) -> list[tuple[str, str]]:
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        inside, part = int(self.inside.sum()), self.draws.part_name
        rows = counted(self.draws.n_draws, words(self.draws.kind).draw)
        lines = [
            ("center", f"{counted(self.n_parts, part)} of {counted(self.draws.n_items, 'item')}"),
            ("radius", f"{self.radius:.4g}{unit}"),
            (
                "coverage",
                f"{self.coverage:.6g} ({inside:,} of {rows})",
            ),
        ]
        for name, bound in self.bounds.items():
            more = f" ({len(bound):,} tie)" if len(bound) > 1 else ""
            lines.append((name, f"{bound.parts_in_words} at {bound.distance:.4g}{unit}{more}"))
        return lines

    def __repr__(self) -> str:
        ball = f"{self.prob:g} {words(self.draws.kind).ball}"
        head = f"<{type(self).__name__}: {ball} of {self.loss.title}"
        body = [f"  {name:<11} {text}" for name, text in self._lines()]
        return "\n".join([head, *body]) + ">"

    def _page(self) -> Page:
        head = f"{percent(self.prob)} {words(self.draws.kind).ball} of {self.loss.title}"
        return Page(head, self._lines())


B = TypeVar("B", bound=Ball)


@dataclass(frozen=True, eq=False, repr=False)
class CredibleBall(Ball):
    """The smallest ball around a partition that holds a given posterior probability.

    Made by :func:`credible_ball`.

    Attributes
    ----------
    center : ndarray of int32, shape (n_items,)
        The partition in the middle, numbered by size.
    loss : Loss
        The metric.
    prob : float
        The probability asked for.
    radius : float
        The smallest ε with posterior mass {d ≤ ε} of at least ``prob``.
    coverage : float
        The mass achieved: at least ``prob``, more when draws tie at the radius.
    distances : ndarray of float, shape (n_draws,)
        Distance of each draw from the centre.
    inside : ndarray of bool, shape (n_draws,)
        Which draws are in the ball: all with distance at most the radius.
    upper, lower, horizontal : Bound
        The extremes: fewest clusters, then most distant; most clusters, then
        most distant; most distant. Each lists every tied partition once, with
        ``labels``, ``n_clusters``, ``distance`` and ``mass``.
    draws : Draws
        The draws, kept by reference.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13, Section 5.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> ball = pt.credible_ball(draws, [0, 0, 1, 1], prob=0.5)
    >>> ball.radius, ball.coverage
    (0.0, 0.5)
    >>> wider = ball.at(0.95)
    >>> wider.upper.n_clusters, wider.lower.n_clusters
    (array([2]), array([4]))
    """

    center: Labels
    upper: Bound
    lower: Bound
    horizontal: Bound
    draws: Draws

    _argument: ClassVar[str] = "labels"

    def __draws__(self) -> Draws:
        return self.draws

    def __labels__(self) -> Labels:
        return self.center

    @property
    def n_parts(self) -> int:
        """Number of clusters of the centre."""
        return int(self.center.max()) + 1

    def explain(self, kind: str, index: int = 0) -> Explanation:
        """What turns the centre into a partition of a bound; see :func:`partita.explain`.

        Parameters
        ----------
        kind : str
            "upper", "lower" or "horizontal".
        index : int, default 0
            Which of the partitions that tie at this bound.
        """
        from partita.explanation import explain_all

        bound = self.bounds[choice(kind, "kind", tuple(self.bounds))]
        other = bound.labels[index][None, :]
        return explain_all(self.center, other, self.loss, self.draws.item_names)[0]

    def cross_tables(self) -> Mapping[str, tuple[NDArray[np.int64], ...]]:
        """Cross tabulations of the centre (rows) with each partition of each bound (columns)."""
        return {
            name: tuple(shared_items(self.center, labels) for labels in bound.labels)
            for name, bound in self.bounds.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per partition of each bound: bound, clusters, distance, mass."""
        return _bounds_frame(self, "n_clusters")


@dataclass(frozen=True, eq=False, repr=False)
class FeatureBall(Ball):
    """The credible ball around a feature allocation. Made by :func:`credible_ball`.

    Attributes
    ----------
    center : ndarray of bool, shape (n_items, n_features)
        The allocation in the middle.
    loss : Loss
    prob, radius, coverage : float
        As of :class:`CredibleBall`.
    distances : ndarray of float, shape (n_draws,)
        Distance of each draw from the centre.
    inside : ndarray of bool, shape (n_draws,)
        Which draws are in the ball: all with distance at most the radius.
    upper, lower, horizontal : FeatureBound
        The extremes: fewest features, then most distant; most features, then most distant; most
        distant.
    sparsest, densest : FeatureBound
        Fewest memberships, then most distant; most memberships, then most distant. Draws with few
        features may lie close to the centre, and those far away differ in memberships.
    draws : FeatureDraws

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13, Section 5.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets(
    ...     [[{0, 1}, {2}], [{0, 1}, {2, 3}], [{0}, {2, 3}], [{0, 1, 2}, {3}]], n_items=4)
    >>> ball = pt.credible_ball(draws, draws[1], prob=0.75)
    >>> ball.radius, ball.densest.n_memberships
    (1.0, array([4]))
    """

    center: NDArray[np.bool_]
    upper: FeatureBound
    lower: FeatureBound
    horizontal: FeatureBound
    sparsest: FeatureBound
    densest: FeatureBound

    _argument: ClassVar[str] = "allocation"
    _extremes: ClassVar[tuple[str, ...]] = (*Ball._extremes, "sparsest", "densest")

    def __features__(self) -> AnyDraws:
        return self.draws

    def __allocation__(self) -> NDArray[np.bool_]:
        return self.center

    @property
    def n_parts(self) -> int:
        """Number of features of the centre."""
        return int(self.center.shape[1])

    def cross_tables(self) -> Mapping[str, tuple[NDArray[np.int64], ...]]:
        """Items that the features of the centre (rows) share with those of each bound (columns)."""
        center = self.center.T.astype(np.int64)
        return {
            name: tuple(center @ other for other in bound.allocations)
            for name, bound in self.bounds.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per allocation of each bound: bound, features, memberships, distance, mass."""
        return _bounds_frame(self, "n_features", "n_memberships")

    def _lines(self) -> list[tuple[str, str]]:
        center, radius, coverage, *bounds = super()._lines()
        return [center, ("radius", f"{radius[1]}, coverage {coverage[1]}"), *bounds]


def _bounds_frame(ball: Ball, *columns: str) -> pd.DataFrame:
    rows = [
        {
            "bound": name,
            **{column: int(getattr(bound, column)[j]) for column in columns},
            "distance": bound.distance,
            "mass": float(bound.mass[j]),
        }
        for name, bound in ball.bounds.items()
        for j in range(len(bound))
    ]
    return data_frame(rows, of="the bounds")


class _Extreme(Result):
    """Base class of bounds of partitions and of feature allocations."""

    kind: str
    distance: float
    mass: NDArray[np.float64]

    _counts: ClassVar[tuple[str, ...]]
    """The attributes of draws that count the parts of each point."""

    _points: ClassVar[str]
    """The attribute with the partitions or allocations."""

    @property
    def points(self) -> Any:
        """The partitions or allocations."""
        return getattr(self, self._points)

    @property
    def parts_in_words(self) -> str:
        """Numbers of clusters, or of features and memberships, of each, of at most five."""
        nouns = {name: name.removeprefix("n_").removesuffix("s") for name in self._counts}
        return ", ".join(counts(getattr(self, n)[:5].tolist(), noun) for n, noun in nouns.items())

    def __len__(self) -> int:
        return int(self.mass.size)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_equal(value, vars(other)[name]) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        ties = f" ({len(self)} tie)" if len(self) > 1 else ""
        return f"<{self.kind} bound: {self.parts_in_words} at {self.distance:.4g}{ties}>"


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(np.array_equal, a, b))
    return np.array_equal(a, b)


@dataclass(frozen=True, eq=False, repr=False)
class Bound(_Extreme):
    """The partitions at one extreme of a credible ball: usually one, more when they tie.

    Attributes
    ----------
    kind : str
        "upper", "lower" or "horizontal".
    labels : ndarray of int32, shape (n, n_items)
        Each tied partition once, in order of first appearance among the draws.
    n_clusters : ndarray of int64, shape (n,)
    distance : float
        Their distance from the centre, the same for all.
    mass : ndarray of float, shape (n,)
        Posterior probability of each.
    """

    kind: str
    labels: Labels
    n_clusters: NDArray[np.int64]
    distance: float
    mass: NDArray[np.float64]

    _counts: ClassVar[tuple[str, ...]] = ("n_clusters",)
    _points: ClassVar[str] = "labels"


@dataclass(frozen=True, eq=False, repr=False)
class FeatureBound(_Extreme):
    """The allocations at one extreme of a credible ball: usually one, more when they tie.

    Attributes
    ----------
    kind : str
        "upper", "lower", "horizontal", "sparsest" or "densest".
    allocations : tuple of ndarray of bool, each of shape (n_items, n_features)
        Each tied allocation once, in order of first appearance among the draws.
    n_features, n_memberships : ndarray of int64, shape (n,)
    distance : float
        Their distance from the centre, the same for all.
    mass : ndarray of float, shape (n,)
        Posterior probability of each.
    """

    kind: str
    allocations: tuple[NDArray[np.bool_], ...]
    n_features: NDArray[np.int64]
    n_memberships: NDArray[np.int64]
    distance: float
    mass: NDArray[np.float64]

    _counts: ClassVar[tuple[str, ...]] = ("n_features", "n_memberships")
    _points: ClassVar[str] = "allocations"


_RESULTS: dict[str, tuple[type[Any], type[Any]]] = {
    "cluster": (CredibleBall, Bound),
    "feature": (FeatureBall, FeatureBound),
}
"""Classes of the ball and its bounds, by the name of a part of a draw."""


def ball_at(ball: B, prob: float) -> B:
    """The same ball at another probability, which is trusted."""
    members = _members(ball.draws, ball.distances, ball._levels, prob)
    return replace(ball, **members)


def _members(draws: AnyDraws, distances: Floats, levels: Levels, prob: float) -> dict[str, Any]:
    """What a ball of a probability holds, with its bounds by name; see ``draws.extremes``.

    Distances tie when their levels agree. Copies of a point have equal distances and numbers of
    clusters or features, so all of them are among the tied members and their weights add up to
    its mass.
    """
    last = levels.at(prob)
    inside = levels.of_draw <= last
    assert inside.any(), "a credible ball holds at least the draws closest to its centre"
    members, weights = np.flatnonzero(inside), draws.weights
    _, result = _RESULTS[draws.part_name]
    counts_of, bounds = [getattr(draws, name) for name in result._counts], {}
    for kind, most_of in draws.extremes.items():
        extreme = members[most_of[members] == most_of[members].max()]
        level = levels.of_draw[extreme]
        tied = extreme[level == level.max()]
        first, copy_of = draws.equal_among(tied)
        mass = np.bincount(copy_of, weights=None if weights is None else weights[tied]) + 0.0
        if weights is None:
            mass /= inside.size
        shown, far = tied[first], float(distances[tied].max())
        numbers = map(itemgetter(shown), counts_of)
        bounds[kind] = result(kind, draws.shown(draws.rows_at(shown)), *numbers, far, mass)
    return {
        "prob": prob,
        "radius": float(levels.value[last]),
        "coverage": float(levels.reached[last]),
        "inside": inside,
        **bounds,
    }


def tie_tolerance(loss: Loss) -> float:
    """Largest difference of two distances that counts as a tie.

    Binder's loss is a whole number over N², hence computed exactly, and any
    tolerance could merge different values when N is large.
    """
    return 0.0 if loss.is_exact else DISTANCE


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct distances of the draws from a centre, in increasing order.

    Attributes
    ----------
    of_draw : ndarray of int64, shape (n_draws,)
        Number of each draw's distance among the distinct ones.
    value : ndarray of float, shape (n_levels,)
        The largest distance that counts as this level.
    reached : ndarray of float, shape (n_levels,)
        Mass of the draws up to and including each level.
    step : ndarray of float, shape (n_levels,)
        Mass up to and including the lightest draw of each level.
    """

    of_draw: NDArray[np.int64]
    value: NDArray[np.float64]
    reached: NDArray[np.float64]
    step: NDArray[np.float64]

    def at(self, prob: float) -> int:
        """The first level whose mass reaches prob; at 1 the last, however light its draws."""
        last = self.value.size - 1
        if prob >= 1.0:
            return last
        # The last level holds all the mass; rounding in a sum of weights must not pass it.
        return min(int(np.searchsorted(self.reached, prob - MASS)), last)

    def containing(self, distance: float, tolerance: float) -> int:
        """The first level at least as far as ``distance``; n_levels when it is beyond all."""
        return int(np.searchsorted(self.value, distance - tolerance))


def distance_levels(distances: NDArray[np.float64], draws: Draws, tolerance: float) -> Levels:
    """Sort the distances and join those that tie.

    Neighbours in the sorted order tie when they differ by at most ``tolerance``.
    """
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    starts = np.empty(ordered.size, bool)
    starts[0] = True
    np.greater(np.diff(ordered), tolerance, out=starts[1:])
    level = np.cumsum(starts) - 1
    of_draw = np.empty(level.size, np.int64)
    of_draw[order] = level
    first = np.flatnonzero(starts)
    after = np.append(first[1:], ordered.size)
    if draws.weights is None:
        n = draws.n_draws
        reached, step = after / n, (first + 1) / n
    else:
        weights = draws.weights[order]
        reached = np.cumsum(weights)[after - 1]
        before = np.concatenate([[0.0], reached[:-1]])
        # A draw lighter than the tolerance adds no mass that ``at`` could see.
        lightest = np.maximum(np.minimum.reduceat(weights, first), 2.0 * MASS)
        step = np.minimum(before + lightest, 1.0)
        reached[-1] = math.fsum(weights)
    return Levels(of_draw, ordered[after - 1], reached, step)


def radius_mcse(distances: NDArray[np.float64], draws: Draws, prob: float) -> float:
    """Standard error of the ``prob`` quantile of the distances; see ``CredibleBall``."""
    if prob >= 1.0 or draws.kind == "ensemble":
        return float("nan")
    if draws.weights is not None:
        return _weighted_quantile_error(distances, draws, prob)
    return error_of(draws, distances, partial(mcse_quantile, prob=prob))


def _weighted_quantile_error(distances: Floats, draws: Draws, prob: float) -> float:
    """The quantile's error for weighted draws, by the beta law of its mass.

    Within chains the mass up to the quantile has its own effective number of draws.
    """
    effective, order = draws.n_effective, np.argsort(distances)
    ordered, mass = distances[order], np.cumsum(draws.probabilities[order])

    def quantiles(masses: list[float]) -> Floats:
        return np.asarray(ordered[np.searchsorted(mass, masses).clip(0, ordered.size - 1)])

    if draws.chain is not None:
        within = (distances <= quantiles([prob])[0]).astype(np.float64)
        error = weighted_error(draws, within)
        if error > 0.0:
            share = float(draws.probabilities @ within)
            effective = min(effective, share * (1.0 - share) / error**2)
    if effective < FEW_DRAWS:
        return float("nan")
    shape = (effective * prob + 1.0, effective * (1.0 - prob) + 1.0)
    low, high = quantiles([beta_quantile(*shape, p) for p in ONE_SIGMA])
    return float(high - low) / 2.0
