"""Credible balls around a partition."""

from __future__ import annotations

from typing import Any

from partita.credible.ball_result import CredibleBall, ball_at
from partita.credible.levels import clean_prob, find_levels, tie_tolerance
from partita.errors import NotSupportedError
from partita.losses.base import Loss
from partita.losses.posterior import as_posterior
from partita.losses.registry import as_loss, named
from partita.losses.vi import VI
from partita.partitions.labels import as_labels
from partita.partitions.types import DrawsLike, LabelsLike


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
    posterior = as_posterior(draws, n_jobs)
    clean = posterior.draws
    level = clean_prob(prob)
    metric = _metric(center, loss)
    middle = as_labels(center, n_items=clean.n_items, argument="center")
    distances = posterior.distances(metric, middle)
    levels = find_levels(distances, clean, tie_tolerance(metric))
    return ball_at(middle, metric, level, distances, clean, levels)


def _metric(center: Any, loss: str | Loss | None) -> Loss:
    """The metric of the ball, or an error that says why the loss cannot have one."""
    asked = getattr(center, "loss", None) if loss is None else loss
    measure = VI() if asked is None else as_loss(asked)
    metric = measure.ball_metric() if loss is None else measure
    if metric is None or not metric.is_metric:
        raise NotSupportedError(
            f"{measure!r} is no metric, so a ball around a partition has no meaning under it: "
            "it is not symmetric or breaks the triangle inequality. "
            f"Pass loss='vi' or another metric: {named(lambda known: known.is_metric)}, "
            "with a = 1.",
            argument="loss",
        )
    return metric
