"""The best partition for each number of clusters, and which numbers are as good as the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._result import Page, Renamed, Result, Table
from partita._validate import Rng, integer, number, seconds, shown
from partita._wording import Kind, in_list, in_unit, short, words
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError, NotSupportedError, PartitaWarning
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels, by_size, data_frame, relabel
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.posterior import Posterior, as_posterior
from partita.scan import FEW_DRAWS, error_of, gather_for, gather_if_small
from partita.search.constraints import WITHIN, ConstrainedSearch
from partita.search.estimate import as_method
from partita.search.local_search import Constraints
from partita.search.multistart import BRIEF, Effort
from partita.search.task import Candidate, Task, unconstrained_task

if TYPE_CHECKING:
    import pandas as pd


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
    n_starts: int = 64,
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
    n_starts : int, default 64
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
    One search without a given k, then for each k searches of a few sweeps of
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
            f"the expected {measure.title} is not a mean over draws, so it has no Monte Carlo "
            "error.",
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
        given = gather_for(given, "clusters_curve", status.say)
        starts = integer(n_starts, "n_starts", least=1)
        task = unconstrained_task(
            given.unique(), measure, starts, n_jobs, rng, time_limit, status.say
        )
        free = list(as_method("auto", measure)(task))
        best = min(free, key=lambda c: task.evaluate(c.labels))
        most = min(given.n_items, int(best.labels.max()) + 1 + MORE)
        numbers = list(range(1, most + 1)) if wanted is None else wanted
        # As for a single number, one beyond is searched on both sides.
        beyond = {max(1, min(numbers) - 1), min(given.n_items, max(numbers) + 1)}
        own = int(best.labels.max()) + 1
        nearest = min(numbers, key=lambda number: abs(number - own))
        found = _search_numbers(task, sorted({*numbers, *beyond}), best.labels, free, nearest)
        rows = {number: found[number][0].labels for number in numbers if number in found}
        if len(rows) < len(numbers):
            said = f"the time limit allowed {len(rows)} of {len(numbers)} numbers of clusters."
            warn(PartitaWarning(said), stacklevel=2)
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
        searched for on evenly spaced draws and measured on all.
    """
    draws = posterior.draws
    many = draws.n_draws > MOST_DRAWS
    sample = posterior.near.distinct
    if many:
        sample = gather_if_small(draws[:: -(-draws.n_draws // MOST_DRAWS)]).unique()
    with Status("clusters curve", progress) as status:
        known = None if many else posterior.near
        task = unconstrained_task(sample, loss, 1, n_jobs, rng, time_limit, status.say, known)
        return plateau_around(task, posterior, relabel(labels))


def _clean_numbers(k: Iterable[int], n_items: int) -> list[int]:
    if isinstance(k, (str, bytes)) or not isinstance(k, Iterable) or k is np.ma.masked:
        raise InvalidInputError(
            f"k={shown(k)}; expected numbers of clusters, as in range(1, 9).", argument="k"
        )
    numbers = sorted({integer(n, "k", least=1, most=n_items) for n in k})
    if not numbers:
        raise InvalidInputError(
            "k is empty; expected numbers of clusters, as in range(1, 9).", argument="k"
        )
    return numbers


STANDARD_ERRORS = 2.0
"""Standard errors of an excess up to which draws do not tell a number from the best: at an exact
tie a larger difference occurs in 5% of the cases (one standard error: in a third)."""

_LISTED = 4
"""Numbers of clusters whose cost a sentence lists."""

NEAR = 1.0
"""Percent of the expected loss that fewer clusters may cost to be worth a word."""


@dataclass(frozen=True, eq=False, repr=False)
class ClustersCurve(Result):
    """The best partition found for each number of clusters.

    Attributes
    ----------
    k : ndarray of int, shape (n,)
        Numbers of clusters, ascending.
    labels : ndarray of int32, shape (n, n_items)
        The best partition found for each, with labels by size.
    expected_loss : ndarray of float, shape (n,)
    excess : ndarray of float, shape (n,)
        By how much each loses against the estimate, in the unit of the loss.
    standard_error : ndarray of float, shape (n,)
        Monte Carlo standard error of the excess, from the draws' paired
        losses; NaN where the draws are too few to tell.
    distance : ndarray of float, shape (n,)
        Loss of each against the estimate as the truth.
    estimate : ndarray of int32, shape (n_items,)
        The partition with the lowest expected loss of any number of clusters.
    tolerance : float or None
        The excess up to which a k belongs to the plateau; None: two standard errors.
    loss : Loss
    seconds : float
        Time taken.
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> curve = pt.clusters_curve([[0, 0, 1, 1, 2]] * 9 + [[0, 0, 1, 1, 1]] * 8, k=range(1, 5))
    >>> curve.excess.round(3)
    array([1.003, 0.032, 0.   , 0.4  ])
    >>> curve.plateau
    array([2, 3])
    """

    k: NDArray[np.int64]
    labels: NDArray[np.int32]
    expected_loss: NDArray[np.float64]
    excess: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    distance: NDArray[np.float64]
    estimate: Labels
    tolerance: float | None
    loss: Loss
    seconds: float
    kind: Kind = "posterior"

    @property
    def percent(self) -> NDArray[np.float64]:
        """The excess in percent of the estimate's expected loss."""
        lowest = self.expected_loss - self.excess
        return 100.0 * self.excess / np.where(lowest > 0, lowest, np.nan)

    @property
    def plateau(self) -> NDArray[np.int64]:
        """All k that the draws cannot distinguish from the best: those within the tolerance."""
        own = self.k == int(self.estimate.max()) + 1
        return np.asarray(self.k[own | (self.excess <= self._allowed())])

    def _allowed(self) -> NDArray[np.float64]:
        """The excess up to which a k counts as good: 0 where its error is not known."""
        if self.tolerance is not None:
            return np.full(self.k.shape, self.tolerance)
        return np.nan_to_num(STANDARD_ERRORS * self.standard_error)

    @property
    def fewest_near(self) -> int | None:
        """The smallest k within one percent of the lowest loss; None if the plateau has it."""
        near = self.k[self.percent <= NEAR]
        low = near.size > 0 and near[0] < self.plateau.min(initial=int(self.estimate.max()) + 1)
        return int(near[0]) if low else None

    @property
    def sentence(self) -> str:
        """The cost of the best partitions with other numbers of clusters, and how sure it is."""
        own = int(self.estimate.max()) + 1
        others = np.flatnonzero(self.k != own)
        if not others.size:
            return "No other number of clusters was tried."
        nearest = others[np.argsort(np.abs(self.k[others] - own), kind="stable")[:_LISTED]]
        shown = np.union1d(nearest, np.flatnonzero(self.k == self.fewest_near))
        kinds = [f"{k:,}" for k in self.k[shown].tolist()]
        said, lowest = words(self.kind), float((self.expected_loss - self.excess)[0])
        scale, unit = (
            (100.0 / lowest, "%") if lowest > 0.0 else (1.0, f" {self.loss.unit}".rstrip())
        )
        known = bool(np.isfinite(self.standard_error[shown]).all())
        costs = [
            short(scale * cost) + (f" ± {short(scale * error)}" if known else "") + unit
            for cost, error in zip(
                self.excess[shown].tolist(), self.standard_error[shown].tolist(), strict=True
            )
        ]
        noun = "cluster" if kinds == ["1"] else "clusters"
        errors = f" (± one {said.error})" if known else ""
        cost = (
            f"The best clustering found with {in_list(kinds, 'or')} {noun} costs "
            f"{in_list(costs, 'or')} more {said.expected} loss than that with {own:,}{errors}."
        )
        return f"{cost} {self._verdict(others)}"

    def _verdict(self, others: NDArray[np.intp]) -> str:
        """What the standard errors say about the order."""
        own, said = int(self.estimate.max()) + 1, words(self.kind)
        good = [k for k in self.plateau.tolist() if k != own]
        if self.tolerance is not None:
            limit = in_unit(f"{self.tolerance:g}", self.loss.unit)
            return f"Within {limit} of the best: {_ranges(sorted({own, *good}))} clusters."
        if not np.isfinite(self.standard_error[others]).all():
            return f"The {said.draws} are too few for standard errors: the order may be chance."
        if good:
            noun = "cluster" if good == [1] else "clusters"
            return (
                f"The difference is within two standard errors for {_ranges(good)} {noun}: these "
                f"{said.draws} do not tell {'it' if len(good) == 1 else 'them'} from {own:,}."
            )
        return said.order_holds

    @property
    def headline(self) -> str:
        """The plateau in a few words."""
        own, good = int(self.estimate.max()) + 1, self.plateau.tolist()
        limit = "two standard errors"
        if self.tolerance is not None:
            limit = in_unit(f"{self.tolerance:g}", self.loss.unit)
        if len(good) > 1:
            return f"{_ranges(good)} clusters are within {limit} of the best"
        noun = "cluster" if own == 1 else "clusters"
        if self.tolerance is None and not np.isfinite(self.standard_error).all():
            return f"{own:,} {noun}; too few {words(self.kind).draws} for standard errors"
        return f"{own:,} {noun}; no other number that was tried is within {limit}"

    sentences = Renamed("sentence")

    def to_frame(self) -> pd.DataFrame:
        """One row for each k, as a pandas table."""
        columns = ("k", "expected_loss", "excess", "percent", "standard_error", "distance")
        table = {name: getattr(self, name) for name in columns}
        return data_frame({**table, "plateau": np.isin(self.k, self.plateau)}, of="the curve")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(k),
                f"{self.expected_loss[j]:.5g}",
                f"{self.excess[j]:.4g}",
                f"{self.percent[j]:.2g}%",
                f"{self.standard_error[j]:.2g}",
                "yes" if k in self.plateau else "",
            )
            for j, k in enumerate(self.k)
        ]

    def __repr__(self) -> str:
        return f"<ClustersCurve for {self.k[0]} to {self.k[-1]} clusters: {self.headline}>"

    def __str__(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "plateau")
        table = ["".join(f"{cell:>10}" for cell in row) for row in (head, *self._rows())]
        return "\n".join([*table, f"{self.sentence} ({self.seconds:.2g} s)"])

    def _page(self) -> Page:
        head = ("k", "loss", "excess", "percent", "error", "plateau")
        return Page(self.headline, tables=[Table("", head, tuple(self._rows()))])


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers as one reads them: 2, 4 to 6."""
    breaks = [j for j in range(1, len(numbers)) if numbers[j] != numbers[j - 1] + 1]
    ends = zip([0, *breaks], [*breaks, len(numbers)], strict=True)
    runs = [(numbers[a], numbers[b - 1]) for a, b in ends]
    return in_list([str(low) if low == high else f"{low} to {high}" for low, high in runs])


ABOVE, STRIDE = 4, 8
"""Numbers of clusters above that of the estimate, at most, that are looked at briefly; below the
plateau every step is by this part of the number."""

CHAIN = 8
"""Numbers of clusters, at most, between that of the estimate and a given one that are searched on
the way to it."""

Rows = dict[int, list[Candidate]]
"""Partitions for each number of clusters, the best first."""


def search_number(task: Task, k: int, best: Labels, free: Sequence[Candidate]) -> list[Candidate]:
    """Partitions of exactly k clusters, the best first, as the curve finds them.

    The numbers on the way from the estimate's and one beyond are searched too, because their best
    partitions lead to better ones of k.
    """
    own = int(best.max()) + 1
    low, high = min(own, k - 1), max(own, k + 1)
    if abs(k - own) > CHAIN:
        low, high = k - 1, k + 1
    numbers = range(max(1, low), min(task.n_items, high) + 1)
    return _search_numbers(task, numbers, best, free, k)[k]


def _search_numbers(
    task: Task, numbers: Sequence[int], best: Labels, free: Sequence[Candidate], needed: int
) -> Rows:
    """Partitions for each number of clusters, ascending; those that time allows, and ``needed``.

    Each number has random numbers of its own, so that what is found does not depend on which
    other numbers are searched, but for what comes from its neighbours.
    """
    seed = int(task.rng.integers(1 << 62))
    search = _NumberSearch(task, seed)
    own = int(best.max()) + 1
    rows: Rows = {own: [c for c in free if int(c.labels.max()) + 1 == own]}
    rows[own].sort(key=lambda c: task.evaluate(c.labels))
    if search.enumerates:
        return {k: rows[own] if k == own else search.of(k, free, WITHIN) for k in numbers}
    below = sorted((k for k in numbers if k < own), reverse=True)
    above = sorted(k for k in numbers if k > own)
    for side in (below, above):
        last = own
        for k in side:
            if task.clock.is_up() and k != needed:
                continue
            # As if k alone were asked for, then from the number before: the better is kept.
            rows[k] = search.better(k, search.of(k, free, WITHIN), rows[last])
            last = k
    for order in (sorted(rows), sorted(rows, reverse=True)):
        for last, k in pairwise(order):
            if k != own and not task.clock.is_up():
                rows[k] = search.better(k, rows[k], rows[last])
    return {k: rows[k] for k in sorted(numbers) if k in rows}


class _NumberSearch:
    """The constrained search for a number of clusters."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.seed = task, seed
        self.search = ConstrainedSearch(task)
        self.enumerates = self.search.enumerates
        task.rng = np.random.default_rng(seed)
        if not self.enumerates:
            _ = self.search.explored

    def of(self, k: int, starts: Sequence[Candidate], effort: Effort) -> list[Candidate]:
        """Partitions from a search from these starts, and the starts that have k clusters."""
        task, constraints = self.task, Constraints(k)
        task.rng = np.random.default_rng((self.seed, k))
        found = self.search.search(constraints, starts, effort)
        found += [c for c in starts if constraints.allow(c.labels)]
        return sorted(found, key=lambda c: task.evaluate(c.labels))

    def better(self, k: int, mine: list[Candidate], beside: list[Candidate]) -> list[Candidate]:
        """The partitions of k clusters with what the best of another number leads to."""
        start = [Candidate(beside[0].labels, "neighbour")]
        found = [*mine, *self.of(k, start, BRIEF)]
        return sorted(found, key=lambda c: self.task.evaluate(c.labels))


def fewest_clusters(task: Task, posterior: Posterior, best: Labels, share: float) -> Labels:
    """The partition of the fewest clusters found whose loss is at most that share above best's.

    One number after the other, each searched from the one before, until two in a row cost more.
    """
    search = _NumberSearch(task, int(task.rng.integers(1 << 62)))
    allowed = (1.0 + share) * posterior.expected(task.loss, best)
    found = last = best
    missed = 0
    for k in range(int(best.max()), 0, -1):
        last = search.of(k, [Candidate(last, "neighbour")], BRIEF)[0].labels
        missed = 0 if posterior.expected(task.loss, last) <= allowed else missed + 1
        if missed == 2 or task.clock.is_up():
            break
        found = found if missed else last
    return found


def plateau_around(task: Task, posterior: Posterior, best: Labels) -> ClustersCurve:
    """A short curve around the estimate, which tells the plateau.

    Downwards while a number costs no more than two Monte Carlo standard errors
    or a percent, upwards while it costs no more than those errors, and one
    number further on both sides; below the plateau in strides. Each descent
    begins where the last one ended.
    """
    own, given = int(best.max()) + 1, posterior.draws
    rows = {own: best}
    search = _NumberSearch(task, int(task.rng.integers(1 << 62)))
    lowest = posterior.distances(task.loss, best)
    allowed = NEAR / 100.0 * float(lowest @ given.probabilities)
    for step, share in ((-1, allowed), (1, 0.0)):
        last, k = own, own + step
        while 1 <= k <= min(task.n_items, own + ABOVE):
            rows[k] = search.of(k, [Candidate(rows[last], "neighbour")], BRIEF)[0].labels
            difference = posterior.distances(task.loss, rows[k]) - lowest
            excess = float(difference @ given.probabilities)
            error = STANDARD_ERRORS * np.nan_to_num(_error(difference, given))
            if task.clock.is_up() or excess > max(share, error):
                break
            last = k
            k += step if excess <= error else -max(1, k // STRIDE)
    ordered = dict(sorted(rows.items()))
    return measured(posterior, task.loss, ordered, best, None, task.clock.seconds)


def measured(
    posterior: Posterior,
    loss: Loss,
    rows: dict[int, Labels],
    best: Labels,
    tolerance: float | None,
    seconds: float,
) -> ClustersCurve:
    """The curve of given partitions."""
    draws = posterior.draws
    weights, own = draws.probabilities, Draws(best[None, :])
    lowest = posterior.distances(loss, best)
    losses = np.array([posterior.distances(loss, row) for row in rows.values()])
    return ClustersCurve(
        k=np.array(list(rows), np.int64),
        labels=by_size(np.stack(list(rows.values()))),
        expected_loss=losses @ weights,
        excess=np.maximum((losses - lowest) @ weights, 0.0),
        standard_error=np.array([_error(row - lowest, draws) for row in losses]),
        distance=np.array([loss.distances(row, own, n_jobs=1)[0] for row in rows.values()]),
        estimate=by_size(best),
        tolerance=tolerance,
        loss=loss,
        seconds=seconds,
        kind=draws.kind,
    )


def _error(difference: Floats, draws: Draws) -> float:
    """Standard error of a mean over the draws; weighted draws and runs have no order."""
    if not difference.any():  # the estimate against itself
        return 0.0
    if draws.weights is not None or draws.kind == "ensemble":
        weights = draws.probabilities
        effective = 1.0 / float(np.square(weights).sum())
        mean = float(difference @ weights)
        variance = float(np.square(difference - mean) @ weights)
        return float(np.sqrt(variance / effective)) if effective >= FEW_DRAWS else float("nan")
    return error_of(draws, difference)
