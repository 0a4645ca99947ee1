"""The best partition for each number of clusters, and which numbers are as good as the best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._validate import Rng, generator, number, whole
from partita.errors import InvalidInputError, NotSupportedError
from partita.losses.base import Loss
from partita.losses.registry import as_loss
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.functionals import by_chain
from partita.partitions.labels import Labels, by_size
from partita.partitions.types import DrawsLike
from partita.search.constraints import Rules, search_within
from partita.search.methods.registry import as_method
from partita.search.task import Candidate, Clock, Options, Task

if TYPE_CHECKING:
    import pandas as pd

MORE = 4
"""Numbers of clusters above that of the estimate that are tried by default."""

FEW_DRAWS = 4
"""Draws per chain below which no effective number of draws can be estimated."""


@dataclass(frozen=True, eq=False)
class ClustersCurve:
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
        The excess up to which a k counts as good; None: one standard error.
    loss : Loss

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

    @property
    def percent(self) -> NDArray[np.float64]:
        """The excess in percent of the estimate's expected loss."""
        lowest = self.expected_loss - self.excess
        return 100.0 * self.excess / np.where(lowest > 0, lowest, np.nan)

    @property
    def plateau(self) -> NDArray[np.int64]:
        """All k whose best partition loses no more than the tolerance."""
        allowed = self.standard_error if self.tolerance is None else self.tolerance
        own = self.k == int(self.estimate.max()) + 1
        return np.asarray(self.k[own | (self.excess <= allowed)])

    @property
    def sentence(self) -> str:
        """The plateau in words."""
        best = int(self.estimate.max()) + 1
        good = self.plateau
        why = "within Monte Carlo error"
        if self.tolerance is not None:
            why = f"within {self.tolerance:g} {self.loss.unit}".rstrip()
        if good.size <= 1:
            return f"no other number of clusters is as good as {best} {why}"
        whole_range = good[-1] - good[0] == good.size - 1
        text = f"{good[0]} to {good[-1]}" if whole_range else ", ".join(map(str, good))
        return f"{text} clusters are as good {why}"

    def to_frame(self) -> pd.DataFrame:
        """One row for each k, as a pandas table."""
        from partita._optional import require

        pandas = require("pandas", extra="parquet", purpose="a table of the curve")
        columns = ("k", "expected_loss", "excess", "percent", "standard_error", "distance")
        table = {name: getattr(self, name) for name in columns}
        return pandas.DataFrame(  # type: ignore[no-any-return]
            {**table, "plateau": np.isin(self.k, self.plateau)}
        )

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
        return f"<ClustersCurve for {self.k[0]} to {self.k[-1]} clusters: {self.sentence}>"

    def __str__(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "as good")
        return "\n".join("".join(f"{cell:>10}" for cell in row) for row in (head, *self._rows()))

    def _repr_html_(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "as good")
        cells = ["".join(f"<th>{escape(c)}</th>" for c in head)]
        cells += ["".join(f"<td>{escape(c)}</td>" for c in row) for row in self._rows()]
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{escape(self.sentence)}</caption>{rows}</table>"


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
        plateau. By default the Monte Carlo standard error of that excess.
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
    One search without a given k, then about twenty walks for each k, each of a
    few sweeps of O(M N K). The standard error is that of the mean of paired
    losses over the draws, with their effective number (Kish's for weighted
    draws).

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2, 2]] * 10 + [[0, 0, 1, 1, 1, 1]]
    >>> curve = pt.clusters_curve(draws, k=range(1, 4))
    >>> curve.sentence
    'no other number of clusters is as good as 3 within Monte Carlo error'
    """
    measure = as_loss(loss)
    if not measure.averages_distances:
        raise NotSupportedError(
            f"the expected {measure.title} is no mean over draws, so it has no Monte Carlo error."
        )
    if tolerance is not None and not number(tolerance, "tolerance") >= 0:
        raise InvalidInputError(f"tolerance={tolerance!r}; expected a number of at least 0.")
    if time_limit is not None and not time_limit > 0:
        raise InvalidInputError(f"time_limit={time_limit!r}; expected a positive number.")
    given = as_draws(draws)
    with Status("clusters curve", progress) as status:
        none = np.empty((0, given.n_items), np.int32)
        starts = whole(n_starts, "n_starts", least=1)
        task = Task(
            draws=given.unique(),
            given_similarity=None,
            loss=measure,
            options=Options(starts, none, None, None, 10_000, n_jobs),
            rng=generator(rng),
            clock=Clock(time_limit),
            report=status.say,
        )
        free = list(as_method("auto", measure)(task))
        best = min(free, key=lambda c: task.evaluate(c.labels))
        numbers = _clean_numbers(k, given.n_items, int(best.labels.max()) + 1)
        rows = [_best_for(task, n, free) for n in numbers]
        return _curve(given, measure, numbers, rows, best.labels, tolerance)


def _clean_numbers(k: Iterable[int] | None, n_items: int, estimated: int) -> list[int]:
    if k is None:
        return list(range(1, min(n_items, estimated + MORE) + 1))
    numbers = sorted({whole(n, "k", least=1, most=n_items) for n in k})
    if not numbers:
        raise InvalidInputError("k is empty; expected numbers of clusters, as in range(1, 9).")
    return numbers


def _best_for(task: Task, k: int, free: list[Candidate]) -> Labels:
    rules = Rules(k, 1)
    found = search_within(task, rules, free)
    found += [c for c in free if rules.allow(c.labels)]
    return min(found, key=lambda c: task.evaluate(c.labels)).labels


def _curve(
    draws: Draws,
    loss: Loss,
    numbers: list[int],
    rows: list[Labels],
    best: Labels,
    tolerance: float | None,
) -> ClustersCurve:
    weights = draws.probabilities
    lowest = loss.distances(best, draws)
    losses = np.array([loss.distances(row, draws) for row in rows])
    expected = losses @ weights
    labels = by_size(np.stack(rows))
    arrays = (
        np.array(numbers, np.int64),
        labels,
        expected,
        np.maximum((losses - lowest) @ weights, 0.0),
        np.array([_error(row - lowest, draws) for row in losses]),
        np.array([loss.distances(row, Draws(best[None, :]))[0] for row in rows]),
        by_size(best),
    )
    for array in arrays:
        array.flags.writeable = False
    return ClustersCurve(*arrays, tolerance=tolerance, loss=loss)


def _error(difference: NDArray[np.float64], draws: Draws) -> float:
    """Monte Carlo standard error of a mean over the draws."""
    if np.ptp(difference) == 0.0:
        return 0.0
    if draws.weights is not None:
        effective = 1.0 / float(np.square(draws.weights).sum())
        mean = float(difference @ draws.weights)
        variance = float(np.square(difference - mean) @ draws.weights)
        return float(np.sqrt(variance / effective)) if effective >= FEW_DRAWS else float("nan")
    chains = by_chain(draws, difference)
    if chains.shape[1] < FEW_DRAWS:
        return float("nan")
    from arviz_stats.base import array_stats

    return float(array_stats.mcse(chains, method="mean"))
