"""The allocation that minimises the posterior expected FARO loss: search, result and proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from partita._progress import Status
from partita._result import Page, Result
from partita._text import Kind, above_minimum, counted, listed, words
from partita._tolerance import SUM
from partita._validate import Rng, choice_or_none, generator, integer, seconds
from partita.features.bounds import lower_bound
from partita.features.draws import (
    FeatureDraws,
    allocations,
    canonical_point,
    packed,
    unpacked,
)
from partita.kernels.arrays import Bools, Floats, Ints, UInt64s
from partita.losses.evaluate import loss_for
from partita.losses.faro import FARO, writable
from partita.search.result import SearchReport, Start, is_proven
from partita.search.task import (
    Clock,
    Options,
    Task,
    run_interruptible,
    run_interruptible_parallel,
    tied,
)

N_STARTS = 16
"""Draws from which the search begins, as fangs has it."""

SEEDS = 24
"""Columns of draws from which a new feature is grown at a time."""

STEPS = 50
"""Most times that a new feature is thresholded; it settles after a few."""

PERTURBED = 12
"""Perturbations without gain that end a search."""

FEW_ITEMS, FEW_PERTURBED = 8, 36
"""Items up to which a new feature is the best of all, and perturbations are cheap. Misses in
enumerated cases of four items: 6 of 600 without both, 1 of 2,400 with them."""


class End(NamedTuple):
    """Where a descent ended."""

    point: UInt64s
    loss: float
    origin: str
    flips: int


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEstimate(Result):
    """The allocation that minimises the posterior expected loss, as far as it was found.

    Attributes
    ----------
    allocation : ndarray of bool, shape (n_items, n_features), read-only
        Which item is in which feature. Features are in order of size, the largest first.
    membership : ndarray of float, shape (n_items, n_features)
        Posterior probability that the item is in the feature of a draw that is matched to this
        one. A draw that has no such feature counts as not being in it.
    matched : ndarray of float, shape (n_features,)
        Probability that a draw has a feature that is matched to this one.
    expected_loss : float
        Its posterior expected loss, evaluated anew on all draws.
    lower_bound : float or None
        No allocation has a lower expected loss on these draws. None where none was asked for.
    gap : float or None
        (expected_loss − lower_bound) / expected_loss; 0 means proven optimal.
    loss : FARO
    ties : tuple of ndarray of bool
        Every other allocation found whose expected loss is the same, up to rounding.
    search : SearchReport
        Starts, agreement, effort, limits that were binding.
    item_names : tuple of str, or None
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets(
    ...     [[{0, 1}, {2}], [{0, 1}, {2, 3}], [{0}, {2, 3}]], n_items=4
    ... )
    >>> best = pt.estimate(draws)
    >>> best.sets, best.gap
    (((0, 1), (2, 3)), 0.0)
    >>> best.membership.round(2)
    array([[1.  , 0.  ],
           [0.67, 0.  ],
           [0.  , 1.  ],
           [0.  , 0.67]])
    """

    allocation: Bools
    membership: Floats
    matched: Floats
    expected_loss: float
    lower_bound: float | None
    loss: FARO
    ties: tuple[Bools, ...]
    search: SearchReport
    item_names: tuple[str, ...] | None = None
    kind: Kind = "posterior"

    def __allocation__(self) -> Bools:
        return self.allocation

    @property
    def n_features(self) -> int:
        """Number of features of the estimate."""
        return int(self.allocation.shape[1])

    @property
    def feature_sizes(self) -> Ints:
        """Number of items of each feature."""
        sizes: Ints = self.allocation.sum(axis=0, dtype=np.int64)
        return sizes

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The features as tuples of items."""
        return tuple(tuple(np.flatnonzero(column).tolist()) for column in self.allocation.T)

    @property
    def gap(self) -> float | None:
        """Relative distance to the proven bound; 0 when the estimate is proven optimal."""
        if self.lower_bound is None:
            return None
        if is_proven(self.expected_loss, self.lower_bound, self.loss):
            return 0.0
        return (self.expected_loss - self.lower_bound) / self.expected_loss

    @property
    def is_proven_optimal(self) -> bool:
        """Whether the bound shows that no allocation does better on these draws."""
        return self.gap == 0.0

    @property
    def proof(self) -> str:
        """What is proven about the estimate, and what was tried, in words."""
        own = words(self.kind).draws
        if self.gap == 0.0:
            return f"proven optimal for these {own}"
        said = (
            "no lower bound" if self.gap is None else f"{above_minimum(self.gap)} for these {own}"
        )
        return f"{said}; no better allocation was found by local search{self.search.effort}"

    def _lines(self) -> list[tuple[str, str]]:
        sizes = self.feature_sizes.tolist()
        n_none = int((~self.allocation.any(axis=1)).sum())
        lines = [
            (
                "features",
                f"{self.n_features:,}" + (f" of {listed(sizes, 12)} items" if sizes else ""),
            ),
            (
                f"{words(self.kind).expected} loss",
                f"{self.expected_loss:.6g} {self.loss.unit} ({self.loss!r})",
            ),
            ("proof", self.proof),
            ("search", f"{self.search.seconds:.2g} s"),
        ]
        if n_none:
            lines.insert(1, ("in no feature", counted(n_none, "item")))
        if self.ties:
            lines.append(
                ("ties", f"{counted(len(self.ties), 'other allocation')} at the same loss")
            )
        lines.extend(("limit", limit) for limit in self.search.limits)
        if self.search.interrupted:
            lines.append(("interrupted", "the search was cut short; this is the best so far"))
        return lines

    def __repr__(self) -> str:
        body = "\n".join(f"  {name + ':':<15}{text}" for name, text in self._lines())
        return f"<FeatureEstimate of {counted(len(self.allocation), 'item')}\n{body}>"

    def _page(self) -> Page:
        return Page(f"Feature allocation of {counted(len(self.allocation), 'item')}", self._lines())


def estimate_features(
    draws: FeatureDraws,
    *,
    loss: Any = None,
    bound: str | None = "auto",
    starts: Any = None,
    n_starts: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> FeatureEstimate:
    """See :func:`partita.estimate`."""
    measure = loss_for(loss, draws)
    assert isinstance(measure, FARO)
    bound = choice_or_none(bound, "bound", ("auto", "fast", "tight"))
    n_starts = N_STARTS if n_starts is None else integer(n_starts, "n_starts", least=1)
    given: list[UInt64s] = []
    if starts is not None:
        own = allocations(starts, argument="starts")
        given = [draws.clean(own[m], "starts") for m in range(own.n_draws)]
    distinct = draws.unique()
    with Status("estimate", progress) as status:
        task = feature_task(measure, n_starts, n_jobs, time_limit, status.say, rng)
        ends = multistart(task, distinct, given)
        return _reported(task, draws, distinct, ends, bound)


def feature_task(
    loss: FARO,
    n_starts: int,
    n_jobs: int | None,
    time_limit: float | None,
    report: Callable[[str], None],
    rng: Rng | None,
) -> Task:
    """A task of the shared driver: clock, threads, random numbers, limits."""
    options = Options(n_starts, np.empty((0, 0), np.int32), None, None, n_jobs)
    clock = Clock(seconds(time_limit))
    return Task(None, None, loss, options, generator(rng), clock, report)


def multistart(task: Task, distinct: FeatureDraws, given: list[UInt64s]) -> list[End]:
    """Descents from what the user gave, from no feature, and from draws."""
    chosen = start_draws(distinct, task.options.n_starts, task.rng)
    begins = [(point, "user") for point in given]
    begins += [(np.empty((0, distinct.columns.shape[1]), np.uint64), "no feature")]
    begins += [(point, "draw") for point in distinct.rows_at(chosen)]
    search = Descent(distinct, task.loss, task.clock.is_up)  # type: ignore[arg-type]
    work = [(*begin, rng) for begin, rng in zip(begins, task.rng.spawn(len(begins)), strict=True)]
    ends = run_interruptible_parallel(task, partial(descended, search), work, "descending")
    # Drop-and-regrow costs as many descents as there are features: for the different ends only.
    best = _different(ends)[:REGROWN]
    again = [(end, rng) for end, rng in zip(best, task.rng.spawn(len(best)), strict=True)]
    grown = run_interruptible_parallel(
        task, partial(_regrown, search), again, "dropping and regrowing features"
    )
    where = {e.point.tobytes(): g for e, g in zip(best, grown, strict=True)}
    return [where.get(e.point.tobytes(), e)._replace(origin=e.origin) for e in ends]


REGROWN = 4
"""How many different ends have their features dropped one by one and regrown."""


def start_draws(draws: FeatureDraws, n_starts: int, rng: np.random.Generator) -> Ints:
    """The heaviest draw, and others at random by their masses."""
    mass = draws.probabilities
    size = min(n_starts, draws.n_draws)
    others = rng.choice(draws.n_draws, size, replace=False, p=mass)
    heaviest = int(mass.argmax())
    return np.array([heaviest, *[m for m in others.tolist() if m != heaviest]][:size], np.int64)


def descended(search: Descent, begin: tuple[UInt64s, str, np.random.Generator]) -> End:
    """Where a descent from a start ends."""
    point, origin, rng = begin
    return search.descend(point, rng)._replace(origin=origin)


def _regrown(search: Descent, begin: tuple[End, np.random.Generator]) -> End:
    return search.regrow(*begin)


def _different(ends: list[End]) -> list[End]:
    """Each allocation once, lowest loss first."""
    unique = {e.point.tobytes(): e for e in reversed(ends)}
    return sorted(unique.values(), key=lambda e: (e.loss, e.point.tobytes()))


def descend(
    draws: FeatureDraws,
    start: UInt64s,
    loss: FARO,
    rng: np.random.Generator,
    stop: Callable[[], bool] = lambda: False,
) -> UInt64s:
    """A local minimum of the expected loss on these draws, from a start."""
    return Descent(draws, loss, stop).descend(start, rng).point


class Descent:
    """Local search on some draws: thresholds, all flips at once, new features by prices.

    Minimising the expected loss is maximising Σ w M(Z, T) − (a/2)|Z|, the objective here.
    """

    def __init__(self, draws: FeatureDraws, loss: FARO, stop: Callable[[], bool]) -> None:
        self.columns, self.offsets = writable(draws, slice(0, draws.n_draws))
        self.weights = np.array(draws.probabilities)
        self.n_items, self.n_words = draws.n_items, self.columns.shape[1]
        self.half = loss.a / 2.0
        self.fixed = (2.0 - loss.a) * float(self.weights @ draws.n_memberships)
        self.stop = stop

    def loss_of(self, objective: float) -> float:
        """The expected loss at an objective."""
        return self.fixed - 2.0 * objective

    def descend(self, start: UInt64s, rng: np.random.Generator) -> End:
        """Threshold, flip and grow until nothing is gained."""
        z, value = self.align(np.array(start))
        n_flips = 0
        while not self.stop():
            after, done = self.flip(z, value)
            if not done:
                grown = self.grow(z, rng)
                if grown is None:
                    break
                after = grown
            n_flips += done
            z, value = self.align(after)
        return End(canonical_point(z), self.loss_of(value), "", n_flips)

    def regrow(self, end: End, rng: np.random.Generator) -> End:
        """Drop one feature after the other and descend again, while that leads lower."""
        best = end
        k = 0
        while k < len(best.point) and not self.stop():
            found = self.descend(np.delete(best.point, k, axis=0), rng)
            if found.loss < best.loss - SUM * (1.0 + abs(best.loss)):
                best, k = found._replace(flips=best.flips + found.flips), 0
            else:
                k += 1
        return self.perturb(best, rng)

    def perturb(self, end: End, rng: np.random.Generator) -> End:
        """Replace features by parts of draws' columns and descend again, while that is lower."""
        best, failures = end, 0
        most = FEW_PERTURBED if self.n_items <= FEW_ITEMS else PERTURBED
        while failures < most and not self.stop():
            kept = best.point[rng.random(len(best.point)) < 0.5]
            n_new = min(len(self.columns), int(rng.integers(1, 3)))
            new = self.columns[rng.choice(len(self.columns), n_new, replace=False)]
            new &= packed(rng.random((n_new, self.n_items)) < rng.uniform(0.5, 1.5))
            found = self.descend(np.concatenate([kept, new]), rng)
            failures += 1
            if found.loss < best.loss - SUM * (1.0 + abs(best.loss)):
                best, failures = found._replace(flips=best.flips + found.flips), 0
        return best

    def align(self, z: UInt64s) -> tuple[UInt64s, float]:
        """Match every draw to Z, keep the memberships of probability above a/2, and again."""
        mass, value = self.aligned(z)
        while not self.stop():
            after = packed(mass > self.half + SUM)
            after = after[after.any(axis=1)]
            if np.array_equal(after, z):
                break
            mass, reached = self.aligned(after)
            if reached <= value + SUM:
                break
            z, value = after, reached
        return z, value

    def aligned(self, z: UInt64s) -> tuple[Floats, float]:
        """Masses of items in the features that are matched to those of Z, and the objective."""
        from partita.kernels.features import aligned_masses, match_draws

        found = match_draws(z, self.columns, self.offsets)
        mass, matched = np.zeros((len(z), self.n_items)), np.zeros(len(z))
        aligned_masses(self.columns, self.offsets, self.weights, found.row_of, mass, matched)
        claimed = mass[unpacked(z, self.n_items).T].sum()
        return mass, float(claimed) - self.half * int(np.bitwise_count(z).sum())

    def flip(self, z: UInt64s, value: float) -> tuple[UInt64s, int]:
        """All flips of single bits that gain, together where that gains too, or the best one."""
        from partita.kernels.features import flip_masses, match_draws

        up, down = np.zeros((len(z) + 1, self.n_items)), np.zeros((len(z), self.n_items))
        found = match_draws(z, self.columns, self.offsets)
        flip_masses(self.columns, self.offsets, self.weights, *found, up, down)
        here = np.concatenate([unpacked(z, self.n_items).T, np.zeros((1, self.n_items), np.bool_)])
        gain = up - self.half
        gain[:-1] = np.where(here[:-1], self.half - down, gain[:-1])
        wanted = gain > SUM
        if not wanted.any():
            return z, 0
        best = np.unravel_index(int(gain.argmax()), gain.shape)
        one = here.copy()
        one[best] ^= True
        if wanted[:-1].sum() > 1:
            every = here.copy()
            every[:-1] ^= wanted[:-1]
            after = packed(every[every.any(axis=1)])
            if self.objective(after) > value + gain[best] - SUM:
                return after, int(wanted[:-1].sum())
        return packed(one[one.any(axis=1)]), 1

    def objective(self, z: UInt64s) -> float:
        """Σ w M(Z, T) − (a/2)|Z|."""
        from partita.kernels.features import matched_overlaps

        out = np.empty(self.weights.size, np.int64)
        matched_overlaps(z, self.columns, self.offsets, out)
        return float(self.weights @ out) - self.half * int(np.bitwise_count(z).sum())

    def grow(self, z: UInt64s, rng: np.random.Generator) -> UInt64s | None:
        """One more feature: the best of some that columns of draws settle at under the prices."""
        from partita.kernels.features import column_gain, match_draws, shadow_prices

        prices = np.empty(len(self.columns), np.int64)
        shadow_prices(self.offsets, *match_draws(z, self.columns, self.offsets), prices)
        if self.n_items <= FEW_ITEMS:
            return self.grow_exactly(z, prices)
        sizes = np.bitwise_count(self.columns).sum(axis=1, dtype=np.int64)
        left = np.repeat(self.weights, np.diff(self.offsets)) * (sizes - prices)
        open_columns = np.flatnonzero(left > 0)
        if not open_columns.size:
            return None
        n_seeds = min(SEEDS, open_columns.size)
        share = left[open_columns] / left[open_columns].sum()
        seeds = open_columns[rng.choice(open_columns.size, n_seeds, replace=False, p=share)]
        best, most = None, SUM
        tried: set[bytes] = set()
        for seed in seeds.tolist():
            c = self.columns[seed].copy()
            for _ in range(STEPS):
                if c.tobytes() in tried:
                    break
                tried.add(c.tobytes())
                mass = np.zeros(self.n_items)
                gain = column_gain(c, self.columns, self.offsets, self.weights, prices, mass)
                gain -= self.half * int(np.bitwise_count(c).sum())
                if gain > most:
                    best, most = c, gain
                c = packed((mass > self.half + SUM)[None])[0]
                if not c.any():
                    break
            if self.stop():
                break
        return None if best is None else np.concatenate([z, best[None]])

    def grow_exactly(self, z: UInt64s, prices: Ints) -> UInt64s | None:
        """One more feature: the best of all subsets of the items."""
        from partita.kernels.features import price_columns

        unused, none = np.uint64(64 - self.n_items), np.zeros(len(self.columns), np.uint64)
        subsets = np.arange(1 << self.n_items, dtype=np.uint64) << unused
        overlaps = np.bitwise_count(self.columns & subsets).astype(np.float64)
        gain, place = np.empty(1), np.empty(1, np.int64)
        price_columns(
            none, overlaps, self.offsets, self.weights, prices.astype(np.float64), self.half,
            np.zeros(1, np.int64), np.empty(subsets.size), np.empty(subsets.size), gain, place,
        )  # fmt: skip
        return np.concatenate([z, subsets[place, None]]) if gain[0] > SUM else None


def _reported(
    task: Task, draws: FeatureDraws, distinct: FeatureDraws, ends: list[End], bound: str | None
) -> FeatureEstimate:
    """The best end, evaluated anew, with its ties and proof."""
    loss: FARO = task.loss  # type: ignore[assignment]
    cut_short = task.clock.interrupted
    unique = _different(ends)

    def expected(point: UInt64s) -> float:
        return loss.expected(point, distinct, task.options.n_jobs)

    values = run_interruptible(task, lambda: [expected(e.point) for e in unique], "evaluating")
    value_of = {e.point.tobytes(): v for e, v in zip(unique, values, strict=True)}
    unique.sort(key=lambda e: value_of[e.point.tobytes()])
    best = unique[0].point
    value = loss.expected(best, draws, task.options.n_jobs)
    near = tied(value_of[best.tobytes()], loss)
    searched = task.clock.seconds
    lower = None
    if bound is not None:
        if task.clock.is_up():
            task.limits.append("time: no lower bound was proven")
        else:
            prove = partial(lower_bound, distinct, loss, best, value, bound, task)
            lower = run_interruptible(task, prove, "proving a lower bound")
            lower = min(max(lower, 0.0), value)
    membership, matched = memberships(best, distinct)
    agreed = [e for e in ends if value_of[e.point.tobytes()] <= near]
    report = SearchReport(
        starts=tuple(Start(e.origin, value_of[e.point.tobytes()], len(e.point)) for e in ends),
        agreed=len(agreed),
        agreed_kinds=tuple(dict.fromkeys(e.origin for e in agreed)),
        sweeps=float(sum(e.flips for e in ends)),
        seconds=searched,
        bound_seconds=task.clock.seconds - searched,
        limits=tuple(task.limits),
        interrupted=cut_short,
    )
    return FeatureEstimate(
        allocation=unpacked(best, draws.n_items),
        membership=membership,
        matched=matched,
        expected_loss=value,
        lower_bound=lower,
        loss=loss,
        ties=draws.shown([e.point for e in unique[1:] if value_of[e.point.tobytes()] <= near]),
        search=report,
        item_names=draws.item_names,
        kind=draws.kind,
    )


def memberships(point: UInt64s, draws: FeatureDraws) -> tuple[Floats, Floats]:
    """Of the features matched to those of an allocation: probabilities of items, and of any."""
    from partita.kernels.features import aligned_masses, match_draws

    mass, matched = np.zeros((len(point), draws.n_items)), np.zeros(len(point))
    columns, offsets = writable(draws, slice(0, draws.n_draws))
    found = match_draws(np.array(point), columns, offsets)
    weights = np.array(draws.probabilities)
    aligned_masses(columns, offsets, weights, found.row_of, mass, matched)
    return np.minimum(mass.T, 1.0), np.minimum(matched, 1.0)
