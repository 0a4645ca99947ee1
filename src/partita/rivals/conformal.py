"""p-values of partitions: how strange a hypothesis would be as one more draw."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from partita._validate import choice, positive, whole
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError
from partita.labels import DrawsLike, LabelsLike, as_labels
from partita.losses.base import Loss
from partita.losses.evaluate import as_metric, pairwise_distances
from partita.rivals.exchangeable import thinned
from partita.rivals.p_values import ConformalSet, PValue

RATES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
"""Rates that are tried when none is given, times one over the median distance of two draws."""

QUOTED = 1.0
"""Of these, the one whose p-value is quoted."""

MAX_DRAWS = 2_000
"""Most draws that are scored against each other, by default."""


def p_value(
    draws: DrawsLike,
    labels: LabelsLike,
    *,
    loss: str | Loss = "vi",
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
    draws : Draws, array_like or path
    labels : label vector, estimate or summary
        The hypothesis.
    loss : str or Loss, default "vi"
        A metric.
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
    loss: str | Loss = "vi",
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
    posterior = as_draws(draws)
    measure = as_metric(loss, "closeness needs one")
    method = choice(method, "method", ("kernel", "ball"))
    ready = thinned(posterior, whole(max_draws, "max_draws", least=2))
    if method == "ball":
        return _around(ready.draws, measure, rate, estimate, ready.said, n_jobs)
    if estimate is not None:
        raise InvalidInputError(
            "estimate=... is the centre of a ball; give method='ball' with it.",
            argument="estimate",
        )
    apart = pairwise_distances(ready.draws, loss=measure, n_jobs=n_jobs)
    rates, quoted = clean_rates(rate, apart)
    scores = np.array([np.exp(-r * apart).sum(axis=1) - 1.0 for r in rates])
    return ConformalSet(ready.draws, rates, quoted, scores, None, measure, ready.said)


def clean_rates(rate: float | None, apart: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """The rates to try, and which of them is quoted."""
    if rate is not None:
        return np.array([positive(rate, "rate", "a positive number, such as 0.5")]), 0
    between = apart[np.triu_indices(len(apart), 1)]
    usual = float(np.median(between)) if between.size else 0.0
    if usual <= 0.0:  # most draws are equal: any rate tells them from the others
        usual = float(between.mean()) if between.any() else 1.0
    return RATES / usual, int(np.flatnonzero(RATES == QUOTED)[0])


def _around(
    draws: Draws,
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
            "rate=... is of the kernel; leave it out with method='ball'.",
            argument="rate",
        )
    ranked = draws
    if given is not None:
        center = as_labels(given, n_items=draws.n_items, argument="estimate", what="estimate")
    else:
        if draws.n_draws < 2:
            raise InvalidInputError(
                "one draw cannot both give a centre and be ranked.", argument="draws"
            )
        center = as_labels(estimate(draws[0::2], loss=loss, bound=None, n_jobs=n_jobs))
        ranked = draws[1::2]
        said = f"every other of {said}" if not said.startswith("every") else f"half of {said}"
    scores = -loss.distances(center, ranked, n_jobs)[None, :]
    return ConformalSet(ranked, np.empty(0), 0, scores, center, loss, said)
