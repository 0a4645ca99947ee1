"""K-medians search: n points that together lie nearest to the draws, and lower bounds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from partita._resources import run, stream
from partita._tolerance import SUM
from partita._wording import words
from partita.draws import AnyDraws, Draws, Point, systematic
from partita.kernels.arrays import Bools, Floats, Ints
from partita.kernels.counts import Averaged, PerDraw
from partita.labels import Labels
from partita.losses.base import Loss
from partita.losses.builtin import VI
from partita.losses.evaluate import pairwise_distances
from partita.scan import Block, block_of, gather, map_blocks
from partita.search.local_search import LocalSearch
from partita.search.problem import (
    Problem,
    lists_from_draws,
    needs_lists,
    row_tables,
    terms_and_steps,
)

GAIN = SUM
"""A set of points that is better by less than this is not better."""

Set = tuple[int, ...]
"""Numbers of the points of one set in its pool."""


class Pool:
    """Points, numbered as they come, and the distance of each to every draw.

    Memory: 8 bytes per point and draw.
    """

    def __init__(self, draws: AnyDraws, loss: Loss, n_jobs: int | None = 1) -> None:
        self.draws = draws
        self.loss = loss
        self.weights = np.array(draws.probabilities)
        self.rows: list[Point] = []
        self._n_jobs = n_jobs
        self._distances: list[Floats] = []
        self._number: dict[bytes, int] = {}

    def add(self, point: Point) -> int:
        """Number of a point, which joins the pool when it is new."""
        key = self.draws.key(point)
        if key not in self._number:
            self._number[key] = len(self.rows)
            self.rows.append(point)
            self._distances.append(self.loss.distances(point, self.draws, self._n_jobs))
        return self._number[key]

    def add_all(self, rows: Iterable[Point]) -> Set:
        """Numbers of several points, each once, in increasing order."""
        return tuple(sorted({self.add(row) for row in rows}))

    def distances(self, members: Sequence[int]) -> Floats:
        """Distances of some points to the draws, shape (n, n_draws)."""
        return np.array([self._distances[i] for i in members])

    def value(self, members: Sequence[int]) -> float:
        """Mean distance of the draws to the nearest of some points."""
        return float((self.weights * self.distances(members).min(axis=0)).sum())

    def swap_search(self, members: Sequence[int]) -> tuple[Set, float]:
        """Exchange one point for another of the pool while that helps, the best one first.

        The value of every exchange follows from each draw's nearest and second
        nearest member: a draw whose nearest one leaves goes to the newcomer or
        to the second. O(pool · draws) for all exchanges of a round.
        """
        current = list(members)
        value = self.value(current)
        # Times the weights once: sums then need no matrix product, whose threads would wait
        # for cores that are busy with others' work.
        masses = self.distances(range(len(self.rows))) * self.weights
        while True:
            mine = masses[current]
            order = np.argsort(mine, axis=0, kind="stable")
            nearest = mine.min(axis=0)
            second = np.sort(mine, axis=0)[1] if len(current) > 1 else np.full(nearest.size, np.inf)
            stay = np.minimum(masses, nearest)
            values = np.empty((len(current), len(masses)))
            for out in range(len(current)):
                left = np.flatnonzero(order[0] == out)
                gone = np.minimum(masses[:, left], second[left]) - stay[:, left]
                values[out] = gone.sum(axis=1)
            values += stay.sum(axis=1)
            place, incoming = np.unravel_index(int(values.argmin()), values.shape)
            if values[place, incoming] >= value - GAIN:
                return tuple(sorted(current)), value
            current[place], value = int(incoming), float(values[place, incoming])


def greedy(distances: Floats, weights: Floats, n: int) -> list[int]:
    """Rows that are chosen one by one, each to lower the mean distance to the nearest most."""
    masses = distances * weights
    nearest = np.full(distances.shape[1], np.inf)
    chosen: list[int] = []
    for _ in range(n):
        values = np.minimum(masses, nearest).sum(axis=1)
        values[chosen] = np.inf
        chosen.append(int(values.argmin()))
        nearest = np.minimum(nearest, masses[chosen[-1]])
    return chosen


def spread(distances: Floats, weights: Floats, n: int, rng: np.random.Generator) -> list[int]:
    """Rows that are drawn one by one, each in proportion to its mass and its distance so far."""
    share = np.array(weights)
    chosen: list[int] = []
    nearest = np.full(weights.size, np.inf)
    for _ in range(n):
        chosen.append(int(rng.choice(weights.size, p=share / share.sum())))
        nearest = np.minimum(nearest, distances[chosen[-1]])
        share = weights * nearest
        share[chosen] = 0.0
        if share.sum() <= 0.0:
            share = np.array(weights)
            share[chosen] = 0.0
    return chosen


_COOLING = 0.6 ** np.arange(6)
"""Temperatures of the soft steps, in units of the first."""

_NEGLIGIBLE = 1e-3
"""A draw of which a region holds a smaller share than this is left out of its centre."""

_MEDOIDS = 16
"""Draws of a region that are tried as its centre, under a loss that is measured by evaluation."""

_STEPS = 30
"""Most Lloyd steps of one descent; two or three are usual."""

Stop = Callable[[], bool]


Centre = Callable[[Ints, Floats, Point, np.random.Generator, Stop], Point]
"""A point of locally lowest expected loss, downhill from a start: of the draws of these numbers,
with these masses."""


def centre_search(draws: AnyDraws, loss: Loss) -> Centre:
    """The local search for centres among draws of this kind."""
    if isinstance(draws, Draws):
        known = loss.form(draws.n_items) is not None
        return PartitionCentres(draws, loss) if known else EvaluatedCentres(draws, loss)
    descend = import_module("partita.features.estimate").descend

    def centre(
        rows: Ints, mass: Floats, start: Point, rng: np.random.Generator, stop: Stop
    ) -> Point:
        return descend(draws.subset(rows, mass), start, loss, rng, stop)

    return centre


class EvaluatedCentres:
    """Centres under a loss that is measured by evaluation: the best of the start, the minimiser
    of the expected VI, and draws of the region.
    """

    def __init__(self, draws: Draws, loss: Loss) -> None:
        self._draws, self._loss = draws, loss
        self._vi = PartitionCentres(draws, VI())

    def __call__(
        self, rows: Ints, mass: Floats, start: Labels, rng: np.random.Generator, stop: Stop
    ) -> Labels:
        """A partition of low expected loss."""
        region = self._draws.subset(rows, mass)
        some = np.unique(np.linspace(0, rows.size - 1, _MEDOIDS).astype(np.int64))
        tried = [start, self._vi(rows, mass, start, rng, stop), *region.rows_at(some)]
        return min(tried, key=lambda labels: self._loss.expected(labels, region, 1))


class PartitionCentres:
    """Descents of single items, on count tables from which those of a part of the draws are cut.

    With tables made anew of each part five small cases of the contest take 1.5 times as long.
    Memory: 4 bytes per label.
    """

    def __init__(self, draws: Draws, loss: Loss) -> None:
        self._draws, self._loss = draws, loss
        self._lists = needs_lists(draws)
        if self._lists:
            return
        self._kind = Averaged if loss.averages_sums else PerDraw
        self._form = loss.form(draws.n_items)
        self._terms, self._steps = terms_and_steps(loss, draws.n_items)
        self._row_of, _, self._truth = row_tables(draws, self._terms)
        self._clusters = np.array(draws.n_clusters)
        self._first = np.cumsum(self._clusters) - self._clusters

    def __call__(
        self, rows: Ints, mass: Floats, start: Labels, rng: np.random.Generator, stop: Stop
    ) -> Labels:
        """A partition of locally lowest expected loss, downhill from ``start``."""
        search = LocalSearch(self.problem_on(rows, mass), start, rng, time_is_up=stop)
        search.sweep()
        return search.labels

    def problem_on(self, rows: Ints, mass: Floats) -> Problem:
        """The search problem on some of the draws, with masses on any scale."""
        if self._lists:
            return lists_from_draws(self._draws.subset(rows, mass), self._loss)
        clusters = self._clusters[rows]
        shift = np.cumsum(clusters) - clusters - self._first[rows]
        row_of = np.ascontiguousarray(self._row_of[:, rows])
        row_of += shift.astype(np.uint32)
        row_draw = np.repeat(np.arange(rows.size, dtype=np.int32), clusters)
        weights, truth = mass / mass.sum(), self._truth[rows]
        shared, mean_truth = (self._form, self._terms, self._steps), float((weights * truth).sum())
        return self._kind(*shared, row_of, row_draw, weights, truth, mean_truth)


class Lloyd:
    """Alternates regions and centres on the draws of a pool, to which every centre is added."""

    def __init__(
        self, pool: Pool, rng: np.random.Generator, stop: Stop, n_jobs: int | None = 1
    ) -> None:
        self.pool = pool
        self._rng = rng
        self._stop = stop
        self._n_jobs = n_jobs
        self._ends: dict[Set, tuple[Set, float]] = {}
        self._centre = centre_search(pool.draws, pool.loss)

    def descend(self, members: Sequence[int]) -> tuple[Set, float]:
        """Hard steps, until they help no more; draws as near to two go to the first.

        A centre whose region has not changed since it was found stays, and a
        descent that meets an earlier one ends where that ended.
        """
        current = tuple(sorted(members))
        value = self.pool.value(current)
        passed = [current]
        before = np.full(self.pool.weights.size, -1)
        for _ in range(_STEPS):
            nearest = self.pool.distances(current).argmin(axis=0)
            changed = nearest != before
            stale = np.union1d(nearest[changed], before[changed])
            before = nearest
            shares = np.equal.outer(np.arange(len(current)), nearest).astype(np.float64)
            moved = self._update_centres(current, shares, np.isin(range(len(current)), stale))
            if len(set(moved)) < len(moved):
                break
            new = self.pool.value(moved)
            if new >= value - GAIN or self._stop():
                break
            current, value = moved, new
            passed.append(tuple(sorted(current)))
            if passed[-1] in self._ends:
                break
        end = self._ends.get(passed[-1], (passed[-1], value))
        self._ends.update((place, end) for place in passed)
        return end

    def anneal(self, members: Sequence[int], temperature: float) -> Set:
        """Soft steps: regions overlap by exp(−distance/temperature), less and less."""
        current = tuple(members)
        for t in temperature * _COOLING:
            distances = self.pool.distances(current)
            shares = np.exp((distances.min(axis=0) - distances) / t)
            every = np.ones(len(current), np.bool_)
            current = self._update_centres(current, shares / shares.sum(axis=0), every)
            if self._stop():
                break
        return current

    def _update_centres(self, members: Set, shares: Floats, stale: Bools) -> Set:
        """New centres of stale regions; one without draws goes to the draw farthest from all."""
        draws, weights = self.pool.draws, self.pool.weights
        distances = self.pool.distances(members)
        generators = self._rng.spawn(len(members))

        def moved(region: int) -> Point:
            mine = np.flatnonzero(shares[region] > _NEGLIGIBLE)
            if mine.size == 0:
                return draws.rows_at([int(distances.min(axis=0).argmax())])[0]
            mass = weights[mine] * shares[region, mine]
            start = self.pool.rows[members[region]]
            return self._centre(mine, mass, start, generators[region], self._stop)

        current = list(members)
        regions = np.flatnonzero(stale).tolist()
        for region, row in zip(regions, run(moved, regions, self._n_jobs), strict=True):
            current[region] = self.pool.add(row)
        return tuple(current)


def draw_sample(draws: AnyDraws, size: int, rng: np.random.Generator) -> Any:
    """A systematic sample, in memory."""
    if draws.n_draws > size:
        index, counts = np.unique(systematic(draws.probabilities, size, rng), return_counts=True)
        draws = draws.subset(index, counts)
    return gather(draws)  # of labels on a cluster


_SAMPLE_LABELS = 80_000
_MOST_DRAWS, _FEWEST_DRAWS = 400, 100
"""Labels of an explored sample, about, and the limits of its number of draws."""

_REFINED_LABELS = 10_000_000
"""Labels of the draws on which the best sets are polished; a sample where there are more."""

_RANDOM = 4
"""Centres of random starts on a sample, about; at least one start. A smaller n affords more."""

_SOFTNESS = 0.1
"""First temperature of the soft steps, in units of the mean distance to the nearest centre."""

_SWAPPED = 8
"""Best sets of the samples that are improved by exchanges before some of them descend."""

_SCREENED = 5
"""Draws on which sets are compared and combined, in multiples of a sample."""

_CHEAP_LABELS = 800_000
_CHEAPER = 4
"""With fewer labels than this in all, more sets are refined: up to four times as many."""

_MOVED = 2
"""Members of a set, at most, that a perturbation replaces by draws."""

_PROMISING = 0.01
"""A perturbed set that descends to within this share of the best value is improved by exchanges."""

_ENDS = 4
"""Sets that descend once more where the samples were all draws."""

_CANDIDATES = 200
"""Draws, at most, that may be exchanged for a member where the samples were all draws."""


@dataclass(frozen=True)
class Effort:
    """Effort of a search."""

    samples: int
    """Samples of the draws that are explored, each from greedy medoids and a random start."""
    polished: int
    """Centres of the different sets that are improved on all draws, about."""
    patience: int
    """Perturbations of the best set without a gain, where the samples were all draws. With 40
    instead of none, 2 of contest cases 2400 to 2419 end more than 0.1% above the best known value
    instead of 7 (at most 0.2% instead of 1%), in 1.8 times the time."""


FULL = Effort(samples=6, polished=16, patience=40)
QUICK = Effort(samples=2, polished=1, patience=0)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best set of a search, the starts that reached it, and the limits that were binding."""

    rows: Sequence[Point]
    agreed: int
    n_starts: int
    limits: tuple[str, ...]
    lower_bound: float | None = None


def k_medians_search(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    *,
    effort: Effort,
    rng: np.random.Generator,
    stop: Stop,
    n_jobs: int | None,
    say: Callable[[str], None],
) -> SearchResult:
    """Explore samples of the distinct draws from several starts, and polish the best sets on all.

    Every centre that ended a descent on a sample joins one pool; sets are
    combined from it by exchanges, on a larger sample, before the best of them
    descend on all draws.
    """
    say(f"{n} representatives: exploring")
    seeds = rng.spawn(effort.samples + 1)
    size = int(np.clip(_SAMPLE_LABELS // draws.n_items, _FEWEST_DRAWS, _MOST_DRAWS))
    size = max(size, 4 * n)
    whole = draws.n_draws <= size
    # One matrix for all samples; the kernel of blocks would take as long to compile as the search.
    every = pairwise_distances(draws, loss=loss, n_jobs=n_jobs) if whole else None

    def explored(number: int) -> list[list[Point]]:
        if number and stop():
            return []
        greedily = not whole or not number
        return _explore_sample(draws, n, loss, size, seeds[number], stop, every, greedily=greedily)

    descents = run(explored, range(effort.samples), n_jobs)
    say(f"{n} representatives: refining")
    most = max(size, _REFINED_LABELS // draws.n_items)
    limits: tuple[str, ...] = ()
    if draws.n_draws > most:
        limits = (
            f"the search saw {most:,} of {draws.n_draws:,} distinct {words(draws.kind).draws}",
        )
    refined_on = draw_sample(draws, most, seeds[-1])
    labels = refined_on.n_draws * draws.n_items
    most_sets = int(effort.polished / n * np.clip(_CHEAP_LABELS / labels, 1, _CHEAPER))
    most_sets = min(most_sets, _ENDS) if whole else most_sets
    starts = [rows for ends in descents for rows in ends]
    screen = Pool(draw_sample(refined_on, _SCREENED * size, seeds[-1]), loss, n_jobs)
    ranked = _rank_sets(screen, starts, n, max(1, most_sets))
    pool = Pool(refined_on, loss, n_jobs)
    lloyd = Lloyd(pool, seeds[-1], stop, n_jobs)
    best, values = _refine_sets(pool, lloyd, ranked, stop)
    patience = 0
    if whole and not stop():
        patience = effort.patience
        some = np.unique(np.linspace(0, draws.n_draws - 1, _CANDIDATES).astype(np.int64))
        pool.add_all(draws.rows_at(some))
    best = _iterate_local_search(pool, lloyd, best, patience, seeds[-1], stop)
    agreed = sum(v <= pool.value(best) + GAIN for v in values)
    return SearchResult([pool.rows[i] for i in best], agreed, len(values), limits)


def _explore_sample(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    size: int,
    rng: np.random.Generator,
    stop: Stop,
    far: Floats | None,
    *,
    greedily: bool,
) -> list[list[Point]]:
    """Ends of descents on one sample, hard and annealed, from greedy medoids and random starts.

    ``far`` are the distances among the draws where the sample is all of them.
    """
    sample = draw_sample(draws, size, rng)
    pool = Pool(sample, loss)
    lloyd = Lloyd(pool, rng, stop)
    rows = sample.rows_at(np.arange(sample.n_draws))
    far = distances_among(sample, loss) if far is None else far
    chosen = [spread(far, pool.weights, n, rng) for _ in range(max(1, _RANDOM // n))]
    if greedily:
        chosen.insert(0, greedy(far, pool.weights, n))
    ends: list[Set] = []
    for start in chosen:
        members = [pool.add(rows[i]) for i in start]
        hard, value = lloyd.descend(members)
        ends.append(hard)
        if stop():
            break
        soft, _ = lloyd.descend(lloyd.anneal(members, _SOFTNESS * max(value, GAIN)))
        best = min((hard, soft), key=pool.value)
        swapped, _ = lloyd.descend(pool.swap_search(best)[0])
        ends += [soft, swapped]
    return [[pool.rows[i] for i in end] for end in dict.fromkeys(ends)]


def _rank_sets(pool: Pool, starts: list[list[Point]], n: int, most: int) -> list[list[Point]]:
    """The most promising sets of all that the pool can combine, best first."""
    sets = [s for s in map(pool.add_all, starts) if len(s) == n]
    if len(pool.rows) >= n:
        everything = pool.distances(range(len(pool.rows)))
        sets.append(tuple(sorted(greedy(everything, pool.weights, n))))
    sets = sorted(dict.fromkeys(sets), key=pool.value)
    sets += [pool.swap_search(s)[0] for s in sets[: max(_SWAPPED, most)]]
    ranked = sorted(dict.fromkeys(sets), key=pool.value)
    return [[pool.rows[i] for i in members] for members in ranked[:most]]


def _refine_sets(
    pool: Pool, lloyd: Lloyd, starts: list[list[Point]], stop: Stop
) -> tuple[Set, list[float]]:
    """The best set after descents on all draws, and the value that each descent reached."""
    ends = []
    for rows in starts:
        ends.append(lloyd.descend(pool.add_all(rows)))
        if stop():
            break
    best, _ = min(ends, key=lambda end: end[1])
    return best, [end[1] for end in ends]


def _iterate_local_search(
    pool: Pool, lloyd: Lloyd, best: Set, patience: int, rng: np.random.Generator, stop: Stop
) -> Set:
    """Iterated local search: exchanges and descents of the best set, and of perturbed ones.

    A perturbation replaces members by draws, and descends; it ends after ``patience`` of them
    without a gain.
    """
    value, idle = pool.value(best), 0
    while idle <= patience and not stop():
        trial, reached = best, value
        if idle:
            trial, reached = lloyd.descend(_perturb(pool, best, rng))
        idle += 1
        if reached > (1.0 + _PROMISING) * value:
            continue
        trial, reached = lloyd.descend(pool.swap_search(trial)[0])
        if reached < value - GAIN:
            best, value, idle = trial, reached, 0
    return best


def _perturb(pool: Pool, members: Set, rng: np.random.Generator) -> Set:
    """The set with some members, at random, replaced by draws: likelier those that are far."""
    n_gone = int(rng.integers(1, min(_MOVED, len(members)) + 1))
    left = np.delete(members, rng.permutation(len(members))[:n_gone]).tolist()
    while len(left) < len(members):
        share = pool.weights * (pool.distances(left).min(axis=0) if left else 1.0)
        if share.sum() <= 0.0:
            return members
        drawn = int(rng.choice(share.size, p=share / share.sum()))
        left.append(pool.add(pool.draws.rows_at([drawn])[0]))
    return tuple(sorted(left))


# ------------------------------------------------------------------ lower bounds


R = TypeVar("R")

_MOST_ATOMS = 4
"""Heavy draws are split into atoms of the usual mass: at most four times as many as draws."""


def atoms_of(draws: AnyDraws) -> tuple[Ints, Floats]:
    """Atoms of similar mass: the draw of each, and its mass. A heavy draw becomes several.

    One heavy draw would count among others with little more than their mass.
    """
    weights = draws.probabilities
    usual = max(float(np.median(weights)), 1.0 / (_MOST_ATOMS * weights.size))
    copies = np.maximum(1, np.ceil(weights / usual * 0.999).astype(np.int64))
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]


def map_distances(
    function: Callable[[Floats, Floats], R],
    draws: AnyDraws,
    loss: Loss,
    *,
    rows: int,
    n_jobs: int | None,
) -> Iterator[R]:
    """``function(distances, masses)`` of every ``rows`` consecutive draws, in order.

    The distances are those among the draws, for a symmetric loss, shape (rows, rows).
    """
    if isinstance(draws, Draws):
        return map_blocks(
            partial(_on_block, function=function, loss=loss), draws, rows=rows, n_jobs=n_jobs
        )
    parts = [slice(at, at + rows) for at in range(0, draws.n_draws, rows)]
    return stream(partial(_on_part, function=function, draws=draws, loss=loss), parts, n_jobs)


def _on_block(block: Block, *, function: Callable[[Floats, Floats], R], loss: Loss) -> R:
    return function(distances_within(block, loss), block.probabilities)


def _on_part(
    part: slice, *, function: Callable[[Floats, Floats], R], draws: AnyDraws, loss: Loss
) -> R:
    return function(distances_among(draws._take(part), loss), draws.probabilities[part])


def distances_among(draws: AnyDraws, loss: Loss) -> Floats:
    """Distances among a few draws in memory, for a symmetric loss, shape (n, n)."""
    if isinstance(draws, Draws):
        return distances_within(block_of(draws, slice(0, draws.n_draws)), loss)
    return pairwise_distances(draws, loss=loss, n_jobs=1)


def distances_within(block: Block, loss: Loss) -> Floats:
    """Distances among the draws of a block, for a symmetric loss, shape (n, n)."""
    from partita.kernels.contingency import distances_in_blocks

    n_items = block.labels.shape[1]
    form = loss.form(n_items)
    if form is None:
        return pairwise_distances(block.rows, loss=loss, n_jobs=1)
    edges = np.array([0, len(block.labels)])
    # Arrays are copied because read-only ones would compile again.
    clusters, terms = np.array(block.n_clusters), np.array(loss.terms(n_items))
    (far,) = distances_in_blocks(block.rows, clusters, edges, terms, form)
    return np.asarray(far)


_SAME_MASS = 0.1
"""Draws whose masses differ by at most this share of them may meet in a group."""


@dataclass(frozen=True)
class Grouping:
    """How hard a bound tries."""

    operations: float
    """Steps of the dynamic programmes that one group may take, about: sets its size."""
    largest: int
    """Most draws of a group."""
    groups: int
    """Groups between which draws are exchanged."""
    passes: int
    """Times each draw looks for an exchange."""

    def size(self, n: int) -> int:
        """Draws of a group: as many as the operations afford, and more than n."""
        size = n + 2
        while size < self.largest and (n - 1) * 3.0 ** (size + 1) <= self.operations:
            size += 1
        return min(max(size, 4), max(self.largest, n + 2))


def group_bound(
    draws: AnyDraws, n: int, loss: Loss, to_nearest: Floats, grouping: Grouping, n_jobs: int | None
) -> float:
    r"""No n partitions have a lower mean distance to the draws: small groups, all divisions.

    Of a group of draws, n partitions serve at most n blocks. Draws a, b that one
    partition ρ serves cost d(a, ρ) + d(b, ρ) ≥ d(a, b), and three cost at least
    half their perimeter. So a group costs at least

    .. math:: \min_{\text{splits into at most } n \text{ blocks}} \sum_B f(B),

    with f(B) the largest total of disjoint pairs and triangles inside a block,
    each times the smallest mass in it; both come from dynamic programmes over
    subsets. Groups share no mass, so their bounds add up, whatever the groups
    are. Good groups are alike in mass and far apart: draws are sorted by their
    distance to the nearest partition found, and exchanged between groups to raise
    the sum of cubed distances within them.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    to_nearest : ndarray, shape (n_draws,)
        Distance of each draw to the nearest of some partitions: sorts draws
        into groups. The bound holds whatever it is.
    """
    atoms, mass = atoms_of(draws)
    coarse = np.round(np.log(mass) / _SAME_MASS)
    order = np.lexsort((to_nearest[atoms], coarse))
    sorted_draws = draws.subset(atoms[order], mass[order])
    size = grouping.size(n)
    proven = partial(_group_cost, n=n, size=size, passes=grouping.passes)
    rows = size * grouping.groups
    return sum(map_distances(proven, sorted_draws, loss, rows=rows, n_jobs=n_jobs))


def _group_cost(far: Floats, masses: Floats, *, n: int, size: int, passes: int) -> float:
    """A lower bound of the cost of the groups of some draws."""
    from partita.kernels.bounds import exchange, groups_value

    group = np.arange(len(far), dtype=np.int64) // size
    exchange(far**3, group, int(group[-1]) + 1, passes)
    order = np.argsort(group, kind="stable")
    return float(groups_value(far[np.ix_(order, order)], masses[order], size, n))


def spectral_bound(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    region: Ints,
    to_nearest: Floats,
    size: int,
    n_jobs: int | None,
) -> float:
    r"""No n partitions have a lower mean distance to the draws, by eigenvalues.

    Draws that one partition ρ serves, a block B, cost at least what any shares
    x of their masses w cost by the triangle inequality,

    .. math:: \sum_{a \in B} w_a\, d(a, ρ) \ge \sum_{a < b \in B} x_{ab}\, d(a, b),
              \qquad \sum_b x_{ab} \le w_a.

    All may share with all in their block, :math:`x_{ab} = w_a w_b / w(B)`. The sum over the
    blocks is then half the trace of :math:`D Z`, with :math:`D_{ab} = \sqrt{w_a}\, d(a, b)
    \sqrt{w_b}` and Z the projection on the n vectors √w of the blocks. Their sum is
    √w of all draws, whatever the blocks are; the other directions, at most n − 1,
    contribute no less than the n − 1 lowest eigenvalues of D at right angles to √w,
    as far as these are negative.

    Strata of about a hundred draws are bounded one by one, and their bounds add up.
    Draws are dealt to the strata so that each is a small image of all of them.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    region, to_nearest : ndarray, shape (n_draws,)
        Nearest of some partitions, and distance to it: the draws are dealt in
        this order. The bound holds whatever they are.
    size : int
        Draws of a stratum, about. O(size · (N + K²) + size²) for each draw.
    """
    atoms, mass = atoms_of(draws)
    order = np.lexsort((to_nearest[atoms], region[atoms]))
    n_strata = -(-atoms.size // size)
    # The strata are consecutive blocks of equal numbers of draws, but for the last.
    rows = -(-atoms.size // n_strata)
    dealt = order[np.argsort(np.arange(atoms.size) % n_strata, kind="stable")]
    ready = draws.subset(atoms[dealt], mass[dealt])
    proven = partial(stratum_bound, n=n)
    return sum(map_distances(proven, ready, loss, rows=rows, n_jobs=n_jobs))


def stratum_bound(far: Floats, masses: Floats, *, n: int) -> float:
    """Lower bound of the distance of some draws to n points, from distances and masses."""
    from scipy.linalg import eigvalsh

    total = float(masses.sum())
    if len(masses) <= n or total <= 0.0:
        return 0.0
    root = np.sqrt(masses)
    matrix = far * root[:, None] * root
    along = (matrix * root).sum(axis=1) / total
    trace = float((along * root).sum())
    matrix -= along[:, None] * root + root[:, None] * along
    matrix += (root[:, None] * root) * (trace / total)
    # A draw shares nothing with itself, so that all shares may grow by its own.
    own = float(masses.min()) / total
    lowest = 0.0
    if n > 1:
        values = eigvalsh(matrix, overwrite_a=True, subset_by_index=(0, n - 2), check_finite=False)
        rounding = len(masses) * np.finfo(np.float64).eps * float(np.abs(values).max() + trace)
        lowest = float(np.minimum(values - rounding, 0.0).sum())
    return max(0.0, 0.5 * (trace + lowest) / (1.0 - own))


@dataclass(frozen=True)
class ProofEffort:
    """Effort of the two bounds."""

    grouping: Grouping
    grouped: int
    """Draws up to which groups are divided. With more the eigenvalues prove about as much."""
    stratum: int
    """Draws whose eigenvalues are taken together."""


EFFORTS = {
    "fast": ProofEffort(
        Grouping(operations=4e5, largest=12, groups=8, passes=2), grouped=1_000, stratum=96
    ),
    "tight": ProofEffort(
        Grouping(operations=1e7, largest=14, groups=24, passes=8), grouped=20_000, stratum=384
    ),
}


def lower_bound(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    nearest: tuple[Ints, Floats],
    effort: ProofEffort,
    n_jobs: int | None,
) -> float:
    """No n partitions have a lower mean distance to the distinct draws, for a metric loss.

    ``nearest`` is the region of each draw and its distance to that partition. The bound is never
    above the mean of these, which rounding might make it.
    """
    region, to_nearest = nearest
    proven = spectral_bound(draws, n, loss, region, to_nearest, effort.stratum, n_jobs)
    if draws.n_draws <= effort.grouped:
        groups = group_bound(draws, n, loss, to_nearest, effort.grouping, n_jobs)
        proven = max(proven, groups)
    return min(proven, float((draws.probabilities * to_nearest).sum()))
