"""A credible ball: the smallest around a partition that holds a probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita import _html as html
from partita._result import Result
from partita._validate import choice
from partita._vocabulary import words
from partita._wording import counted, counts, percent
from partita.credible.error import radius_mcse
from partita.credible.extremes import Bound, find_bounds
from partita.credible.levels import Levels, clean_prob, tie_tolerance
from partita.losses.base import Loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, as_labels, by_size, shared_items
from partita.partitions.numbering import data_frame
from partita.partitions.types import LabelsLike

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
        return ball_at(
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
        return data_frame(rows, of="the bounds")

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


def ball_at(
    center: Labels,
    loss: Loss,
    prob: float,
    distances: NDArray[np.float64],
    draws: Draws,
    levels: Levels,
) -> CredibleBall:
    """The ball of a probability around a partition, from the distances of the draws."""
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
