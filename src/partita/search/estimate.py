"""Point estimation: search, strict evaluation of what was found, proof and report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from partita._progress import Status
from partita._resources import Clock
from partita._validate import Rng, choice_or_none, generator, integer, number, seconds, shown
from partita.draws import is_features
from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError
from partita.features.draws import FeatureDraws, as_features, partitions_only
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels, LabelsLike, as_label_rows, by_size, relabel
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, as_similarity, loss_names
from partita.posterior import Posterior, as_posterior
from partita.scan import gather_for, is_remote
from partita.search import best_draw, blockwise, exact, hasse, linkage, settings
from partita.search.bounds import lower_bound
from partita.search.constraints import clean_constraints, search_constrained
from partita.search.result import (
    PointEstimate,
    SearchReport,
    Start,
    constraints_in_words,
    is_proven,
)
from partita.search.task import (
    Candidate,
    Options,
    Task,
    distinct_candidates,
    run_interruptible,
    tied,
)

if TYPE_CHECKING:
    from partita.features.estimate import FeatureEstimate


from partita._tolerance import SUM
from partita.labels import canonical
from partita.losses.builtin import VI, Binder

T = TypeVar("T")


@overload
def estimate(
    draws: FeatureDraws,
    *,
    loss: str | Loss | None = None,
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    starts: Any = None,
    n_starts: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> FeatureEstimate: ...


@overload
def estimate(
    draws: DrawsLike | None = None,
    *,
    loss: str | Loss | None = None,
    method: str = "auto",
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    similarity: ArrayLike | None = None,
    starts: LabelsLike | None = None,
    n_starts: int | None = None,
    max_clusters: int | None = None,
    n_clusters: int | None = None,
    min_size: int = 1,
    fewest_within: float | None = None,
    neighbours: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PointEstimate: ...


def estimate(
    draws: DrawsLike | FeatureDraws | None = None,
    *,
    loss: str | Loss | None = None,
    method: str = "auto",
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    similarity: ArrayLike | None = None,
    starts: LabelsLike | None = None,
    n_starts: int | None = None,
    max_clusters: int | None = None,
    n_clusters: int | None = None,
    min_size: int = 1,
    fewest_within: float | None = None,
    neighbours: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PointEstimate | FeatureEstimate:
    r"""Find the partition that minimises the posterior expected loss, with a proven lower bound.

    .. math:: c^* = \arg\min_c \sum_m w_m\, L(c_m, c)

    Parameters
    ----------
    draws : Draws, array_like or path, shape (n_draws, n_items)
        Anything :func:`as_draws` accepts, or FeatureDraws, whose estimate is a FeatureEstimate:
        then ``method`` and what constrains clusters have no meaning, "auto" proves as "fast"
        does, and ``n_starts`` (16 where left out) are the draws from which the search begins.
        Equal draws are merged first.
    loss : str or Loss, optional
        "vi" by default, and "faro" for FeatureDraws.
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
    n_starts : int, optional
        64 by default. The search ends after this many restarts in a row that found nothing lower
        (four times as many for NVI, ID, NID and 1 − ARI), or after work in proportion to it;
        sooner where three kinds of starts met and the first restarts (a sixteenth of this number,
        of NVI, ID, NID and 1 − ARI a quarter) all return. A larger number means a longer search.
    max_clusters : int, optional
        No cap by default. A cap that binds is reported in ``search.limits``.
    n_clusters : int, optional
        Exactly this many clusters, for the methods "auto" and "sweep".
    min_size : int, default 1
        No cluster with fewer items, for the methods "auto" and "sweep". What
        this or ``n_clusters`` costs is said in ``search.limits``.
    fewest_within : float, optional
        The partition of the fewest clusters found whose expected loss is at most this share above
        the lowest: 0.01 allows one percent. An item that no cluster holds in half of the draws is
        cheapest alone, so that the minimum can have more clusters than any draw; this
        partition does not.
    neighbours : int, optional
        Neighbours of each kind that "hasse" considers, the paper's l; 2 n_items by default.
    time_limit : float, optional
        Seconds after which the best so far is returned, with the bound proven by then. The first
        call after an installation compiles as well, for ten seconds or more, which no limit ends;
        :func:`warmup` does so beforehand. Without a limit, searches among partitions of very many
        clusters end after much work, which ``search.limits`` then says.
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
    again: some items at random, clusters, a draw's cluster, or an item with those
    most often with it are moved, single items descend, and what is lower is kept.
    Under NVI, ID, NID and 1 − ARI two items also change places, and there is tabu search.

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
    if is_features(draws):
        from partita.features.estimate import estimate_features

        partitions_only(
            method=(method, "auto"),
            similarity=(similarity, None),
            max_clusters=(max_clusters, None),
            n_clusters=(n_clusters, None),
            min_size=(min_size, 1),
            fewest_within=(fewest_within, None),
            neighbours=(neighbours, None),
        )
        return estimate_features(
            as_features(draws),
            loss=loss,
            bound=bound,
            starts=starts,
            n_starts=n_starts,
            time_limit=time_limit,
            n_jobs=n_jobs,
            progress=progress,
            rng=rng,
        )
    measure = as_loss("vi" if loss is None else loss)
    n_starts = 64 if n_starts is None else n_starts
    search = as_method(method, measure)
    bound = choice_or_none(bound, "bound", ("auto", "fast", "tight"))
    posterior, matrix = _posterior_or_matrix(draws, similarity, measure, n_jobs)
    n_items = len(matrix) if posterior is None else posterior.draws.n_items
    near = None if neighbours is None else integer(neighbours, "neighbours", least=1)
    options = _clean_options(n_items, starts, n_starts, max_clusters, near, n_jobs)
    rules = clean_constraints(n_items, n_clusters, min_size, max_clusters, method)
    share = _clean_share(fewest_within, rules, posterior, max_clusters)
    with Status("estimate", progress) as status:
        constrained = rules is not None or share is not None
        if constrained and posterior is not None and is_remote(posterior.draws):
            asked = "estimate with n_clusters=, min_size= or fewest_within="
            posterior = Posterior(gather_for(posterior.draws, asked, status.say), n_jobs)
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
        candidates = _run_search(task, search)
        if rules is not None:
            candidates, task.log.settled = search_constrained(task, rules, candidates), None
        found = outcome(task, candidates, posterior, method, bound)
        constraints = constraints_in_words(n_clusters, min_size, max_clusters)
        found = replace(found, constraints=constraints)
        if share is None or posterior is None:
            return found
        return _with_fewest(task, posterior, found, share)


def _with_fewest(
    task: Task, posterior: Posterior, found: PointEstimate, share: float
) -> PointEstimate:
    """The partition of the fewest clusters within a share of the lowest loss."""
    from partita.search.clusters_curve import fewest_clusters

    labels = by_size(fewest_clusters(task, posterior, relabel(found.labels), share))
    labels.flags.writeable = False
    return replace(
        found,
        labels=labels,
        expected_loss=posterior.expected(task.loss, labels),
        ties=np.empty((0, labels.size), np.int32),
        constraints=(f"the fewest clusters within {100 * share:g}% of the lowest loss found",),
    )


def _clean_share(
    share: float | None, rules: object, posterior: Posterior | None, max_clusters: int | None
) -> float | None:
    if share is None:
        return None
    if rules is not None or max_clusters is not None or posterior is None:
        raise InvalidInputError(
            "fewest_within chooses the number of clusters: it needs draws, and no n_clusters, "
            "min_size or max_clusters.",
            argument="fewest_within",
        )
    return number(share, "fewest_within")


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
            f"draws. Losses that can: {loss_names(lambda known: known.uses_similarity)}.",
            argument="loss",
        )
    return None, as_similarity(similarity)  # type: ignore[arg-type] # one of the two is there


def _clean_options(
    n_items: int,
    starts: LabelsLike | None,
    n_starts: int,
    max_clusters: int | None,
    neighbours: int | None,
    n_jobs: int | None,
) -> Options:
    given = np.empty((0, n_items), np.int32)
    if starts is not None:
        given = as_label_rows(starts, n_items=n_items, argument="starts")
    n_starts = integer(n_starts, "n_starts", least=1)
    if max_clusters is not None:
        max_clusters = integer(max_clusters, "max_clusters", least=1)
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
    return Options(n_starts, given, max_clusters, neighbours, n_jobs)


def _run_search(task: Task, search: Any) -> list[Candidate]:
    """What the method found; after Ctrl-C outside its threads, what it had recorded."""
    try:
        return list(search(task))
    except KeyboardInterrupt:
        task.clock.interrupt()
        if not task.log.found:
            raise
        return task.log.found


def outcome(
    task: Task,
    candidates: list[Candidate],
    posterior: Posterior | None,
    method: str,
    bound: str | None,
) -> PointEstimate:
    """The best of the candidates, as it is reported."""
    cut_short = task.clock.interrupted
    unique = distinct_candidates(candidates)

    def evaluated() -> tuple[list[float], float]:
        """The candidates' losses, and the lowest over the draws as they were given."""
        losses = [task.evaluate(c.labels) for c in unique]
        best = int(np.argmin(losses))
        if posterior is None:
            return losses, losses[best]
        return losses, posterior.expected(task.loss, unique[best].labels)

    # In threads, as everything from here on: Ctrl-C then ends the proof, and loses no result.
    losses, value = run_interruptible(task, evaluated, "evaluating")
    value_of = {c.labels.tobytes(): loss for c, loss in zip(unique, losses, strict=True)}
    ranked = sorted(unique, key=lambda c: value_of[c.labels.tobytes()])
    best = ranked[0].labels
    near = tied(min(losses), task.loss)
    ties = [c.labels for c in ranked[1:] if value_of[c.labels.tobytes()] <= near]
    searched = task.clock.seconds
    lower = _proof(task, best, value, bound)
    if task.options.max_clusters == int(best.max()) + 1:
        cap = f"max_clusters={task.options.max_clusters}"
        task.log.limit(f"{cap} was reached; without it the minimum may be lower")
    agreed = [c for c in candidates if value_of[c.labels.tobytes()] <= near]
    report = SearchReport(
        starts=tuple(_start(c, value_of[c.labels.tobytes()]) for c in candidates),
        agreed=len(agreed),
        agreed_kinds=tuple(dict.fromkeys(c.origin for c in agreed)),
        sweeps=task.log.n_evaluated / task.n_items,
        seconds=searched,
        bound_seconds=task.clock.seconds - searched,
        limits=tuple(task.log.limits),
        interrupted=cut_short,
        settled=task.log.settled,
        restarts=task.log.restarts,
    )
    reported = by_size(best)
    reported.flags.writeable = False
    return PointEstimate(
        labels=reported,
        expected_loss=value,
        lower_bound=lower,
        loss=task.loss,
        method=method,
        ties=by_size(np.array(ties, np.int32)) if ties else np.empty((0, task.n_items), np.int32),
        search=report,
        item_names=None if posterior is None else posterior.draws.item_names,
        kind="posterior" if posterior is None else posterior.draws.kind,
    )


def _proof(task: Task, labels: Labels, value: float, bound: str | None) -> float | None:
    """The best bound known; never below 0 or above the loss, where rounding might put it."""
    known = [task.log.proven] if np.isfinite(task.log.proven) else []
    already = known and is_proven(value, known[0], task.loss)
    if bound is not None and not already:
        if task.clock.is_up():
            task.log.limit("time: there was none left for a proof")
        else:
            known.extend(_computed_bound(task, labels, value, bound))
    return min(max(0.0, *known), value) if known else None


def _computed_bound(task: Task, labels: Labels, value: float, bound: str) -> list[float]:
    computed = run_interruptible(
        task, lambda: lower_bound(task, labels, value, bound), "proving a lower bound"
    )
    if task.clock.is_up():
        task.log.limit("time: the proof was cut short; its bound is the best it had")
    return [] if computed is None else [computed]


def _start(candidate: Candidate, value: float) -> Start:
    return Start(candidate.origin, value, int(candidate.labels.max()) + 1)


# ------------------------------------------------------------------ local search by evaluation


EVALUATION_LIMIT = (
    "searched by evaluation: a local minimum under moves of single items, without a lower bound"
)
"""Limit that a search by evaluation reports."""


class CachedLosses:
    """Expected losses of the partitions looked at, each evaluated once."""

    def __init__(self, task: Task) -> None:
        assert task.draws is not None
        self._task = task
        self._draws = task.draws
        self._value: dict[bytes, float] = {}

    def __call__(self, labels: Labels) -> float:
        """The expected loss of a partition."""
        key = labels.tobytes()
        if key not in self._value:
            self._value[key] = self._task.loss.expected(labels, self._draws, 1)
            self._task.log.n_evaluated += 1
            self._task.report(f"{len(self._value):,} partitions evaluated")
        return self._value[key]


def search_by_evaluation(task: Task) -> list[Candidate]:
    """Evaluate candidates of every kind, then move items of the best."""
    value = CachedLosses(task)
    candidates = []
    for candidate in _evaluated_candidates(task):
        value(candidate.labels)
        candidates.append(candidate)
        task.log.found.append(candidate)
        if task.clock.is_up():
            break
    task.log.limit(EVALUATION_LIMIT)
    ranked = sorted(candidates, key=lambda c: value(c.labels))
    best = distinct_candidates(ranked)[: settings.LEADING]
    moved = [Candidate(_descend_by_evaluation(task, value, c.labels), c.origin) for c in best]
    return [*moved, *candidates]


def _evaluated_candidates(task: Task) -> list[Candidate]:
    """The user's partitions, the two ends, minimisers and linkage cuts of two losses, draws."""
    n, cap = task.n_items, task.max_clusters
    found = [Candidate(row, "user") for row in task.options.starts]
    found.append(Candidate(np.zeros(n, np.int32), "one cluster"))
    if cap >= n:
        found.append(Candidate(np.arange(n, dtype=np.int32), "singletons"))
    losses: tuple[Loss, ...] = (VI(), Binder())
    for other in losses:
        nearby = task.under(other)
        kinds = [min(blockwise.search(nearby), key=lambda c: nearby.evaluate(c.labels))]
        if n <= settings.MATRIX_ITEMS:
            kinds += linkage.search_average(nearby)[:1] + linkage.search_complete(nearby)[:1]
        found += [Candidate(c.labels, f"{c.origin} under {other!r}") for c in kinds]
    assert task.draws is not None
    few = np.flatnonzero(task.draws.n_clusters <= cap)
    heavy = few[np.argsort(-task.draws.probabilities[few], kind="stable")]
    for m in heavy[: task.options.n_starts]:
        found.append(Candidate(task.draws.rows(int(m), int(m) + 1)[0], "draw"))
    return found


def _descend_by_evaluation(task: Task, value: CachedLosses, start: Labels) -> Labels:
    """Move single items, each to its best cluster, until none moves or time is up."""
    labels, cap = start, task.max_clusters
    settled = 0
    order = task.rng.permutation(task.n_items)
    while settled < order.size:
        for item in order:
            if task.clock.is_up():
                return labels
            best = min(_moves(labels, int(item), cap), key=value, default=labels)
            settled += 1
            if value(best) < value(labels) - SUM * abs(value(labels)):
                labels, settled = best, 0
            if settled == order.size:
                break
    return labels


def _moves(labels: Labels, item: int, cap: int) -> list[Labels]:
    """The partitions in which the item has moved to another cluster, or to its own."""
    k = int(labels.max()) + 1
    alone = int((labels == labels[item]).sum()) == 1
    targets = [t for t in range(k) if t != labels[item]]
    if not alone and k < cap:
        targets.append(k)
    moved = []
    for target in targets:
        other = labels.copy()
        other[item] = target
        moved.append(canonical(other))
    return moved


# ------------------------------------------------------------------ search methods by name


Method = Callable[[Task], Sequence[Candidate]]
"""Proposes partitions; `estimate` evaluates them and keeps the best."""


def search_auto(task: Task) -> Sequence[Candidate]:
    """The exact minimum of few items; iterated local search for more."""
    found = exact.search_few(task) if task.n_items <= settings.EXACT_ITEMS else None
    return blockwise.search(task) if found is None else found


def search_brief(task: Task) -> Sequence[Candidate]:
    """Search as "auto" does, but do not move items on all draws where labels are many."""
    return (
        search_auto(task)
        if task.n_items <= settings.EXACT_ITEMS
        else blockwise.search(task, brief=True)
    )


METHODS: dict[str, Method] = {
    "auto": search_auto,
    "brief": search_brief,
    "sweep": blockwise.search,
    "hasse": hasse.search,
    "draws": best_draw.search,
    "average": linkage.search_average,
    "complete": linkage.search_complete,
    "ilp": exact.search_ilp,
    "enumerate": exact.search,
}


BY_EVALUATION: dict[str, Method] = {
    "auto": search_by_evaluation,
    "brief": search_by_evaluation,
    "draws": best_draw.search,
}
"""The methods for losses that are not a function of the three sums."""


def as_method(name: str, loss: Loss) -> Method:
    """A method by its name, for a loss."""
    if isinstance(name, str) and name in METHODS:
        if loss.form(1) is not None:
            return METHODS[name]
        if name in BY_EVALUATION:
            return BY_EVALUATION[name]
        raise NotSupportedError(
            f"method={name!r} needs a loss of cluster sizes and their intersections, and "
            f"{loss!r} is measured by evaluation; use method='auto' or 'draws'.",
            argument="method",
        )
    known = ", ".join(repr(m) for m in METHODS)
    raise UnknownNameError(
        f"unknown method {shown(name)}; expected one of {known}.", argument="method"
    )
