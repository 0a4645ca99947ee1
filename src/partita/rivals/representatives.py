"""The front door for several representative partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._validate import Rng, choice_or_none, seconds, whole
from partita._validate import generator as generator_from
from partita.credible.ball import clean_prob
from partita.diagnostics.agreement import inflation_of
from partita.diagnostics.functionals import functionals
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import DrawsLike, canonical
from partita.lattice import all_partitions
from partita.losses.base import Loss
from partita.losses.evaluate import as_metric
from partita.posterior import as_posterior
from partita.rivals.bound import EFFORTS, lower_bound
from partita.rivals.curve import HeldOutCurve, halves, margins, mean_and_error
from partita.rivals.parts import part_of
from partita.rivals.pool import GAIN
from partita.rivals.quantise import FULL, QUICK, Effort, Found, quantise
from partita.rivals.regions import assembled, nearest_regions
from partita.rivals.result import Representatives
from partita.search.estimate import estimate
from partita.search.task import Clock

if TYPE_CHECKING:
    from numpy.random import Generator


LISTED_ITEMS, LISTED_NUMBER = 6, 3
"""Items and representatives up to which every set of partitions is tried."""


def representatives(
    draws: DrawsLike,
    *,
    n: int | None = None,
    loss: str | Loss = "vi",
    n_max: int = 8,
    prob: float = 0.95,
    bound: Literal["fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> Representatives:
    r"""Find n partitions that together lie nearest to the draws, and prove how near any n can be.

    .. math:: W_n = \min_{\rho_1, \ldots, \rho_n} \sum_m w_m \min_l d(c_m, \rho_l)

    With n = 1 this is :func:`estimate`. Choose it when one estimate may hide
    a rival: chains that disagree, several modes, a wide ball. Each draw
    belongs to its nearest representative, so the representatives come with the
    posterior mass of their regions.

    Parameters
    ----------
    draws : Draws, array_like or path
        Anything :func:`as_draws` accepts. Equal draws are merged first.
    n : int, optional
        Number of representatives, a resolution. When omitted it is chosen by a held-out
        curve: representatives are found on one half of the draws (blocks of
        neighbouring draws of each chain take turns, with gaps of three autocorrelation times),
        judged on the other, and the other way round; the smallest n is kept from which on each
        further representative takes off less than 5% of the distance to one, beyond its 95%
        interval.
    loss : str or Loss, default "vi"
        A metric, such as "vi" or "binder".
    n_max : int, default 8
        Most representatives to try when n is omitted.
    prob : float, default 0.95
        Mass of each region that its credible ball holds.
    bound : "fast", "tight" or None
        How hard to prove a lower bound of W.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    Representatives

    Notes
    -----
    Up to six items and three representatives, all sets are listed. Otherwise the search takes
    greedy medoids and random starts on samples of the draws,
    moves them by hard and by softened Lloyd steps whose centres are walked
    downhill by the engine of :func:`estimate`, exchanges centres over a pool
    of all that were seen, and ends on all draws: O(n · pool · M) and a few
    sweeps of O(M N K). The lower bound is the better of two: groups of about
    ten draws are split among at most n partitions in every way, and the mean
    distance between draws less n − 1 eigenvalues is taken of larger groups.

    References
    ----------
    Balocchi, C. and Wade, S. (2025), Understanding uncertainty in Bayesian
    cluster analysis, who call the partitions particles and W the Wasserstein
    distance.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1],
    ...          [0, 0, 1, 1, 1, 1], [0, 1, 1, 2, 2, 2]]
    >>> rivals = pt.representatives(draws, n=2)
    >>> round(rivals.distance, 4), len(rivals.labels)
    (0.3333, 2)
    """
    posterior = as_draws(draws)
    measure = as_metric(loss, "regions of nearest partitions need one")
    level = clean_prob(prob)
    bound = choice_or_none(bound, "bound", ("fast", "tight"))
    time_limit = seconds(time_limit)
    index, mass = posterior.unique_index()
    distinct = posterior.merged(index, mass)
    generator = generator_from(rng)
    clock = Clock(time_limit)
    with Status("representatives", progress) as status:
        search = _Search(measure, generator, clock, n_jobs, status, bound)
        curve = None
        if n is None:
            curve = search.curve(posterior, whole(n_max, "n_max", least=1))
            number = curve.chosen
        else:
            number = _number(n, distinct.n_draws)
        found = search.listed(distinct, number) or search.best(distinct, number, FULL)
        nearest = nearest_regions(distinct, found.rows, measure, n_jobs)
        status.say("proving a lower bound")
        lower = found.lower_bound
        if lower is None and number > 1:
            lower = _proof(distinct, number, measure, nearest, bound, n_jobs)
        return assembled(posterior, index, found, nearest, lower, level, curve, measure, clock)


@dataclass(frozen=True, eq=False)
class _Search:
    """One search with its clock: the same calls for the curve and for the answer."""

    loss: Loss
    rng: Generator
    clock: Clock
    n_jobs: int | None
    status: Status
    bound: Literal["fast", "tight"] | None

    def best(self, draws: Draws, n: int, effort: Effort) -> Found:
        """The best n partitions for some distinct draws; after Ctrl-C, the best so far."""
        if n == 1:
            bound = self.bound if effort is FULL else None
            one = estimate(draws, loss=self.loss, bound=bound, n_jobs=self.n_jobs, rng=self.rng)
            rows = canonical(one.labels)[None, :]
            return Found(rows, 1, 1, one.search.limits, one.lower_bound)
        return quantise(
            draws,
            n,
            self.loss,
            effort=effort,
            rng=self.rng,
            stop=self.clock.is_up,
            n_jobs=self.n_jobs,
            say=self.status.say,
        )

    def listed(self, draws: Draws, n: int) -> Found | None:
        """The best of all sets of partitions, for few items and representatives; None for more."""
        if not (draws.n_items <= LISTED_ITEMS and 1 < n <= LISTED_NUMBER):
            return None
        rows = np.array(list(all_partitions(draws.n_items)))
        if n > len(rows):
            return None
        masses = np.array([self.loss.distances(r, draws, 1) for r in rows]) * draws.probabilities
        best, chosen = np.inf, (0,) * n
        for others in combinations(range(len(rows)), n - 1):
            nearest = masses[list(others)].min(axis=0)
            values = np.minimum(masses[others[-1] + 1 :], nearest).sum(axis=1)
            if values.size and values.min() < best - GAIN:
                best = float(values.min())
                chosen = (*others, others[-1] + 1 + int(values.argmin()))
        proven = None if self.bound is None else best
        return Found(rows[list(chosen)].astype(np.int32), 1, 1, (), proven)

    def curve(self, draws: Draws, n_max: int) -> HeldOutCurve:
        """Distances on both halves for n = 1, 2, … while more representatives help."""
        correlated = 1.0
        if draws.weights is None and draws.kind == "posterior":
            values = functionals(as_posterior(draws)).values()
            correlated = inflation_of(draws, values, n_jobs=self.n_jobs)
        ways = [way for way in halves(draws, correlated) if way[0].size and way[1].size]
        if not ways:
            return _curve([(0.0, 0.0, 0.0)], ended=True)
        parts = [(part_of(draws, fit).unique(), part_of(draws, held)) for fit, held, _ in ways]
        block = np.concatenate([blocks for _, _, blocks in ways])
        weights = draws.probabilities[np.concatenate([held for _, held, _ in ways])]
        rows: list[tuple[float, float, float]] = []
        distances: list[Floats] = []
        most = min(n_max, *(seen.n_draws for seen, _ in parts))
        for n in range(1, most + 1):
            found = [self.best(seen, n, QUICK).rows for seen, _ in parts]
            fitted = [
                (seen.probabilities * self._to_nearest(r, seen)).sum()
                for r, (seen, _) in zip(found, parts, strict=True)
            ]
            away = [self._to_nearest(r, held) for r, (_, held) in zip(found, parts, strict=True)]
            distances.append(np.concatenate(away))
            rows.append((float(np.mean(fitted)), *mean_and_error(distances[-1], weights, block)))
            margin = margins(distances, weights, block)
            curve = _curve(rows, ended=n == most < n_max, margin=margin)
            if n >= curve.chosen + 2:
                return replace(curve, ended=True)
            if self.clock.is_up():
                break
        return curve

    def _to_nearest(self, rows: Int32s, draws: Draws) -> Floats:
        distances = [self.loss.distances(row, draws, self.n_jobs) for row in rows]
        nearest: NDArray[np.float64] = np.min(distances, axis=0)
        return nearest


def _curve(
    rows: list[tuple[float, float, float]], *, ended: bool, margin: Floats | None = None
) -> HeldOutCurve:
    fitted, held_out, error = np.array(rows).T
    n = np.arange(1, len(rows) + 1)
    return HeldOutCurve(n, fitted, held_out, error, ended, margin)


def _number(n: int, distinct: int) -> int:
    number = whole(n, "n", least=1)
    if number > distinct:
        raise InvalidInputError(
            f"n={n}, but there are only {distinct} different draws; give at most {distinct}.",
            argument="n",
        )
    return number


def _proof(
    draws: Draws,
    n: int,
    loss: Loss,
    nearest: tuple[Ints, Floats],
    bound: str | None,
    n_jobs: int | None,
) -> float | None:
    """The lower bound, never above the value it bounds, which rounding might make it."""
    if bound is None:
        return None
    value = float((draws.probabilities * nearest[1]).sum())
    return min(lower_bound(draws, n, loss, nearest, EFFORTS[bound], n_jobs), value)
