"""The front door of point estimation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from partita._progress import Status
from partita._validate import Rng, choice_or_none, generator, seconds, whole
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, LabelsLike, as_label_rows
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, as_similarity, named
from partita.posterior import Posterior, as_posterior
from partita.scan import fetched, is_remote
from partita.search.constraints import clean_rules, within
from partita.search.methods.registry import as_method
from partita.search.outcome import outcome
from partita.search.result import PointEstimate, constraints_in_words
from partita.search.task import Candidate, Clock, Options, Task

T = TypeVar("T")


def estimate(
    draws: DrawsLike | None = None,
    *,
    loss: str | Loss = "vi",
    method: str = "auto",
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    similarity: ArrayLike | None = None,
    starts: LabelsLike | None = None,
    n_starts: int = 64,
    max_clusters: int | None = None,
    n_clusters: int | None = None,
    min_size: int = 1,
    neighbours: int | None = None,
    l: int | None = None,  # noqa: E741 - the paper's name
    max_iter: int = 10_000,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PointEstimate:
    r"""Find the partition that minimises the posterior expected loss, and prove how good it is.

    .. math:: c^* = \arg\min_c \sum_m w_m\, L(c_m, c)

    Parameters
    ----------
    draws : Draws, array_like or path, shape (n_draws, n_items)
        Anything :func:`as_draws` accepts. Equal draws are merged first.
    loss : str or Loss, default "vi"
    method : str, default "auto"
        "auto" is an iterated local search from several kinds of starts (and
        takes the exact minimum of all partitions of up to 10 items); "brief" the same, but more
        than 50,000 items are placed by a sample of them and of the draws, and
        not moved on all draws; "sweep" without the exact minimum; "hasse" is the
        paper's greedy search; "draws" takes the best draw; "average" and
        "complete" the best cut of a linkage; "ilp" proves Binder's optimum;
        "enumerate" tries all partitions of at most 12 items.
    bound : "auto", "fast", "tight" or None, default "auto"
        How hard to prove a lower bound, each within a fixed amount of work and
        not of time, so that it is the same on every machine. "fast" takes some
        hundredths of a second, a second at most where Binder's loss is hard;
        "auto" goes on for VI by at most about a third of a second; "tight" may
        take a minute. VI (any a), NVI, ID, NID and Binder (any a) have a
        bound. VI_LB, 1 − ARI and 1 − PEAR have none: they are not metrics and
        not linear in the pairs.
    similarity : array_like, shape (n_items, n_items), optional
        A similarity matrix instead of draws, for losses that need no more, such as "binder".
    starts : array_like, shape (n, n_items), optional
        Partitions to start from, besides the method's own starts.
    n_starts : int, default 64
        The search ends after this many restarts in a row that found nothing lower (four times
        as many for NVI, ID, NID and 1 − ARI), or after work in proportion to it. A larger
        number means a longer search.
    max_clusters : int, optional
        No cap by default. A cap that binds is reported in ``search.limits``.
    n_clusters : int, optional
        Exactly this many clusters, for the methods "auto" and "sweep".
    min_size : int, default 1
        No cluster with fewer items, for the methods "auto" and "sweep". What
        this or ``n_clusters`` costs is said in ``search.limits``.
    neighbours, l : int, optional
        Neighbours of each kind that "hasse" considers; 2 n_items by default. ``l`` is the
        paper's name for it.
    max_iter : int, default 10,000
        Most moves of one "hasse" search.
    time_limit : float, optional
        Seconds after which the best so far is returned, with the bound proven by then. Without
        one, walks among partitions of very many clusters end after much work, which
        ``search.limits`` then says.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    PointEstimate

    Notes
    -----
    A sweep costs O(M N K); no N × N matrix is built unless the loss needs it
    ("vi_lb"), or it is cheap (up to 2,000 items). Ctrl-C returns the best so
    far, marked as interrupted; during the proof, the estimate with the bound
    proven by then.

    Starts are of different kinds: cuts of average linkage, one cluster,
    singletons, draws, items placed one by one, and the minimisers of
    neighbouring prices or losses. From the best ends the search restarts again and
    again: some items at random, two clusters, a draw's cluster, or an item with those
    most often with it are moved, single items descend, and what is lower is kept.
    NVI, ID, NID and 1 − ARI also use tabu search.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> best = pt.estimate(draws)
    >>> best.labels
    array([0, 0, 1, 1], dtype=int32)
    >>> best.is_proven_optimal
    True
    """
    measure = as_loss(loss)
    search = as_method(method, measure)
    bound = choice_or_none(bound, "bound", ("auto", "fast", "tight"))
    posterior, matrix = _posterior_or_matrix(draws, similarity, measure, n_jobs)
    n_items = len(matrix) if posterior is None else posterior.draws.n_items
    near = _neighbours(neighbours, l)
    options = _clean_options(n_items, starts, n_starts, max_clusters, near, max_iter, n_jobs)
    rules = clean_rules(n_items, n_clusters, min_size, max_clusters, method)
    with Status("estimate", progress) as status:
        if rules is not None and posterior is not None and is_remote(posterior.draws):
            asked = "estimate with n_clusters= or min_size="
            posterior = Posterior(fetched(posterior.draws, asked, status.say), n_jobs)
        task = Task(
            draws=None if posterior is None else posterior.distinct,
            given_similarity=matrix if posterior is None else None,
            loss=measure,
            options=options,
            rng=generator(rng),
            clock=Clock(seconds(time_limit)),
            report=status.say,
            posterior=posterior,
        )
        candidates = _searched(task, search)
        if rules is not None:
            candidates, task.settled = within(task, rules, candidates), None
        found = outcome(task, candidates, posterior, method, bound)
        constraints = constraints_in_words(n_clusters, min_size, max_clusters)
        return replace(found, constraints=constraints)


def _posterior_or_matrix(
    draws: DrawsLike | None, similarity: ArrayLike | None, loss: Loss, n_jobs: int | None
) -> tuple[Posterior | None, Floats]:
    if (draws is None) == (similarity is None):
        raise InvalidInputError(
            "give either draws or similarity=..., "
            + ("not both." if draws is not None else "one is needed."),
            argument="draws",
        )
    if draws is not None:
        return as_posterior(draws, n_jobs).near, np.empty((0, 0))
    if not loss.uses_similarity:
        raise NotSupportedError(
            f"the expected {loss.title} cannot be minimised from a similarity matrix; it needs the "
            f"draws. Losses that can: {named(lambda known: known.uses_similarity)}.",
            argument="loss",
        )
    return None, as_similarity(similarity)  # type: ignore[arg-type] # one of the two is there


def _neighbours(neighbours: int | None, paper_name: int | None) -> int | None:
    if neighbours is not None and paper_name is not None:
        raise InvalidInputError(
            f"neighbours={neighbours} and l={paper_name} are two names of one setting; give one.",
            argument="neighbours",
        )
    if neighbours is not None:
        return whole(neighbours, "neighbours", least=1)
    return None if paper_name is None else whole(paper_name, "l", least=1)


def _clean_options(
    n_items: int,
    starts: LabelsLike | None,
    n_starts: int,
    max_clusters: int | None,
    neighbours: int | None,
    max_iter: int,
    n_jobs: int | None,
) -> Options:
    given = np.empty((0, n_items), np.int32)
    if starts is not None:
        given = as_label_rows(starts, n_items=n_items, argument="starts")
    n_starts = whole(n_starts, "n_starts", least=1)
    max_iter = whole(max_iter, "max_iter", least=1)
    if max_clusters is not None:
        max_clusters = whole(max_clusters, "max_clusters", least=1)
    if max_clusters is not None and max_clusters > n_items:
        raise InvalidInputError(
            f"max_clusters={max_clusters!r}, but there are only {n_items} items; "
            "leave it out when there is no limit.",
            argument="max_clusters",
        )
    too_fine = max_clusters is not None and len(given) and int(given.max()) >= max_clusters
    if too_fine:
        raise InvalidInputError(
            f"a partition in starts has {int(given.max()) + 1} clusters, more than "
            f"max_clusters={max_clusters!r}.",
            argument="starts",
        )
    return Options(n_starts, given, max_clusters, neighbours, max_iter, n_jobs)


def _searched(task: Task, search: Any) -> list[Candidate]:
    """What the method found; after Ctrl-C outside its threads, what it had recorded."""
    try:
        return list(search(task))
    except KeyboardInterrupt:
        task.clock.interrupted = True
        if not task.found:
            raise
        return task.found
