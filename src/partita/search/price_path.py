"""Every optimal partition for every price: the lower convex hull of (A, B)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from partita._parallel import count_jobs
from partita._progress import Status
from partita._validate import Rng, choice_or_none, number, seconds, whole
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.losses.registry import as_loss, named
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.fetching import fetched
from partita.partitions.labels import by_size
from partita.partitions.types import DrawsLike
from partita.search.hull import Point, hull
from partita.search.lower_bounds.bound import lower_bound
from partita.search.methods.registry import ENUMERATED_ITEMS
from partita.search.path_result import PricePath
from partita.search.path_search import every_partition, searched
from partita.search.task import Task, free_task, shielded


def price_path(
    draws: DrawsLike,
    *,
    loss: str | Loss = "vi",
    low: float = 0.0,
    high: float = 2.0,
    n_starts: int = 16,
    bound: Literal["auto", "fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PricePath:
    r"""Find every partition that is optimal for some price of splitting.

    For a loss with a price the posterior expected loss of a partition c is

    .. math:: a\,A(c) + (2 - a)\,B(c)

    with A the expected loss for splitting true clusters and B for merging
    them. The optimum :math:`g(a) = \min_c` is concave and piecewise linear,
    and the partitions that are optimal for some a are the corners of the lower
    convex hull of the points (A, B). The search solves at the crossing of two
    neighbours, again and again until nothing lower is found.

    Choose it to see whether someone with another taste would report another
    number of clusters, and how firmly an estimate stands.

    Parameters
    ----------
    draws : Draws, array_like or path
        Anything :func:`as_draws` accepts. Equal draws are merged first.
    loss : str or Loss, default "vi"
        A loss with a price: "vi", "binder", :class:`Entropy`, :class:`Additive`.
        Its own price does not matter.
    low, high : float
        Prices between which the path is sought; all of 0 to 2 by default.
    n_starts : int, default 16
        Most starts of the searches that the path begins with.
    bound : "auto", "fast", "tight" or None, default "fast"
        How hard to prove lower bounds at the breakpoints and at both ends, as in
        :func:`estimate`, at each of them.
    time_limit : float, optional
        Seconds after which the path found so far is returned.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    PricePath

    Notes
    -----
    About two walks for each breakpoint on a sample of the draws, each a few
    sweeps of O(M N K); then all single moves of every corner on all draws. Where
    draws × items × clusters exceed 80 million, corners are only measured on all
    draws: with thousands of draws the corners of very low prices, mostly single
    items, may then be missed or lie a percent above the optimum. Up to 8 items
    all partitions are compared, and the path is proven. k along Binder's path
    need not fall with a.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.
    Dahl, D. B., Johnson, D. J. and Müller, P. (2022), Search algorithms and
    loss functions for Bayesian clustering. Journal of Computational and
    Graphical Statistics 31.

    Examples
    --------
    >>> import partita as pt
    >>> path = pt.price_path([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> path.n_clusters
    array([3, 2, 1])
    >>> path.gap
    0.0
    """
    measure = as_loss(loss)
    if not measure.has_price:
        raise NotSupportedError(
            f"{measure!r} has no price of splitting, so it has no path; losses that have: "
            f"{named(lambda known: known.has_price)}, Entropy(…), Additive(…).",
            argument="loss",
        )
    bound = choice_or_none(bound, "bound", ("auto", "fast", "tight"))
    low, high = number(low, "low"), number(high, "high")
    if not 0.0 <= low < high <= 2.0:
        raise InvalidInputError(
            f"low={low!r}, high={high!r}; expected 0 ≤ low < high ≤ 2.", argument="low"
        )
    time_limit = seconds(time_limit)
    count_jobs(n_jobs)
    given = as_draws(draws)
    with Status("price path", progress) as status:
        given = fetched(given, "price_path", status.say)
        starts = whole(n_starts, "n_starts", least=1)
        task = free_task(given.unique(), measure, starts, n_jobs, rng, time_limit, status.say)
        return _path(task, given, low, high, bound)


def _path(task: Task, given: Draws, low: float, high: float, bound: str | None) -> PricePath:
    assert task.draws is not None
    exact = task.n_items <= ENUMERATED_ITEMS
    pool = every_partition(task.draws, task.loss) if exact else searched(task, low, high)
    corners, breaks = hull(list(pool.values()), low, high)
    cut_short = task.clock.interrupted
    bounds = None
    if exact:
        bounds = np.array([c.at(a) for c, a in zip(corners[1:], breaks, strict=True)])
    elif bound is not None:
        bounds = _proven(task, corners, breaks, bound)
    labels = by_size(np.stack([c.labels for c in corners]))
    return PricePath(
        labels=labels,
        n_clusters=labels.max(axis=1).astype(np.int64) + 1,
        breakpoints=np.array(breaks, np.float64),
        splitting=np.array([c.splitting for c in corners]),
        merging=np.array([c.merging for c in corners]),
        low=low,
        high=high,
        lower_bounds=bounds,
        loss=task.loss,
        n_seen=len(pool),
        seconds=task.clock.seconds,
        interrupted=cut_short,
        item_names=given.item_names,
        _draws=task.draws,
    )


def _proven(task: Task, corners: list[Point], breaks: list[float], bound: str) -> Floats:
    """Lower bounds at the breakpoints; nothing is proven where time has run out."""
    bounds = np.zeros(len(breaks))
    for j, (corner, a) in enumerate(zip(corners[1:], breaks, strict=True)):
        if task.clock.is_up():
            break
        at = replace(task, loss=task.loss.with_price(a), posterior=None, limits=[], _distances={})
        value = corner.at(a)
        prove = partial(lower_bound, at, corner.labels, value, bound)
        say = f"proving breakpoint {j + 1} of {len(breaks)}"
        found = shielded(task, prove, say)
        bounds[j] = 0.0 if found is None else min(found, value)
    return bounds
