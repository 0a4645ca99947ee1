"""The allocation that minimises the posterior expected FARO loss: search, result and proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from partita._progress import Status
from partita._resources import Clock, run
from partita._tolerance import SUM
from partita._validate import Rng, choice_or_none, generator, integer, seconds
from partita._wording import Kind, counted
from partita.features.draws import (
    FeatureDraws,
    allocations,
    canonical_point,
    pack_columns,
    unpack_columns,
)
from partita.kernels.arrays import Bools, Floats, Ints, UInt64s
from partita.losses.builtin import FARO, writable
from partita.losses.evaluate import loss_for
from partita.search.bounds.matching import equal_copies, matching_bound
from partita.search.result import Estimate, SearchReport, Start, is_proven
from partita.search.task import Options, Task, run_interruptible, run_interruptible_parallel, tied

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
    """A local minimum of a descent."""

    point: UInt64s
    loss: float
    origin: str
    flips: int


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEstimate(Estimate):
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

    method: ClassVar[str] = "auto"  # type: ignore[misc] # a field of the other kind
    _title: ClassVar[str] = "Feature allocation"
    _part: ClassVar[str] = "feature"
    _point: ClassVar[str] = "allocation"

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

    _sizes = feature_sizes

    @property
    def _n_items(self) -> int:
        return len(self.allocation)

    def _lines(self) -> list[tuple[str, str]]:
        lines, none = super()._lines(), int((~self.allocation.any(axis=1)).sum())
        return [lines[0], ("in no feature", counted(none, "item")), *lines[1:]] if none else lines


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
        return _build_result(task, draws, distinct, ends, bound)


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
    ends = run_interruptible_parallel(task, partial(descend_from, search), work, "descending")
    # Drop-and-regrow costs as many descents as there are features: for the different ends only.
    best = _different(ends)[:REGROWN]
    again = [(end, rng) for end, rng in zip(best, task.rng.spawn(len(best)), strict=True)]
    grown = run_interruptible_parallel(
        task, partial(_regrow_from, search), again, "dropping and regrowing features"
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


def descend_from(search: Descent, begin: tuple[UInt64s, str, np.random.Generator]) -> End:
    """Where a descent from a start ends."""
    point, origin, rng = begin
    return search.descend(point, rng)._replace(origin=origin)


def _regrow_from(search: Descent, begin: tuple[End, np.random.Generator]) -> End:
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
            new &= pack_columns(rng.random((n_new, self.n_items)) < rng.uniform(0.5, 1.5))
            found = self.descend(np.concatenate([kept, new]), rng)
            failures += 1
            if found.loss < best.loss - SUM * (1.0 + abs(best.loss)):
                best, failures = found._replace(flips=best.flips + found.flips), 0
        return best

    def align(self, z: UInt64s) -> tuple[UInt64s, float]:
        """Match every draw to Z, keep the memberships of probability above a/2, and again."""
        mass, value = self.aligned(z)
        while not self.stop():
            after = pack_columns(mass > self.half + SUM)
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
        claimed = mass[unpack_columns(z, self.n_items).T].sum()
        return mass, float(claimed) - self.half * int(np.bitwise_count(z).sum())

    def flip(self, z: UInt64s, value: float) -> tuple[UInt64s, int]:
        """All flips of single bits that gain, together where that gains too, or the best one."""
        from partita.kernels.features import flip_masses, match_draws

        up, down = np.zeros((len(z) + 1, self.n_items)), np.zeros((len(z), self.n_items))
        found = match_draws(z, self.columns, self.offsets)
        flip_masses(self.columns, self.offsets, self.weights, found, up, down)
        here = np.concatenate(
            [unpack_columns(z, self.n_items).T, np.zeros((1, self.n_items), np.bool_)]
        )
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
            after = pack_columns(every[every.any(axis=1)])
            if self.objective(after) > value + gain[best] - SUM:
                return after, int(wanted[:-1].sum())
        return pack_columns(one[one.any(axis=1)]), 1

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
        shadow_prices(self.offsets, match_draws(z, self.columns, self.offsets), prices)
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
                c = pack_columns((mass > self.half + SUM)[None])[0]
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


def _build_result(
    task: Task, draws: FeatureDraws, distinct: FeatureDraws, ends: list[End], bound: str | None
) -> FeatureEstimate:
    """The best end, evaluated anew, with its ties and proof."""
    loss: FARO = task.loss  # type: ignore[assignment]
    cut_short = task.clock.interrupted
    unique = _different(ends)

    def expected(point: UInt64s) -> float:
        return loss.expected(point, distinct, task.options.n_jobs)

    values = run_interruptible(task, lambda: [expected(e.point) for e in unique], "evaluating")
    unique = [e._replace(loss=value) for e, value in zip(unique, values, strict=True)]
    value_of = {e.point.tobytes(): e.loss for e in unique}
    ends = [e._replace(loss=value_of[e.point.tobytes()]) for e in ends]
    first, *others = sorted(unique, key=lambda e: e.loss)
    best, near = first.point, tied(first.loss, loss)
    value = loss.expected(best, draws, task.options.n_jobs)
    searched = task.clock.seconds
    lower = None
    if bound is not None:
        if task.clock.is_up():
            task.log.limit("time: no lower bound was proven")
        else:
            prove = partial(lower_bound, distinct, loss, best, value, bound, task)
            lower = run_interruptible(task, prove, "proving a lower bound")
            lower = min(max(lower, 0.0), value)
    membership, matched = memberships(best, distinct)
    agreed = [e for e in ends if e.loss <= near]
    report = SearchReport(
        starts=tuple(Start(e.origin, e.loss, len(e.point)) for e in ends),
        agreed=len(agreed),
        agreed_kinds=tuple(dict.fromkeys(e.origin for e in agreed)),
        sweeps=float(sum(e.flips for e in ends)),
        seconds=searched,
        bound_seconds=task.clock.seconds - searched,
        limits=tuple(task.log.limits),
        interrupted=cut_short,
    )
    return FeatureEstimate(
        allocation=unpack_columns(best, draws.n_items),
        membership=membership,
        matched=matched,
        expected_loss=value,
        lower_bound=lower,
        loss=loss,
        ties=draws.shown([e.point for e in others if e.loss <= near]),
        search=report,
        item_names=draws.item_names,
        kind=draws.kind,
    )


def memberships(point: UInt64s, draws: FeatureDraws) -> tuple[Floats, Floats]:
    """Probabilities of items, and of any match, for the features matched to an allocation's."""
    from partita.kernels.features import aligned_masses, match_draws

    mass, matched = np.zeros((len(point), draws.n_items)), np.zeros(len(point))
    columns, offsets = writable(draws, slice(0, draws.n_draws))
    found = match_draws(np.array(point), columns, offsets)
    weights = np.array(draws.probabilities)
    aligned_masses(columns, offsets, weights, found.row_of, mass, matched)
    return np.minimum(mass.T, 1.0), np.minimum(matched, 1.0)


# ------------------------------------------------------------------ lower bounds


PAIR_WORK = {"fast": 4e8, "tight": 4e9}
"""Operations on pairs of draws, about 10^9 a second."""

SMALLEST, LARGEST = 16, 1_000
"""Draws that are matched together."""


GROUPED_DRAWS = 200
"""Most distinct draws whose groups are looked at."""

ROUNDS, TRIED = 40, 40
"""Linear programmes over the draws, and groups that are tried after each."""

TUPLES = 6_000
"""Most tuples of features, one of each draw, of a group."""

PACKED_ITEMS, PACKED_WORK = 20, 1e9
"""Most items, and subsets of them times columns of draws, that are priced at a time (0.3 s)."""

PACKED_ROUNDS, PACKED_GAIN = 100, 1e-7
"""Most pricings, and the least gain, relative to the loss, that another one must promise."""

WIDER, NARROWER = 3.0, 0.8
"""Changes of the box. fangs' samplesFA, 100 rounds: 15.450 (proven) with 3.0 and 0.8, 15.445 with
2.0 and 0.8, 15.414 with 1.5 and 0.7, 15.116 with 2.0 and 0.5."""


def lower_bound(
    draws: FeatureDraws, loss: FARO, best: UInt64s, value: float, bound: str, task: Task
) -> float:
    """No allocation has a lower expected loss on these distinct draws."""
    heavy = _loss_of_heavy_draw(draws, loss)
    if heavy is not None:
        return heavy
    # a·A + (2 − a)·B is at least min(a, 2 − a) times the metric A + B, and for pairs no more.
    factor, metric = min(loss.a, 2.0 - loss.a), FARO()
    proven = 0.0
    for effort in ("fast", "tight")[: 2 if bound == "tight" else 1]:
        if proven and task.clock.is_up():
            break
        block = _block(draws, PAIR_WORK[effort])
        found = matching_bound(
            *(draws, metric),
            block=block,
            whole=block,
            rng=np.random.default_rng(0),
            n_jobs=task.options.n_jobs,
            is_up=task.clock.is_up,
        )
        proven = max(proven, _next_value(factor * found, draws, loss))
        if is_proven(value, proven, loss):
            return proven
    if bound == "tight":
        if draws.n_items <= PACKED_ITEMS and len(draws.columns) << draws.n_items <= PACKED_WORK:
            proven = max(proven, _SetPacking(draws, loss, best, task).bound(value))
        elif draws.n_draws <= GROUPED_DRAWS:
            proven = max(proven, _group_bound(draws, loss, task))
    return _next_value(proven, draws, loss)


def _next_value(bound: float, draws: FeatureDraws, loss: FARO) -> float:
    """The least value from a bound on that an expected loss can have: a sum of whole numbers."""
    copies = equal_copies(draws.probabilities) if loss.a == 1.0 else None
    if copies is None:
        return bound
    atoms = int(copies.sum())
    return float(np.ceil(bound * atoms - 1e-6)) / atoms


def _loss_of_heavy_draw(draws: FeatureDraws, loss: FARO) -> float | None:
    """The expected loss of a draw of so much mass that no allocation is better, if there is one."""
    mass = draws.probabilities
    heaviest = int(mass.argmax())
    if mass[heaviest] < max(loss.a, 2.0 - loss.a) / 2.0:
        return None
    return loss.expected(draws.point(heaviest), draws)


def _block(draws: FeatureDraws, work: float) -> int:
    """Draws that can be matched together, by the work of all pairs."""
    k = float(draws.n_features.mean()) + 1.0
    pair = k * k * (3.0 * draws.columns.shape[1] + 2.0 * k) + 1_000.0
    return int(np.clip(work / (draws.n_draws * pair), SMALLEST, LARGEST))


# ------------------------------------------------------------------ set packing


class _SetPacking:
    """The linear programme that chooses columns z, each with one feature of some draws.

    Minimising the expected loss is maximising Σ w M(Z, T) − (a/2)|Z|: choosing columns z with the
    features that they are matched to, so that no feature is taken twice. Prices v ≥ 0 of the
    features relax that to

        Σ_ml w_m v_ml + K max_z (Σ_m w_m max(0, max_l |z ∩ T_ml| − v_ml) − (a/2)|z|)⁺,

    K = 2 E[features] / a being the most columns of an optimal Z. It is an upper bound at any
    prices, because the maximum is taken over all 2^N columns z. Prices are found by cutting
    planes in a box around the best ones so far (the boxstep method), whose linear programmes may
    be solved as roughly as they like.
    """

    def __init__(self, draws: FeatureDraws, loss: FARO, best: UInt64s, task: Task) -> None:
        n = draws.n_items
        self.task, self.half = task, loss.a / 2.0
        self.weights, self.offsets = np.array(draws.probabilities), np.array(draws.offsets)
        self.each = np.repeat(self.weights, draws.n_features)
        self.columns = draws.columns[:, 0] >> np.uint64(64 - n)
        self.sizes = np.bitwise_count(self.columns).astype(np.float64)
        self.most = float(int(self.weights @ draws.n_features / self.half + 1e-9))
        self.fixed = (2.0 - loss.a) * float(self.weights @ draws.n_memberships)
        self.low = np.uint64(min(8, max(0, n - 6)))
        rest = np.arange(1 << int(self.low), dtype=np.uint64)
        self.overlaps = np.bitwise_count(self.columns[:, None] & rest).astype(np.float64)
        self.blocks = np.arange(1 << (n - int(self.low)))
        self.start = self._prices_of(best, draws)

    def _prices_of(self, best: UInt64s, draws: FeatureDraws) -> Floats:
        """First prices: what the matching with the estimate leaves after paying for its columns."""
        from partita.kernels.features import match_draws

        found = match_draws(np.array(best), np.array(draws.columns), self.offsets)
        row = np.maximum(found.row_of, 0)
        if not len(best):
            return np.zeros(row.size)
        shared = found.shared[np.arange(row.size), row]
        left = shared - self.half * np.bitwise_count(best).sum(axis=1)[row]
        return np.where(found.row_of >= 0, np.maximum(left, 0.0), 0.0)

    def bound(self, value: float) -> float:
        """A lower bound of the expected loss; the search for a higher one ends at ``value``."""
        center, (least, columns) = self.start, self.relaxed(self.start)
        cuts: dict[bytes, tuple[Ints, float]] = self.cuts(columns, center)
        unused: dict[bytes, int] = dict.fromkeys(cuts, 0)
        box = 0.5
        for _ in range(PACKED_ROUNDS):
            if self.task.clock.is_up() or self.fixed - 2.0 * least >= value:
                break
            prices, promised, active = self.lowest(list(cuts.values()), center, box)
            if least - promised <= PACKED_GAIN * value:
                break
            reached, columns = self.relaxed(prices)
            if least - reached > 0.5 * (least - promised):
                box *= WIDER
            elif least - reached <= 0.1 * (least - promised):
                box *= NARROWER
            if reached < least:
                least, center = reached, prices
            used = dict(zip(cuts, active, strict=True))
            unused = {key: 0 if used[key] else n + 1 for key, n in unused.items()}
            cuts = {key: cut for key, cut in cuts.items() if unused[key] < 8}
            cuts |= self.cuts(columns, prices)
            unused = {key: unused.get(key, 0) for key in cuts}
        return self.fixed - 2.0 * least

    def relaxed(self, prices: Floats) -> tuple[float, UInt64s]:
        """The relaxed maximum at prices, and the columns that gain most."""
        from partita.kernels.features import price_columns

        high, n = self.columns >> self.low, self.overlaps.shape[1]

        def priced(blocks: Ints) -> tuple[Floats, Ints]:
            gain, place = np.empty(blocks.size), np.empty(blocks.size, np.int64)
            work = (np.empty(n), np.empty(n))
            price_columns(
                high, self.overlaps, self.offsets, self.weights, prices, self.half,
                blocks, *work, gain, place,
            )  # fmt: skip
            return gain, place

        parts = np.array_split(self.blocks, min(16, self.blocks.size))
        gains, places = map(
            np.concatenate, zip(*run(priced, parts, self.task.options.n_jobs), strict=True)
        )
        columns = (self.blocks.astype(np.uint64) << self.low) | places.astype(np.uint64)
        top = np.argsort(-gains, kind="stable")[:100]
        total = float(self.each @ prices) + self.most * max(0.0, float(gains[top[0]]))
        return total, columns[top][gains[top] > -0.05]

    def cuts(self, columns: UInt64s, prices: Floats) -> dict[bytes, tuple[Ints, float]]:
        """Of each column the features that it gains by, and its gain where those cost nothing."""
        found = {}
        overlaps = np.bitwise_count(self.columns & columns[:, None]).astype(np.float64)
        owner = np.repeat(np.arange(self.weights.size), np.diff(self.offsets))
        for column, overlap in zip(columns, overlaps, strict=True):
            order = np.lexsort((prices - overlap, owner))
            first = np.concatenate([[True], np.diff(owner[order]) > 0])
            chosen = order[first]
            chosen = chosen[overlap[chosen] > prices[chosen]]
            free = float(self.each[chosen] @ overlap[chosen])
            free -= self.half * int(np.bitwise_count(column))
            found[column.tobytes() + chosen.tobytes()] = (chosen, free)
        return found

    def lowest(
        self, cuts: list[tuple[Ints, float]], center: Floats, box: float
    ) -> tuple[Floats, float, Bools]:
        """The lowest relaxed maximum in a box, as far as the cuts know; and which of them bind."""
        from scipy.sparse import csr_array, hstack

        n, members = center.size, [chosen for chosen, _ in cuts]
        table = _sparse_rows(members, [self.each[chosen] for chosen in members], n)
        table = hstack([table, csr_array(np.ones((len(cuts), 1)))]).tocsr()
        low = np.append(np.maximum(center - box, 0.0), 0.0)
        high = np.append(np.minimum(center + box, self.sizes), np.inf)
        cost, free = np.append(self.each, self.most), np.array([free for _, free in cuts])
        solution, binding = _minimise(cost, -table, -free, np.column_stack([low, high]))
        if solution is None:
            return center, float(np.inf), binding > 0.0
        return solution[:-1].copy(), float(cost @ solution), binding > 1e-9


# ------------------------------------------------------------------ groups of draws


def _group_bound(draws: FeatureDraws, loss: FARO, task: Task) -> float:
    """The least Σ w d over distances d that fulfil what pairs and larger groups demand.

    Every group G demands Σ_{m ∈ G} d_m ≥ T(G), the least total loss of any allocation on G. Pairs
    are there from the start; larger groups come where the present d violates them.
    """
    n, mass = draws.n_draws, draws.probabilities
    rng = np.random.default_rng(0)
    far = min(loss.a, 2.0 - loss.a) * FARO().among(draws, task.options.n_jobs)
    first, second = np.triu_indices(n, 1)
    groups = [np.array(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)]
    demands = far[first, second].tolist()
    known: set[bytes] = set()
    proven = 0.0
    for _ in range(ROUNDS):
        found, distances = _solve_group_programme(groups, np.array(demands), mass)
        proven = max(proven, found)
        before = len(groups)
        for _ in range(TRIED):
            if task.clock.is_up():
                return proven
            group = _candidate(draws, far, distances, rng)
            if group is None or group.tobytes() in known:
                continue
            known.add(group.tobytes())
            demand = _group_cost_bound(draws, group, loss.a)
            if demand > distances[group].sum() + 1e-6:
                groups.append(group)
                demands.append(demand)
        if len(groups) == before:
            break
    return max(proven, _solve_group_programme(groups, np.array(demands), mass)[0])


def _solve_group_programme(
    groups: list[Ints], demands: Floats, mass: Floats
) -> tuple[float, Floats]:
    """A bound of the linear programme from its prices, made feasible, and its solution."""
    table = _sparse_rows(groups, [np.ones(group.size) for group in groups], mass.size)
    solution, prices = _minimise(mass, -table, -demands)
    if solution is None:
        return 0.0, np.zeros(mass.size)
    over = float((table.T @ prices / mass).max())
    return float(prices @ demands) / max(over, 1.0), solution


def _candidate(
    draws: FeatureDraws, far: Floats, distances: Floats, rng: np.random.Generator
) -> Ints | None:
    """Three to five draws, as far as tuples allow, whose pairs are about as tight as possible."""
    group, size = [int(rng.integers(distances.size))], int(rng.integers(3, 6))
    tuples = draws.n_features[group[0]] + 1
    slack = distances[group[0]] + distances - far[group[0]]
    while len(group) < min(size, distances.size):
        slack[group] = np.inf
        near = np.argsort(slack)[:12]
        joined = int(rng.choice(near[np.isfinite(slack[near])]))
        tuples *= draws.n_features[joined] + 1
        if tuples > TUPLES:
            break
        group.append(joined)
        slack += distances[joined] + distances - far[joined]
    return np.sort(np.array(group)) if len(group) >= 3 else None


def _group_cost_bound(draws: FeatureDraws, group: Ints, a: float) -> float:
    """A lower bound of Σ_{m ∈ G} loss(Z, T_m) over all Z, by assignment of tuples of features.

    A feature of Z is matched to at most one of each draw, and gains at most
    Σ_i max(0, 2·count_i − a·|G|) by a tuple, count_i being how many of its features have item i.
    """
    parts = [np.vstack([draws[m].T, np.zeros(draws.n_items, np.bool_)]) for m in group.tolist()]
    counts = np.zeros((1, draws.n_items))
    chosen = np.zeros((1, 0), np.int64)
    for part in parts:
        counts = (counts[:, None] + part[None]).reshape(-1, draws.n_items)
        index = np.tile(np.arange(len(part)), len(chosen))
        chosen = np.column_stack([np.repeat(chosen, len(part), axis=0), index])
    gains = np.maximum(0.0, 2.0 * counts - a * group.size).sum(axis=1)
    fixed = (2.0 - a) * float(draws.n_memberships[group].sum())
    kept = gains > 0.0
    if not kept.any():
        return fixed
    gains, chosen = gains[kept], chosen[kept]
    widths = np.array([len(part) - 1 for part in parts])
    begins = np.concatenate([[0], np.cumsum(widths)[:-1]])
    members = [(begins + row)[row < widths] for row in chosen]
    table = _sparse_rows(members, [np.ones(row.size) for row in members], int(widths.sum()))
    solution, prices = _minimise(-gains, table.T.tocsr(), np.ones(widths.sum()))
    if solution is None:
        return 0.0
    missing = max(0.0, float((gains - table @ prices).max()))
    return max(0.0, fixed - float(prices.sum()) - missing * float(widths.sum()))


# ------------------------------------------------------------------ linear programmes


def _sparse_rows(members: list[Ints], values: list[Floats], width: int) -> Any:
    """A sparse matrix from the columns and values of its rows."""
    from scipy.sparse import csr_array

    ends = np.concatenate([[0], np.cumsum([row.size for row in members])])
    entries = (np.concatenate(values), np.concatenate(members), ends)
    return csr_array(entries, shape=(len(members), width))


def _minimise(
    cost: Floats, table: Any, limits: Floats, bounds: Any = (0.0, None)
) -> tuple[Floats | None, Floats]:
    """Minimise cost·x under table·x ≤ limits: a solution, if any, and prices of the limits."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # its types take no sparse matrix
    solved = linprog(cost, A_ub=table, b_ub=limits, bounds=bounds, method="highs")
    if solved.x is None:
        return None, np.zeros(limits.size)
    return np.asarray(solved.x), np.maximum(-solved.ineqlin.marginals, 0.0)
