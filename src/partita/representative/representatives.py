"""Several representative partitions: the function, the choice of their number, the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from partita._progress import Status
from partita._resources import Clock, run_interruptible
from partita._result import Page, Renamed, Result, Table
from partita._validate import Rng, choice_or_none, integer, probability, seconds
from partita._validate import generator as generator_from
from partita._wording import Kind, above_minimum, counted, in_list, roughly, words
from partita.credible.ball import distance_levels, tie_tolerance
from partita.diagnostics.agreement import largest_autocorrelation_time
from partita.draws import AnyDraws, Draws, Point, any_draws
from partita.errors import InvalidInputError
from partita.explanation import Explanation, explain
from partita.kernels.arrays import Bools, Floats, Int32s, Ints
from partita.labels import DrawsLike, data_frame
from partita.lattice import partition_table
from partita.losses.base import Loss
from partita.losses.evaluate import metric_for
from partita.representative.k_medians import (
    EFFORTS,
    FULL,
    GAIN,
    QUICK,
    Effort,
    SearchResult,
    k_medians_search,
    lower_bound,
)
from partita.scan import chains_of
from partita.search.estimate import estimate
from partita.search.result import PROVEN

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator


BLOCKS = 40
"""Blocks of neighbouring draws, at most, that take turns: even ones are fitted, odd held out."""

FORGOTTEN = 3.0
"""Autocorrelation times left out of a fitted block at each end, as far as the chain is long."""

MIN_GAIN = 0.05
"""Minimum relative gain in held-out distance of each further representative."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutCurve(Result):
    """Mean distance to the nearest of n representatives, on draws that did not choose them.

    Attributes
    ----------
    n : ndarray of int64
        Numbers of representatives tried: 1, 2, …
    fitted, held_out : ndarray of float
        Mean distance on the half of the draws that chose them, and on the other half; both halves
        take both parts in turn.
    error : ndarray of float
        Standard error of ``held_out``, from the means of blocks of
        neighbouring draws, so that correlated draws count for what they are worth.
    ended : bool
        Whether the curve was followed to its end: False when it still falls at the last n.
    margin : ndarray of float, shape (n_max, n_max), or None
        Half the 95% interval of the difference of the held-out distances of two numbers. None in
        files of earlier versions, which chose the smallest n within one standard error of the best.
    """

    n: Ints
    fitted: Floats
    held_out: Floats
    error: Floats
    ended: bool
    margin: Floats | None = None

    @property
    def best(self) -> int:
        """The n of the lowest held-out distance."""
        return int(self.n[self.held_out.argmin()])

    @property
    def chosen(self) -> int:
        """The smallest n beyond which more representatives gain too little.

        Each of them would have to take 5% of the distance to one representative off, beyond the
        95% interval of the difference.
        """
        if self.margin is None:
            lowest = int(self.held_out.argmin())
            limit = self.held_out[lowest] + self.error[lowest]
            return int(self.n[np.flatnonzero(self.held_out <= limit)[0]])
        gain = self.held_out[:, None] - self.held_out
        wanted = MIN_GAIN * self.held_out[0] * (self.n - self.n[:, None]) + self.margin
        more = np.triu(gain > wanted, 1).any(axis=1)
        return int(self.n[more.argmin()])

    def in_words(self, kind: Kind = "posterior") -> str:
        """The result of the curve in one sentence, for draws of this kind."""
        held_out = f"held-out {words(kind).draws}"
        little = f"{100 * MIN_GAIN:g}%"
        if self.chosen == 1:
            return (
                f"One representative is enough: each further one brings {held_out} less than "
                f"{little} nearer, beyond chance."
            )
        taken = 1.0 - float(self.held_out[self.chosen - 1] / self.held_out[0])
        tail = "" if self.ended else f" The curve still falls at n = {self.n[-1]}."
        return (
            f"{self.chosen} representatives are {roughly(taken)} nearer to {held_out} than "
            f"one; each further one brings less than {little}. This is a resolution, not a number "
            f"of modes.{tail}"
        )


Half = tuple[Ints, Ints, Ints]
"""Rows to fit, rows to hold out, and the block of each row held out."""


def halves(draws: AnyDraws, correlated: float = 1.0) -> tuple[Half, Half]:
    """Even blocks of draws to fit and odd ones to hold out, and the other way round.

    Each chain is cut into blocks of neighbouring draws, which take turns: both
    halves then see every chain, also one that never left its own mode. At both ends of a fitted
    block, draws are left out for a few autocorrelation times (``correlated``, in draws), so that
    held-out draws do not remember fitted ones; blocks are long enough for that.
    """
    names, number = chains_of(draws)
    gap = int(np.ceil(FORGOTTEN * (correlated - 1.0)))
    block = np.empty(draws.n_draws, np.int64)
    inside = np.ones(draws.n_draws, np.bool_)
    first = 0
    for chain in range(names.size):
        rows = np.flatnonzero(number == chain)
        pieces = 2 * min(BLOCKS // 2, max(1, rows.size // max(8, 8 * gap)))
        block[rows] = first + np.arange(rows.size) * pieces // rows.size
        first += pieces
        ends = rows[1:][np.diff(block[rows]) > 0]
        short = min(gap, rows.size // (4 * pieces))
        for end in np.searchsorted(rows, ends).tolist():
            inside[rows[max(0, end - short) : end + short]] = False
    even, odd = np.flatnonzero(block % 2 == 0), np.flatnonzero(block % 2 == 1)
    return (even[inside[even]], odd, block[odd]), (odd[inside[odd]], even, block[even])


def mean_and_error(distances: Floats, weights: Floats, block: Ints) -> tuple[float, float]:
    """Weighted mean, and its standard error from the means of blocks."""
    number = np.unique(block, return_inverse=True)[1]
    mass = np.bincount(number, weights=weights)
    total = np.bincount(number, weights=weights * distances)
    mean = float(total.sum() / mass.sum())
    if mass.size < 2:
        return mean, float("inf")
    scatter = (total - mass * mean) / mass.sum()
    return mean, float(np.sqrt(np.square(scatter).sum() * mass.size / (mass.size - 1)))


def margins(distances: list[Floats], weights: Floats, block: Ints) -> Floats:
    """Half the 95% interval of the difference of each two means, by Student's law of the blocks."""
    from scipy.special import stdtrit

    n_blocks = np.unique(block).size
    width = float(stdtrit(n_blocks - 1.0, 0.975)) if n_blocks > 1 else np.inf
    errors = [[mean_and_error(a - b, weights, block)[1] for b in distances] for a in distances]
    return np.multiply(width, errors, where=np.array(errors) > 0, out=np.zeros((len(errors),) * 2))


class PointSet(Result):
    """Several partitions, or feature allocations, of the same draws, the heaviest first."""

    loss: Loss
    draws: AnyDraws
    weights: Floats

    @property
    def _points(self) -> Any:
        """The partitions or allocations, in the form of results."""
        raise NotImplementedError

    @property
    def _sizes(self) -> list[Ints]:
        """Sizes of the clusters, or of the features, of each."""
        raise NotImplementedError

    def _differs(self, number: int) -> str:
        """How one of them differs from the heaviest, in words."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self._points)

    def _shown_sizes(self, number: int) -> str:
        sizes = self._sizes[number]
        return ", ".join(map(str, sizes[:8])) + (", …" if sizes.size > 8 else "")

    def _differences(self) -> list[str]:
        """How each of the others differs from the heaviest, in lines of a screen."""
        from textwrap import wrap

        said = (f"{r} differs from 0: {self._differs(r)}" for r in range(1, self.n))
        return [line for text in said for line in wrap(text, 80, subsequent_indent="    ")]

    def _known(self, number: int, name: str = "number") -> int:
        return integer(number, name, least=-self.n, most=self.n - 1) % self.n


class PartitionSet(PointSet):
    """Several partitions of the same draws."""

    labels: Int32s

    @property
    def _points(self) -> Int32s:
        return self.labels

    @property
    def _sizes(self) -> list[Ints]:
        return [np.bincount(labels) for labels in self.labels]

    @property
    def n_clusters(self) -> Ints:
        """Number of clusters of each."""
        most: Ints = self.labels.max(axis=1).astype(np.int64)
        return most + 1

    def explain(self, number: int, other: int = 0) -> Explanation:
        """What turns one of them into another; by default, the heaviest into this one."""
        a, b = self.labels[self._known(other, "other")], self.labels[self._known(number)]
        return explain(a, b, loss=self.loss, item_names=self.draws.item_names)

    def _differs(self, number: int) -> str:
        return self.explain(number).in_words()


class AllocationSet(PointSet):
    """Several feature allocations of the same draws."""

    allocations: tuple[Bools, ...]

    @property
    def _points(self) -> tuple[Bools, ...]:
        return self.allocations

    @property
    def _sizes(self) -> list[Ints]:
        return [allocation.sum(axis=0) for allocation in self.allocations]

    @property
    def n_features(self) -> Ints:
        """Number of features of each."""
        return np.array([allocation.shape[1] for allocation in self.allocations], np.int64)

    def _differs(self, number: int) -> str:
        first, other = map(self.draws.canonical, (self.allocations[0], self.allocations[number]))
        far = self.loss.distances(first, self.draws.from_points([other]), n_jobs=1)
        return f"by {counted(int(far[0]), 'membership')}, features matched"


@dataclass(frozen=True, eq=False, repr=False)
class Regions(PointSet):
    """Base class of representatives of partitions and of feature allocations."""

    weights: Floats
    distance: float
    lower_bound: float | None
    assignment: Ints
    distances: Floats
    expected_loss: Floats
    radius: Floats
    prob: float
    chains: Floats
    chain_names: tuple[Any, ...]
    curve: HeldOutCurve | None
    limits: tuple[str, ...]
    interrupted: bool
    loss: Loss
    draws: AnyDraws

    @property
    def gap(self) -> float | None:
        """Relative distance to the proven bound; 0 when no set of n partitions does better."""
        if self.lower_bound is None:
            return None
        difference = self.distance - self.lower_bound
        return 0.0 if difference <= PROVEN * max(self.distance, 1.0) else difference / self.distance

    @property
    def chain_assignment(self) -> Ints | None:
        """The representative that holds each chain, or −1 for a chain that visits several.

        A chain is held by a representative that has more than 95% of its mass.
        None when chains are unknown.
        """
        if self.draws.chain is None:
            return None
        first = self.chains.argmax(axis=1)
        return np.where(self.chains.max(axis=1) > MIN_OWNED_SHARE, first, -1).astype(np.int64)

    owners = Renamed("chain_assignment")

    @property
    def chains_are_separate(self) -> bool:
        """Whether each of several chains is held by one representative, and not all by the same."""
        held_by = self.chain_assignment
        if held_by is None or held_by.size < 2:
            return False
        return bool((held_by >= 0).all() and np.unique(held_by).size > 1)

    def region(self, number: int) -> Any:
        """The draws of one region, with their weights."""
        return self.draws.subset(np.flatnonzero(self.assignment == self._known(number)))

    def similarity(self, number: int) -> Floats:
        """Similarity matrix of one region, shape (n_items, n_items)."""
        from partita.similarity_matrix import similarity

        return similarity(self.region(number))

    def to_frame(self) -> pd.DataFrame:
        """One row per representative."""
        columns = {
            "weight": self.weights,
            f"n_{self.draws.part_name}s": np.array([sizes.size for sizes in self._sizes]),
            "expected_loss": self.expected_loss,
            "radius": self.radius,
        }
        if self.draws.chain is not None:
            shares = zip(self.chain_names, self.chains, strict=True)
            columns |= {f"chain_{name}": share for name, share in shares}
        index = range(self.n)
        return data_frame(columns, of="representatives", index=index, name="representative")

    # ------------------------------------------------------------------ what it prints

    def _proof(self) -> str:
        if self.gap is None:
            return "no lower bound"
        point = {"cluster": "partition", "feature": "allocation"}[self.draws.part_name]
        if self.gap == 0.0:
            own = words(self.draws.kind).draws
            others = f"other {point} is" if self.n == 1 else f"other {self.n} {point}s are"
            return f"no {others} nearer to these {own}"
        none = f"no {point} is" if self.n == 1 else f"no {self.n} {point}s are"
        return f"{none} below {self.lower_bound:.4g}: {above_minimum(self.gap)}"

    def _facts(self) -> list[tuple[str, str]]:
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        amount = f"{self.distance:.6g}{unit}"
        facts = [
            ("distance", f"{amount} to the nearest, on average ({self.loss.title})"),
            ("proof", self._proof()),
        ]
        if self.curve is not None:
            facts.append(("number", self.curve.in_words(self.draws.kind)))
        if self.draws.n_chains > 1:
            facts.append(("chains", self._chains_in_words()))
        facts += [("limit", limit) for limit in self.limits]
        if self.interrupted:
            facts.append(("interrupted", "the search was cut short; these are the best so far"))
        return facts

    def _chains_in_words(self) -> str:
        held_by = self.chain_assignment
        assert held_by is not None
        if self.chains_are_separate:
            held = [
                f"{_names([c for c, o in zip(self.chain_names, held_by, strict=True) if o == r])} "
                f"to {r}"
                for r in np.unique(held_by)
            ]
            return f"each stays with one representative ({'; '.join(held)})"
        if (held_by >= 0).all():
            return f"all of them belong to representative {held_by[0]}"
        crossing = int((held_by < 0).sum())
        return f"{crossing} of {held_by.size} visit several representatives"

    def _table(self) -> Table:
        sizes = f"sizes of {self.draws.part_name}s"
        columns = {
            "": map(str, range(self.n)),
            "mass": (f"{weight:.3f}" for weight in self.weights),
            sizes: map(self._shown_sizes, range(self.n)),
            "mean loss": (f"{loss:.3g}" for loss in self.expected_loss),
            f"{100 * self.prob:g}% radius": (f"{radius:.3g}" for radius in self.radius),
        }
        return Table.of_columns("", columns)

    def __repr__(self) -> str:
        rows = counted(self.draws.n_draws, words(self.draws.kind).draw)
        return (
            f"<{type(self).__name__}: {self.n} of {rows}, "
            f"distance {self.distance:.4g}, weights {np.round(self.weights, 3).tolist()}>"
        )

    def __str__(self) -> str:
        from textwrap import wrap

        lines = [counted(self.n, "representative"), self._table().text(), *self._differences()]
        for name, text in self._facts():
            lines += wrap(f"{name + ':':<12}{text}", 80, subsequent_indent=" " * 12)
        return "\n".join(lines)

    def _page(self) -> Page:
        table = self._table()
        from_first = ["", *map(self._differs, range(1, self.n))]
        rows = tuple((*row, text) for row, text in zip(table.rows, from_first, strict=True))
        shown = Table("", (*table.columns, "from 0"), rows)
        return Page(counted(self.n, "representative"), self._facts(), [shown])


@dataclass(frozen=True, eq=False, repr=False)
class Representatives(PartitionSet, Regions):
    """A few partitions that together lie near to the draws. Made by :func:`representatives`.

    Every draw belongs to the region of its nearest representative. One that
    is as near to several (within rounding) belongs to the one of them with
    the smaller expected loss over all draws, and then to the one whose
    canonical labels come first.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, n_items)
        The representatives, heaviest region first; clusters numbered by size.
    weights : ndarray of float, shape (n,)
        Posterior mass of the regions.
    distance : float
        W, the mean distance of the draws to their representative.
    lower_bound : float or None
        No n partitions have a smaller W on these draws. None where not asked for.
    gap : float or None
        (distance − lower_bound) / distance; 0 means proven optimal.
    assignment : ndarray of int64, shape (n_draws,)
        Region of each draw.
    distances : ndarray of float, shape (n_draws,)
        Distance of each draw to its representative.
    expected_loss : ndarray of float, shape (n,)
        Mean distance within each region.
    radius : ndarray of float, shape (n,)
        Radius of the credible ball of each region around its representative.
    prob : float
        Mass of a region that its ball holds.
    chains : ndarray of float, shape (n_chains, n)
        Share of each chain's mass in each region; rows sum to 1.
    chain_names : tuple
        Names of the chains, in the order of the rows.
    curve : HeldOutCurve or None
        How n was chosen; None when it was given.
    limits : tuple of str
        Limits that were binding, in words; empty when none was.
    interrupted : bool
        Whether Ctrl-C or the time limit ended the search.
    loss : Loss
    draws : Draws

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1]] * 3 + [[0, 1, 0, 1]] * 2
    >>> found = pt.representatives(draws, n=2)
    >>> found.labels
    array([[0, 0, 1, 1],
           [0, 1, 0, 1]], dtype=int32)
    >>> found.weights, found.distance
    (array([0.6, 0.4]), 0.0)
    """

    labels: Int32s


@dataclass(frozen=True, eq=False, repr=False)
class FeatureRepresentatives(AllocationSet, Regions):
    """A few feature allocations that together lie near to the draws.

    Made by :func:`representatives`.

    Attributes
    ----------
    allocations : tuple of ndarray of bool, each of shape (n_items, n_features)
        The representatives, heaviest region first.
    weights, distance, lower_bound, gap, assignment, distances, expected_loss, radius, prob, chains
        As of :class:`Representatives`.
    chain_names, curve, limits, interrupted, loss
        As of :class:`Representatives`.
    draws : FeatureDraws

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}]] * 3 + [[{3}]] * 2, n_items=4)
    >>> found = pt.representatives(draws, n=2)
    >>> found.n_features, found.weights, found.distance
    (array([2, 1]), array([0.6, 0.4]), 0.0)
    """

    allocations: tuple[Bools, ...]

    def __features__(self) -> AnyDraws:
        return self.draws


MIN_OWNED_SHARE = 0.95
"""Share of a chain's mass from which on a representative holds the chain."""


def _names(chains: list[Any]) -> str:
    listed = ", ".join(map(str, chains))
    return f"{'chain' if len(chains) == 1 else 'chains'} {listed}"


def representatives_in_words(found: Regions) -> str:
    """Which representatives there are, which chains each holds, which mass, and what differs."""
    own = words(found.draws.kind).draws
    if found.n == 1:
        return (
            f"One representative is enough for all {own}: the chains differ in detail, not in "
            "their answer."
        )
    told = [
        f"Representative {r}: {100 * found.weights[r]:.3g}% of the {own}{_chains_of(found, r)}."
        for r in range(found.n)
    ]
    told += [f"{r} differs from 0: {found._differs(r)}." for r in range(1, found.n)]
    if found.chains_are_separate:
        told.append(
            "No chain crosses from one to another, so these shares say how many chains went "
            "where, not how probable each answer is."
        )
    return " ".join(told)


def _chains_of(found: Regions, number: int) -> str:
    """The chains in which the draws of one region are."""
    held_by = found.chain_assignment
    if held_by is None or held_by.size == 1:
        return ""
    mine = [str(found.chain_names[c]) for c in np.flatnonzero(held_by == number)]
    if mine:
        return f" ({'chain' if len(mine) == 1 else 'chains'} {in_list(mine)})"
    visited = np.flatnonzero(found.chains[:, number] > 1.0 - MIN_OWNED_SHARE)
    if visited.size in (0, held_by.size):
        return ", spread over all chains"
    return f", in {_names([found.chain_names[c] for c in visited])}"


def chain_shares(
    draws: AnyDraws, region: Ints, n: int, mass: Floats
) -> tuple[tuple[Any, ...], Floats]:
    """Names of the chains, and the share of each chain's mass in each of n regions."""
    names, number = chains_of(draws)
    table = np.zeros((names.size, n))
    np.add.at(table, (number, region), mass)
    return tuple(names.tolist()), table / table.sum(axis=1, keepdims=True)


def nearest_regions(
    draws: AnyDraws, rows: Sequence[Point], loss: Loss, n_jobs: int | None
) -> tuple[Ints, Floats]:
    """Region of each distinct draw, and its distance; ties by the rule of ``Representatives``."""
    distances = np.array([loss.distances(row, draws, n_jobs) for row in rows])
    expected = (distances * draws.probabilities).sum(axis=1)
    names = [draws.key(row) for row in rows]
    order = np.array(sorted(range(len(rows)), key=lambda r: (expected[r], names[r])))
    # The first, in this order, of those within rounding of the nearest.
    close = distances[order] <= distances.min(axis=0) + tie_tolerance(loss)
    region = order[close.argmax(axis=0)]
    return region, distances[region, np.arange(draws.n_draws)]


def build_result(
    posterior: AnyDraws,
    index: Ints,
    found: SearchResult,
    nearest: tuple[Ints, Floats],
    lower: float | None,
    prob: float,
    curve: HeldOutCurve | None,
    loss: Loss,
    clock: Clock,
) -> Representatives:
    """The result, heaviest region first, equal ones by their canonical labels."""
    weights = posterior.probabilities
    n = len(found.rows)
    region, distances = nearest[0][index], nearest[1][index]
    mass = np.bincount(region, weights=weights, minlength=n).astype(np.float64)
    keys = [posterior.key(row) for row in found.rows]
    order = np.array(sorted(range(n), key=lambda r: (-mass[r], keys[r])))
    region, mass = np.argsort(order)[region], mass[order]
    names, shares = chain_shares(posterior, region, n, weights)
    within = np.bincount(region, weights=weights * distances, minlength=n)
    result, points = _RESULTS[posterior.part_name]
    made: Representatives = result(
        **{points: posterior.shown([found.rows[r] for r in order])},
        weights=mass,
        distance=float((weights * distances).sum()),
        lower_bound=lower,
        assignment=region,
        distances=distances,
        expected_loss=np.divide(within, mass, out=np.zeros(n), where=mass > 0),
        radius=np.array([_radius(posterior, region == r, distances, prob, loss) for r in range(n)]),
        prob=prob,
        chains=shares,
        chain_names=names,
        curve=curve,
        limits=found.limits,
        interrupted=clock.interrupted,
        loss=loss,
        draws=posterior,
    )
    return made


_RESULTS: dict[str, tuple[type[Any], str]] = {
    "cluster": (Representatives, "labels"),
    "feature": (FeatureRepresentatives, "allocations"),
}
"""The result and the name of its points, by what draws consist of."""


def _radius(draws: AnyDraws, mine: Bools, distances: Floats, prob: float, loss: Loss) -> float:
    rows = np.flatnonzero(mine)
    if rows.size == 0:
        return 0.0
    levels = distance_levels(distances[rows], draws.subset(rows), tie_tolerance(loss))
    return float(levels.value[levels.at(prob)])


LISTED_ITEMS, LISTED_NUMBER = 6, 3
"""Items and representatives up to which every set of partitions is tried."""


def representatives(
    draws: DrawsLike,
    *,
    n: int | None = None,
    loss: str | Loss | None = None,
    n_max: int = 8,
    prob: float = 0.95,
    bound: Literal["fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> Representatives:
    r"""Find n points that together lie nearest to the draws, and prove how near any n can be.

    .. math:: W_n = \min_{\rho_1, \ldots, \rho_n} \sum_m w_m \min_l d(c_m, \rho_l)

    With n = 1 this is :func:`estimate`. Choose it when one estimate may hide
    others: chains that disagree, several modes, a wide ball. Each draw
    belongs to its nearest representative, so the representatives come with the
    posterior mass of their regions.

    Parameters
    ----------
    draws : Draws, array_like or path, or FeatureDraws
        Anything :func:`as_draws` accepts, or draws of feature allocations. Equal draws are
        merged first.
    n : int, optional
        Number of representatives, a resolution. When omitted it is chosen by a held-out
        curve: representatives are found on one half of the draws (blocks of
        neighbouring draws of each chain take turns, with gaps of three autocorrelation times),
        judged on the other, and the other way round; the smallest n is kept from which on each
        further representative takes off less than 5% of the distance to one, beyond its 95%
        interval.
    loss : str or Loss, optional
        A metric, such as "vi" or "binder"; VI by default, and FARO of feature draws.
    n_max : int, default 8
        Most representatives to try when n is omitted.
    prob : float, default 0.95
        Mass of each region that its credible ball holds.
    bound : "fast", "tight" or None
        How hard to prove a lower bound of W; for n = 1 "fast" is the default of :func:`estimate`.
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
    Representatives, or FeatureRepresentatives of feature draws

    Notes
    -----
    Up to six items and three representatives, all sets are listed. Otherwise the search takes
    greedy medoids and random starts on samples of the draws,
    moves them by hard and by softened Lloyd steps whose centres are moved
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
    >>> found = pt.representatives(draws, n=2)
    >>> round(found.distance, 4), len(found.labels)
    (0.3333, 2)
    """
    posterior: AnyDraws = any_draws(draws)
    measure = metric_for(loss, posterior, "regions of nearest points need one")
    level = probability(prob)
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
            curve = search.curve(posterior, integer(n_max, "n_max", least=1))
            number = curve.chosen
        else:
            number = _number(n, distinct.n_draws)
        found = search.listed(distinct, number) or search.best(distinct, number, FULL)
        nearest = nearest_regions(distinct, found.rows, measure, n_jobs)
        status.say("proving a lower bound")
        lower = found.lower_bound
        if lower is None and number > 1 and bound is not None:
            lower = lower_bound(distinct, number, measure, nearest, EFFORTS[bound], n_jobs)
        return build_result(posterior, index, found, nearest, lower, level, curve, measure, clock)


@dataclass(frozen=True, eq=False)
class _Search:
    """One search with its clock: the same calls for the curve and for the answer."""

    loss: Loss
    rng: Generator
    clock: Clock
    n_jobs: int | None
    status: Status
    bound: Literal["fast", "tight"] | None

    def best(self, draws: AnyDraws, n: int, effort: Effort) -> SearchResult:
        """The best n points for some distinct draws; after Ctrl-C, the best so far."""
        if n == 1:
            bound = "auto" if self.bound == "fast" else self.bound
            # No time left would be no search: a moment is needed for any answer.
            left = max(self.clock.left, 0.01)
            one = estimate(
                draws,
                loss=self.loss,
                bound=bound if effort is FULL else None,
                time_limit=left if np.isfinite(left) else None,
                n_jobs=self.n_jobs,
                rng=self.rng,
            )
            self.clock.interrupted |= one.search.interrupted  # Ctrl-C ends the rest, too
            point = draws.clean(one, "draws")
            return SearchResult([point], 1, 1, one.search.limits, one.lower_bound)
        return run_interruptible(
            lambda: k_medians_search(
                draws,
                n,
                self.loss,
                effort=effort,
                rng=self.rng,
                stop=self.clock.is_up,
                n_jobs=self.n_jobs,
                say=self.status.say,
            ),
            self.clock.interrupt,
        )

    def listed(self, draws: AnyDraws, n: int) -> SearchResult | None:
        """The best of all sets of partitions, for few items and representatives; None for more."""
        few = draws.n_items <= LISTED_ITEMS and 1 < n <= LISTED_NUMBER
        if not few or not isinstance(draws, Draws):
            return None
        rows = partition_table(draws.n_items)
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
        return SearchResult(list(rows[list(chosen)]), 1, 1, (), proven)

    def curve(self, draws: AnyDraws, n_max: int) -> HeldOutCurve:
        """Distances on both halves for n = 1, 2, … while more representatives help."""
        correlated = 1.0
        if draws.weights is None and draws.kind == "posterior":
            correlated = largest_autocorrelation_time(draws, self.n_jobs)
        ways = [way for way in halves(draws, correlated) if way[0].size and way[1].size]
        if not ways:
            return _curve([(0.0, 0.0, 0.0)], ended=True)
        parts = [(draws.subset(fit).unique(), draws.subset(held)) for fit, held, _ in ways]
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

    def _to_nearest(self, rows: Sequence[Point], draws: AnyDraws) -> Floats:
        distances = [self.loss.distances(row, draws, self.n_jobs) for row in rows]
        nearest: Floats = np.min(distances, axis=0)
        return nearest


def _curve(
    rows: list[tuple[float, float, float]], *, ended: bool, margin: Floats | None = None
) -> HeldOutCurve:
    fitted, held_out, error = np.array(rows).T
    n = np.arange(1, len(rows) + 1)
    return HeldOutCurve(n, fitted, held_out, error, ended, margin)


def _number(n: int, distinct: int) -> int:
    number = integer(n, "n", least=1)
    if number > distinct:
        raise InvalidInputError(
            f"n={n}, but there are only {distinct} different draws; give at most {distinct}.",
            argument="n",
        )
    return number
