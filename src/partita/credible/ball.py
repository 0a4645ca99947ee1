"""Credible balls around a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita import _html as html
from partita._optional import require
from partita._result import Result
from partita._validate import choice
from partita._vocabulary import words
from partita._wording import counted, counts, percent
from partita.credible.error import radius_mcse
from partita.credible.extremes import Bound, find_bounds
from partita.credible.levels import Levels, clean_prob, find_levels, tie_tolerance
from partita.errors import NotSupportedError
from partita.losses.base import Loss
from partita.losses.posterior import as_posterior
from partita.losses.registry import as_loss
from partita.losses.vi import VI
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, as_labels, by_size, shared_items
from partita.partitions.types import DrawsLike, LabelsLike

if TYPE_CHECKING:
    import pandas as pd

    from partita.losses.explain import Explanation


@dataclass(frozen=True, eq=False, repr=False)
class CredibleBall(Result):
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
    loss: Loss
    prob: float
    radius: float
    coverage: float
    distances: NDArray[np.float64]
    inside: NDArray[np.bool_]
    upper: Bound
    lower: Bound
    horizontal: Bound
    draws: Draws
    _levels: Levels = field(repr=False)

    def __draws__(self) -> Draws:
        return self.draws

    def __labels__(self) -> Labels:
        return self.center

    @property
    def bounds(self) -> Mapping[str, Bound]:
        """The three bounds by name."""
        return {"upper": self.upper, "lower": self.lower, "horizontal": self.horizontal}

    @cached_property
    def radius_mcse(self) -> float:
        """Monte Carlo standard error of the radius, computed when first asked for.

        The radius is the ``prob`` quantile of the distances. Its error comes
        from the effective sample size of that quantile, which accounts for
        autocorrelation within chains and for disagreement between them (Vehtari
        et al., 2021). Weighted draws have lost their order and count as
        independent, with Kish's effective number 1/Σw². NaN for fewer than
        four draws per chain, at prob=1, where the error of a maximum cannot
        be estimated, and for an ensemble, whose runs are no sample of a posterior.
        """
        return radius_mcse(self.distances, self.draws, self.prob)

    def at(self, prob: float) -> CredibleBall:
        """The ball of another probability, from the distances already there."""
        return _ball(
            self.center, self.loss, clean_prob(prob), self.distances, self.draws, self._levels
        )

    def contains(self, labels: LabelsLike) -> bool:
        """Whether a partition lies in the ball; it need not be a draw."""
        return self._distance(labels) <= self.radius + tie_tolerance(self.loss)

    def credible_level(self, labels: LabelsLike) -> float:
        """The smallest ``prob`` whose ball contains the partition, in steps of one draw.

        Balls grow draw by draw, so this is the mass of all draws strictly
        closer to the centre plus one more draw (with weights: the lightest of
        those at the next distance). Infinite when the partition is farther
        away than every draw, so that no ball contains it.
        """
        level = self._levels.containing(self._distance(labels), tie_tolerance(self.loss))
        if level == self._levels.value.size:
            return float("inf")
        return float(self._levels.step[level])

    def _distance(self, labels: LabelsLike) -> float:
        vector = as_labels(labels, n_items=self.center.size)
        center = as_labels(self.center)
        return float(self.loss.distances(center, Draws(vector[None, :]), n_jobs=1)[0])

    def explain(self, kind: str, index: int = 0) -> Explanation:
        """What turns the centre into a partition of a bound; see :func:`partita.explain`.

        Parameters
        ----------
        kind : str
            "upper", "lower" or "horizontal".
        index : int, default 0
            Which of the partitions that tie at this bound.
        """
        from partita.losses.explain import explain

        bound = self.bounds[choice(kind, "kind", tuple(self.bounds))]
        return explain(
            self.center, bound.labels[index], loss=self.loss, item_names=self.draws.item_names
        )

    def cross_tables(self) -> Mapping[str, tuple[NDArray[np.int64], ...]]:
        """Cross tabulations of the centre (rows) with each partition of each bound (columns)."""
        return {
            name: tuple(shared_items(self.center, labels) for labels in bound.labels)
            for name, bound in self.bounds.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per partition of each bound: bound, clusters, distance, mass."""
        pandas = require("pandas", extra="pandas", purpose="a table of the bounds")
        rows = [
            {
                "bound": name,
                "n_clusters": int(k),
                "distance": bound.distance,
                "mass": float(mass),
            }
            for name, bound in self.bounds.items()
            for k, mass in zip(bound.n_clusters, bound.mass, strict=True)
        ]
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame

    def _lines(self) -> list[tuple[str, str]]:
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        k, inside = int(self.center.max()) + 1, int(self.inside.sum())
        rows = counted(self.draws.n_draws, words(self.draws.kind).draw)
        lines = [
            ("center", f"{counted(k, 'cluster')} of {counted(self.center.size, 'item')}"),
            ("radius", f"{self.radius:.4g}{unit}"),
            (
                "coverage",
                f"{self.coverage:.6g} ({inside:,} of {rows})",
            ),
        ]
        for name, bound in self.bounds.items():
            clusters = counts(bound.n_clusters[:5].tolist(), "cluster")
            more = f" ({len(bound):,} tie)" if len(bound) > 5 else ""
            lines.append((name, f"{clusters} at {bound.distance:.4g}{unit}{more}"))
        return lines

    def __repr__(self) -> str:
        head = f"<CredibleBall: {self.prob:g} {words(self.draws.kind).ball} of {self.loss.title}"
        body = [f"  {name:<11} {text}" for name, text in self._lines()]
        return "\n".join([head, *body]) + ">"

    def _repr_html_(self) -> str:
        head = f"{percent(self.prob)} {words(self.draws.kind).ball} of {self.loss.title}"
        return html.title(head) + html.facts(self._lines())


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
        A metric: "vi", "binder", "nvi", "id" or "nid". By default the loss of
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
    posterior = as_posterior(draws, n_jobs)
    clean = posterior.draws
    level = clean_prob(prob)
    metric = _metric(center, loss)
    middle = as_labels(center, n_items=clean.n_items, argument="center")
    distances = posterior.distances(metric, middle)
    levels = find_levels(distances, clean, tie_tolerance(metric))
    return _ball(middle, metric, level, distances, clean, levels)


def _ball(
    center: Labels,
    loss: Loss,
    prob: float,
    distances: NDArray[np.float64],
    draws: Draws,
    levels: Levels,
) -> CredibleBall:
    last = levels.at(prob)
    inside = levels.of_draw <= last
    assert inside.any(), "a credible ball holds at least the draws closest to its centre"
    upper, lower, horizontal = find_bounds(draws, distances, levels.of_draw, last)
    return CredibleBall(
        center=by_size(center),
        loss=loss,
        prob=prob,
        radius=float(levels.value[last]),
        coverage=float(levels.reached[last]),
        distances=distances,
        inside=inside,
        upper=upper,
        lower=lower,
        horizontal=horizontal,
        draws=draws,
        _levels=levels,
    )


def _metric(center: Any, loss: str | Loss | None) -> Loss:
    """The metric of the ball, or an error that says why the loss cannot have one."""
    asked = getattr(center, "loss", None) if loss is None else loss
    measure = VI() if asked is None else as_loss(asked)
    metric = measure.ball_metric() if loss is None else measure
    if metric is None or not metric.is_metric:
        raise NotSupportedError(
            f"{measure!r} is no metric, so a ball around a partition has no meaning under it: "
            "it is not symmetric or breaks the triangle inequality. "
            "Pass loss='vi' or another metric ('binder', 'nvi', 'id', 'nid', with a=1).",
            argument="loss",
        )
    return metric
