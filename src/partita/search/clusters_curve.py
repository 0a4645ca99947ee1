"""The best partition for each number of clusters, and which numbers are as good as the best."""

from __future__ import annotations

from collections.abc import Iterable

from partita._progress import Status
from partita._validate import Rng, number, seconds, shown, whole
from partita.draws import as_draws
from partita.errors import InvalidInputError, NotSupportedError
from partita.labels import DrawsLike, Labels, canonical
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.posterior import Posterior, as_posterior
from partita.scan import fetched, near
from partita.search.curve_result import ClustersCurve
from partita.search.curve_search import best_for_each, measured, plateau_around
from partita.search.methods.registry import as_method
from partita.search.task import free_task

MORE = 4
"""Numbers of clusters above that of the estimate that are tried by default."""


MOST_DRAWS = 500
"""Draws on which the short curve searches; all of them measure what it found."""


def clusters_curve(
    draws: DrawsLike,
    *,
    k: Iterable[int] | None = None,
    loss: str | Loss = "vi",
    tolerance: float | None = None,
    n_starts: int = 16,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> ClustersCurve:
    r"""Find the best partition for each number of clusters, and say which are as good as the best.

    .. math:: g_k = \min_{c:\ |c| = k} \sum_m w_m\, L(c_m, c)

    Choose it when a number of clusters must be reported: a flat curve means
    that the data do not decide between its numbers.

    Parameters
    ----------
    draws : Draws, array_like or path
        Anything :func:`as_draws` accepts.
    k : iterable of int, optional
        Numbers of clusters; by default 1 to four more than the estimate has.
    loss : str or Loss, default "vi"
    tolerance : float, optional
        The excess, in the unit of the loss, up to which a k belongs to the
        plateau. By default two Monte Carlo standard errors of that excess.
    n_starts : int, default 16
        Most starts of the search without a given k.
    time_limit : float, optional
        Seconds after which the best so far is taken for every k.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    ClustersCurve

    Notes
    -----
    One search without a given k, then for each k walks of a few sweeps of
    O(M N K): from what that search found, from a cut of average linkage, and
    from the best partitions of the numbers beside it. The standard error is
    that of the mean of paired losses over the draws, with their effective
    number (Kish's for weighted draws).

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2, 2]] * 10 + [[0, 0, 1, 1, 1, 1]]
    >>> curve = pt.clusters_curve(draws, k=range(1, 4))
    >>> curve.headline
    '3 clusters; no other number that was tried is within two standard errors'
    """
    measure = as_loss(loss)
    if not measure.averages_distances:
        raise NotSupportedError(
            f"the expected {measure.title} is no mean over draws, so it has no Monte Carlo error.",
            argument="loss",
        )
    if tolerance is not None and not number(tolerance, "tolerance") >= 0:
        raise InvalidInputError(
            f"tolerance={tolerance!r}; expected a number of at least 0.", argument="tolerance"
        )
    time_limit = seconds(time_limit)
    given = as_draws(draws)
    wanted = None if k is None else _clean_numbers(k, given.n_items)
    with Status("clusters curve", progress) as status:
        given = fetched(given, "clusters_curve", status.say)
        starts = whole(n_starts, "n_starts", least=1)
        task = free_task(given.unique(), measure, starts, n_jobs, rng, time_limit, status.say)
        free = list(as_method("auto", measure)(task))
        best = min(free, key=lambda c: task.evaluate(c.labels))
        most = min(given.n_items, int(best.labels.max()) + 1 + MORE)
        numbers = list(range(1, most + 1)) if wanted is None else wanted
        rows = best_for_each(task, numbers, best.labels, free)
        return measured(
            as_posterior(given, n_jobs), measure, rows, best.labels, tolerance, task.clock.seconds
        )


def plateau(
    posterior: Posterior,
    labels: Labels,
    *,
    loss: Loss,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> ClustersCurve:
    """A short curve around an estimate: its plateau, and fewer clusters that cost little.

    Parameters
    ----------
    posterior : Posterior
    labels : ndarray of int, shape (n_items,)
        The estimate.
    loss : Loss
        A mean over draws.
    time_limit, n_jobs, progress, rng
        As in :func:`clusters_curve`.

    Returns
    -------
    ClustersCurve
        For numbers of clusters around that of the estimate. Partitions are
        searched for on every so many-th draw and measured on all.
    """
    draws = posterior.draws
    many = draws.n_draws > MOST_DRAWS
    sample = posterior.near.distinct
    if many:
        sample = near(draws[:: -(-draws.n_draws // MOST_DRAWS)]).unique()
    with Status("clusters curve", progress) as status:
        known = None if many else posterior.near
        task = free_task(sample, loss, 1, n_jobs, rng, time_limit, status.say, known)
        return plateau_around(task, posterior, canonical(labels))


def _clean_numbers(k: Iterable[int], n_items: int) -> list[int]:
    if isinstance(k, (str, bytes)) or not isinstance(k, Iterable):
        raise InvalidInputError(
            f"k={shown(k)}; expected numbers of clusters, as in range(1, 9).", argument="k"
        )
    numbers = sorted({whole(n, "k", least=1, most=n_items) for n in k})
    if not numbers:
        raise InvalidInputError(
            "k is empty; expected numbers of clusters, as in range(1, 9).", argument="k"
        )
    return numbers
