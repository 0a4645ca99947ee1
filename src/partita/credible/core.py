"""Credible cores: large sets of items whose grouping has a high probability, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrik, betaincinv

from partita._progress import Status
from partita._resources import Clock, count_jobs, require_memory, run_interruptible
from partita._result import Renamed, Result
from partita._tolerance import MASS, SUM
from partita._validate import Rng, boolean, choice_or_none, generator, integer, probability, seconds
from partita._wording import counted, words
from partita.credible.core_search import (
    Growth,
    Path,
    bound_size,
    grow_from_seeds,
    improve,
    nested_path,
    prepare,
    work_of_growth,
)
from partita.draws import Draws
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.kernels.credible_core import agreeing, agreeing_prefix, weights_of_places
from partita.kernels.uncertainty import match_rows
from partita.labels import (
    DrawsLike,
    Labels,
    LabelsLike,
    as_numbered,
    data_frame,
    from_one,
    items_from_one,
)
from partita.lattice import PartialPartition
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.mcmc import ess_of_halves, rank_normalised, split
from partita.posterior import Posterior, as_posterior
from partita.scan import FEW_DRAWS, chain_rows, chains_of, gather_for

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
"""Confidence of the lower limit that ``prob`` is asked of."""


_QUICK_CELLS, _QUICK_WORK = 5_000_000, 2e7
"""Labels of draws up to which a quick core is cheap, and labels that its growth may read."""


_BOUND_WORK = {"fast": 3e8, "tight": 3e10}
"""Words of bits that branch and bound may read: under a second, about a minute."""

_SHOWN = 12
"""Clusters listed on one screen."""


def credible_core(
    draws: DrawsLike,
    *,
    prob: float = 0.9,
    estimate: LabelsLike | None = None,
    held_out: bool | None = None,
    bound: Literal["fast", "tight"] | None = "fast",
    n_starts: int | None = None,
    patience: int = 200,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> CredibleCore:
    r"""A large set of items whose grouping holds with probability ``prob``, all at once.

    For a set A of items and a partition ρ of A,

    .. math:: P(\rho) = \sum_m w_m \, 1[\text{draw } m \text{ restricted to } A \text{ is } \rho].

    A set that is chosen because it holds in some draws holds less often in others: with few
    draws of many items, far less often. So the draws are split in two parts. The set, and an
    order in which its items come in, are found on one part; the other part, which had no say
    in it, measures every beginning of that order and cuts it to the longest one whose
    probability is at least ``prob`` with 95% confidence. This is done both ways, and the
    larger set is the core. ``core.probability`` is the mean of both ways at its size.

    A ball says where the clustering could be; the core says what all of it has in common.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.9
        Asked of the lower confidence limit of the probability. With n independent draws held
        out it can be shown where :math:`prob^n \le 0.025`: 36 draws for 0.9, so 72 in all.
    estimate : array_like, shape (n_items,), or an estimate, optional
        Its numbers are given to the clusters of the core; by default they are numbered by size.
    held_out : bool, optional
        False describes these draws instead: the largest set whose share *in these draws* is at
        least ``prob``, without any statement about the posterior (``core.probability`` is NaN,
        the share is ``core.in_sample_probability``). By default True for draws of a posterior,
        and False for an ensemble or tilted draws, of which shares are all there is.
    bound : {"fast", "tight"} or None, default "fast"
        The proof of how many items can reach ``prob`` in these draws. Any two items of such a
        set are together, or apart, in draws of weight at least ``prob``, so the set is a clique
        of the graph of such pairs, and a colouring of that graph bounds it. Branch and bound on
        bit sets of draws goes on from there: for under a second, or about a minute.
    n_starts : int, optional
        Seeds, the first items to grow from; by default every one, as far as a few seconds go.
        ``core.n_starts`` says how many were tried.
    patience : int, default 200
        Rounds without gain after which taking items out and growing again ends;
        fewer, 8 + 4·size, while the core is small.
    time_limit : float, optional
        Seconds after which the best core so far is returned, as after Ctrl-C.
    rng : int, SeedSequence or Generator, optional
        By default a fixed seed, so that the same draws give the same core.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    CredibleCore

    Notes
    -----
    The parts are whole chains where there are several, else the two halves of the chain.
    Weighted draws have no order and are dealt out by weight. The number of items of the order
    that a draw agrees with is one number per draw, and the cut is an order statistic of it, so
    the confidence needs no law (Wilks, 1941); each of the two ways has half of the 5%. Draws
    that are autocorrelated count by their effective number, weighted ones by Kish's.
    A single item is grouped identically in every draw, so no core is smaller: a core of one item
    says that nothing can be stated about two.

    From each seed the set grows by the item that keeps the most weight; items that cost no
    draw come in at once. This is O(M·N + S·N·K) for M distinct draws of N items, K clusters of
    the core and S steps that cost a draw. The bits of all pairs take N²M/8 bytes; where that
    is more than 128 MB the bound is by colouring alone, and above 4,000 items ``upper_bound``
    is the number of items.

    References
    ----------
    Barrientos, A. F., Page, G. L., Dahl, D. B. and Dunson, D. B. (2024), on
    partitions of subsets with high inclusion probability (CHIPS).
    Wilks, S. S. (1941), Determination of sample sizes for setting tolerance limits.
    Annals of Mathematical Statistics 12.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> rng = np.random.default_rng(0)
    >>> moves = rng.random((400, 6)) < [0.01, 0.01, 0.01, 0.01, 0.3, 0.3]
    >>> draws = pt.Draws(np.where(moves, 2, [0, 0, 1, 1, 0, 1]))
    >>> core = pt.credible_core(draws)
    >>> core.items, core.labels
    (array([0, 1, 2, 3]), array([ 0,  0,  1,  1, -1, -1], dtype=int32))
    >>> core.probability_low >= 0.9
    True

    Four draws can show nothing about a posterior, but they can be described:

    >>> four = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> pt.credible_core(four).size
    1
    >>> described = pt.credible_core(four, held_out=False)
    >>> described.items, described.in_sample_probability
    (array([0, 1, 3]), 1.0)
    """
    posterior = as_posterior(draws, n_jobs)
    level = probability(prob)
    sampled = posterior.draws.kind == "posterior"
    held_out = sampled if held_out is None else boolean(held_out, "held_out")
    if held_out and not sampled:
        rows = words(posterior.draws.kind).source
        raise InvalidInputError(
            f"rows of kind {posterior.draws.kind!r} ({rows}) are not a sample of a posterior, so "
            "no probability can be measured by holding some of them out; leave held_out out to "
            "get shares of these rows.",
            argument="held_out",
        )
    numbers = None
    if estimate is not None:
        numbers = as_numbered(estimate, posterior.draws, "estimate")
    bound = choice_or_none(bound, "bound", ("fast", "tight"))
    patience, limit, seed = integer(patience, "patience"), seconds(time_limit), _seed(rng)
    n_starts = None if n_starts is None else integer(n_starts, "n_starts", least=1)
    with Status("credible core") as status:
        here = gather_for(posterior.draws, "credible_core", status.say)
    if here is not posterior.draws:
        posterior = as_posterior(here, n_jobs)
    n, k = here.n_items, int(here.n_clusters.max())
    require_memory(
        16 * n * (k + 1) * count_jobs(n_jobs),  # the weights of items in clusters, as they grow
        f"growing sets of {n:,} items in up to {k:,} clusters by {count_jobs(n_jobs)} threads",
        "Pass n_jobs=1, or fewer items (draws.select_items).",
    )
    clock = Clock(limit)

    def found() -> CredibleCore:
        whole = _Sample(here, np.arange(here.n_draws))
        parts = tuple(_grow_parts(posterior, whole, held_out, n_starts, seed, n_jobs, clock))
        search = _Search(posterior, whole, held_out, parts, bound, patience, limit, numbers)
        return _cores_at(search, [level], clock)[0]

    return run_interruptible(found, clock.interrupt)


def quick_core(
    posterior: Posterior, prob: float = 0.9, estimate: LabelsLike | None = None
) -> CredibleCore | None:
    """A core from a short search, without a bound, for a line in a summary.

    None where even that takes long. :func:`credible_core` may find a larger one.
    """
    cells = posterior.draws.n_draws * posterior.draws.n_items
    k = int(posterior.draws.n_clusters.max())
    work = work_of_growth((posterior.draws.n_draws, posterior.draws.n_items), k)
    if cells > _QUICK_CELLS or work > 100 * _QUICK_WORK:
        return None
    n_starts = max(1, int(3.0 * _QUICK_WORK / work))
    return credible_core(
        posterior, prob=prob, estimate=estimate, bound=None, n_starts=n_starts, patience=20
    )


@dataclass(frozen=True, eq=False, repr=False)
class CredibleCore(Result):
    """A set of items whose grouping holds with a given probability, all at once.

    Made by :func:`credible_core`.

    Attributes
    ----------
    prob : float
        The probability asked for.
    partial : PartialPartition
        The grouping of the items in the core.
    labels : ndarray of int32, shape (n_items,)
        Cluster of each item, −1 outside: in the numbers of the estimate where one was given
        (clusters without a counterpart in it come after its own), else by size.
    probability : float
        The posterior probability that the core's items are grouped exactly so, by
        cross-fitting: the share of the draws held out that agree, averaged over both ways at
        this size, because the way taken is the one that looked better. Of an ensemble or
        tilted draws, their share. NaN where nothing was held out.
    probability_mcse : float
        Its Monte Carlo standard error: of a share of the effective number of draws, by the
        beta law, so that it is positive even when all agree, and at least the difference of
        either way from the mean. 0 for a core of one item; NaN where nothing was held out.
    probability_low : float
        Lower limit of that probability with 95% confidence, from this core's own share in the
        draws held out: at least ``prob``. NaN likewise.
    in_sample_probability : float
        The same weight in the draws on which the core was found. Higher, for it was chosen
        there; it says nothing about the posterior.
    cluster_probability : ndarray of float, shape (n_clusters,)
        For each of ``clusters``, the weight of the draws in which its items are together and
        apart from all other items of the core: of the draws held out, where there are any.
    upper_bound : int
        In these draws, all of them, no set of more items has a share of ``prob``; proven.
        A statement about the draws, not about the posterior.
    curve : ndarray of float, shape (n_items,)
        The probability of the first 1, 2, … items of ``path``, measured as ``probability`` is.
    in_sample_curve : ndarray of float, shape (n_items,)
        The largest share found for a set of 1, 2, … items in the draws on which the core was
        found.
    path : ndarray of int64, shape (n_items,)
        The items in an order in which the core grows, one by one, and then goes on
        to all items.
    probability_with_item : ndarray of float, shape (n_items,)
        For each item outside, the share of the draws held out that agree with the core and
        have that item at the place where the draws that found the core have it; for the
        core's own items, the share that agrees with the core.
    agrees : ndarray of bool, shape (n_draws,)
        The draws that group the core's items exactly so. In them the core's
        clusters need no relabelling: parameters of those draws can be averaged.
    held_out : ndarray of bool, shape (n_draws,)
        The draws on which the probability was measured; none where nothing was held out.
    n_effective : float
        Effective number of the draws held out, for the agreement with the core.
    n_found : int
        Items of the set on the part on which it was found, before it was cut.
    n_starts, n_seeds : int
        First items tried, and first items there are, in both parts together.
    rounds : int
        Rounds of taking items out and growing again.
    limits : tuple of str
        What ended the search early: "time limit" or "interrupt".
    draws : Draws
        The draws, kept by reference.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 3], [1, 1, 1, 2, 2, 2],
    ...          [1, 1, 2, 2, 2, 2], [1, 2, 2, 3, 3, 3]]
    >>> core = pt.credible_core(draws, prob=0.6, held_out=False)
    >>> core.size, core.in_sample_probability, core.is_proven
    (4, 0.6, True)
    >>> core.in_sample_curve
    array([1. , 1. , 0.8, 0.6, 0.4, 0.2])
    """

    prob: float
    partial: PartialPartition
    labels: Labels
    probability: float
    probability_mcse: float
    probability_low: float
    in_sample_probability: float
    cluster_probability: NDArray[np.float64]
    upper_bound: int
    curve: NDArray[np.float64]
    in_sample_curve: NDArray[np.float64]
    path: NDArray[np.int64]
    probability_with_item: NDArray[np.float64]
    agrees: NDArray[np.bool_]
    held_out: NDArray[np.bool_]
    n_effective: float
    n_found: int
    n_starts: int
    n_seeds: int
    rounds: int
    limits: tuple[str, ...]
    draws: Draws
    _search: _Search = field(repr=False)

    def __draws__(self) -> Draws:
        return self.draws

    @property
    def items(self) -> NDArray[np.int64]:
        """Positions of the items in the core."""
        return self.partial.items

    @property
    def size(self) -> int:
        """Number of items in the core."""
        return self.partial.size

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the core."""
        return self.partial.n_clusters

    @property
    def clusters(self) -> NDArray[np.int32]:
        """The numbers of the clusters in ``labels``, in increasing order."""
        return np.unique(self.labels[self.items])

    @property
    def is_held_out(self) -> bool:
        """Whether the probability was measured on draws that had no part in the choice."""
        return self._search.held_out

    @property
    def is_proven(self) -> bool:
        """Whether no larger set has a share of ``prob`` in these draws."""
        return self.size == self.upper_bound

    @property
    def auchips(self) -> float:
        """Area under ``in_sample_curve``, its mean over all sizes: 0 to 1.

        1 when every draw is the same partition.
        """
        return float(self.in_sample_curve.mean())

    @property
    def note(self) -> str:
        """Why the core is small, or another remark; empty if there is none."""
        if not self.is_held_out or self.draws.n_items == 1:
            return ""
        size, needed = self.partial.size, _draws_needed(self.prob)
        if size == 1 and not np.isfinite(needed):
            return "No number of draws can show a probability of 1; held_out=False describes them."
        if size == 1 and self.n_effective < needed:
            return (
                f"Nothing can be stated about two items: to show a probability of {self.prob:g} "
                f"takes {needed:,.0f} effective draws held out, twice as many in all; there are "
                f"{self.n_effective:,.0f}."
            )
        if size == 1:
            return "No two items are grouped identically in enough of the held-out draws."
        if size < self.n_found:
            return (
                f"Cut from {self.n_found:,} items, which the draws held out do not confirm; more "
                "draws would confirm more."
            )
        return ""

    @property
    def sentence(self) -> str:
        """Describe the core in one sentence."""
        size, k, n = self.partial.size, self.partial.n_clusters, self.draws.n_items
        if size == 1 < n:
            return self.note or "No two items are grouped identically often enough."
        whole = f"{size:,} of {counted(n, 'item')} ({counted(k, 'cluster')})"
        text = f"{whole} {'is' if size == 1 else 'are'} grouped identically {holding(self, 2)}"
        if self._search.held_out:
            text += (
                f" ± {self.probability_mcse:.2g}, measured on draws held out (at least "
                f"{self.probability_low:.2f} with {100 * CONFIDENCE:g}% confidence)"
            )
        return text + "."

    nested = Renamed("curve")
    if_added = Renamed("probability_with_item")
    holds = Renamed("agrees")
    n_firsts = Renamed("n_seeds")

    def at(self, prob: float) -> CredibleCore:
        """The core for another probability, cut from the same search."""
        return cores_at(self, [probability(prob)])[0]

    def completed(self, loss: str | Loss = "vi") -> Labels:
        """The best full partition found that groups the core's items as the core does.

        Parameters
        ----------
        loss : str or Loss, default "vi"
            Its expected value is minimised over where the other items go: over all places of
            them where they are few, by a local search otherwise.

        Returns
        -------
        ndarray of int32, shape (n_items,)
            Labels by size.
        """
        measure = as_loss(loss)
        if measure.form(1) is None:
            raise NotSupportedError(
                f"{measure!r} compares whole partitions, and placing single items needs a loss of "
                "cluster sizes and their intersections, such as 'vi'. Complete under such a loss; "
                "partita.expected_loss measures the result under yours.",
                argument="loss",
            )
        # Imported by name when called, which keeps the layers acyclic.
        search = import_module("partita.search.constraints")
        labels: Labels = search.complete(self.draws, self.partial, loss=measure)
        return labels

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per item: cluster in the core (−1 outside) and probability with the item.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters, and items without names, from 1, as R does; −1 stays outside.
        """
        items = items_from_one(self.draws.item_names, self.draws.n_items, one_based)
        columns = {
            "core": from_one(self.labels, one_based),
            "in_core": self.labels >= 0,
            "probability_with_item": self.probability_with_item,
        }
        return data_frame(columns, of="the core", index=items, name="item")

    def __repr__(self) -> str:
        return (
            f"<CredibleCore: {self.size:,} of {self.draws.n_items:,} items in "
            f"{counted(self.n_clusters, 'cluster')} {holding(self, 4)} "
            f"({self.prob:g} requested)>"
        )

    def __str__(self) -> str:
        return self.screen()

    def screen(self, *, one_based: bool = False) -> str:
        """The core on one screen, its clusters numbered from 0 or from 1."""
        first = int(boolean(one_based, "one_based"))
        said = words(self.draws.kind)
        clusters = self.clusters
        sizes = np.array([int((self.labels == c).sum()) for c in clusters])
        lines = [
            f"{100 * self.prob:g}% core: {self.size:,} of {self.draws.n_items:,} items in "
            f"{counted(self.n_clusters, 'cluster')}"
        ]
        if self.is_held_out and self.size > 1:
            n = int(self.held_out.sum())
            lines += [
                f"  {said.probability} {self.probability:.4f} ± {self.probability_mcse:.2g}, at "
                f"least {self.probability_low:.3g} with {100 * CONFIDENCE:g}% confidence",
                f"  found on {counted(self.draws.n_draws - n, 'draw')}, measured on {n:,} held "
                "out, and the other way round",
            ]
        elif not self.is_held_out:
            tilted = self.draws.kind == "tilted"
            whole = "the tilted weight" if tilted else f"these {said.draws}"
            lines.append(
                f"  grouped so in {self.in_sample_probability:.4f} of {whole}; requested: "
                f"{self.prob:g}"
            )
        if self.is_proven:
            lines.append(f"  no larger set reaches {self.prob:g} in these {said.draws}")
        elif self.upper_bound < self.draws.n_items:
            lines.append(
                f"  in these {said.draws} no set of more than {self.upper_bound:,} items reaches "
                f"{self.prob:g}"
            )
        lines.append(
            f"  {self.n_starts:,} of {counted(self.n_seeds, 'seed item')} tried, "
            f"{counted(self.rounds, 'round')}"
        )
        if self.note:
            lines.append(f"  {self.note}")
        lines.append(f"{'cluster':>9}{'items':>8}{said.probability:>{len(said.probability) + 2}}")
        lines += [
            f"{clusters[c] + first:>9}{sizes[c]:>8,}"
            f"{self.cluster_probability[c]:>{len(said.probability) + 2}.4f}"
            for c in range(min(sizes.size, _SHOWN))
        ]
        if sizes.size > _SHOWN:
            lines.append(f"{'…':>9} and {sizes.size - _SHOWN:,} more")
        return "\n".join(lines)


def cores_at(core: CredibleCore, probs: list[float]) -> list[CredibleCore]:
    """The cores for other probabilities, which are trusted; see ``CredibleCore.at``."""
    search, clock = core._search, Clock(core._search.time_limit)
    return run_interruptible(lambda: _cores_at(search, probs, clock), clock.interrupt)


def holding(core: CredibleCore, decimals: int = 3) -> str:
    """How often the core's grouping holds, in words: with a probability, or in these draws."""
    kind, said = core.draws.kind, words(core.draws.kind)
    if kind == "ensemble":
        return said.holding.format(f"{core.probability:.{decimals - 2}%}")
    if core._search.held_out or kind != "posterior":
        return said.holding.format(f"{core.probability:.{decimals}f}")
    return f"in {core.in_sample_probability:.{decimals - 2}%} of these {said.draws}"


class _Sample:
    """Some of the draws, and how much their events weigh."""

    def __init__(self, draws: Draws, where: Ints) -> None:
        own = draws if where.size == draws.n_draws else draws[where]
        self.where, self.weights = where, own.weights
        self.n_effective, self.probabilities = own.n_effective, own.probabilities
        self.by_chain = chain_rows(own)

    def share(self, event: Bools) -> float:
        """Weight of the draws in which an event occurs."""
        found = event.mean() if self.weights is None else self.weights[event].sum()
        return min(1.0, float(found))


@dataclass(frozen=True, eq=False)
class _Part:
    """Draws that find a core, and those that measure it."""

    growth: Growth
    own: _Sample
    rest: _Sample
    is_rest: Bools
    seed: np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class _Search:
    posterior: Posterior
    whole: _Sample
    held_out: bool
    parts: tuple[_Part, ...]
    bound: str | None
    patience: int
    time_limit: float | None
    numbers: Labels | None


def _grow_parts(
    posterior: Posterior,
    whole: _Sample,
    held_out: bool,
    n_starts: int | None,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    clock: Clock,
) -> Iterator[_Part]:
    """Grow sets from seeds, on both halves of the draws or on all of them."""
    draws = posterior.draws
    halves = _halves(draws) if held_out else [np.zeros(draws.n_draws, np.bool_)]
    for number, (is_rest, own_seed) in enumerate(zip(halves, seed.spawn(2), strict=False)):
        if is_rest.all():
            continue
        with clock.until(0.8 * (number + 1) / len(halves)) as stop:
            table = prepare(posterior, ~is_rest if held_out else None)
            growth = grow_from_seeds(table, n_starts, own_seed.spawn(1)[0], n_jobs, stop)
        own = rest = whole
        if held_out:
            own = _Sample(draws, np.flatnonzero(~is_rest))
            rest = _Sample(draws, np.flatnonzero(is_rest)) if is_rest.any() else own
        yield _Part(growth, own, rest, is_rest, own_seed)


def _halves(draws: Draws) -> list[Bools]:
    """The draws held out, both ways: whole chains, halves of one chain, or dealt by weight."""
    names, chain = chains_of(draws)
    second = np.zeros(draws.n_draws, np.bool_)
    if names.size > 1:
        lengths = np.bincount(chain)
        counts = [0, 0]
        for one in np.argsort(-lengths, kind="stable").tolist():
            side = int(counts[1] < counts[0])
            counts[side] += int(lengths[one])
            second[chain == one] = bool(side)
    elif draws.weights is not None:
        order = np.argsort(-draws.weights, kind="stable")
        second[order[np.arange(order.size) % 4 % 3 != 0]] = True  # 0 1 1 0, 0 1 1 0, …
    else:
        second[draws.n_draws // 2 :] = True
    return [second, ~second]


# The core: a path found on one part of the draws, cut to size on the other.


@dataclass(frozen=True, eq=False)
class _TruncatedPath:
    """A path that the draws held out have cut to size, if there are any."""

    part: _Part
    path: Path
    curve: Floats
    size: int
    found: int
    rounds: int
    low: float = float("nan")
    agreed: Ints | None = None
    independent: float = 1.0
    """Share of the draws held out that are independent, as far as the whole path shows it."""

    def n_effective(self, size: int) -> float:
        """Effective number of draws for the event of agreeing with the first items of the path."""
        rest = self.part.rest
        if self.agreed is None:
            return float("nan")
        if rest.weights is not None:
            return rest.n_effective
        event = _effective_share(self.agreed >= max(size, 2), rest.by_chain)
        return self.agreed.size * min(self.independent, event)


def _effective_share(values: Bools | Ints, rows: Ints) -> float:
    """Effective number of draws over their number; rows are those of :func:`chain_rows`.

    Draws whose autocorrelation cannot be told from 0 count as independent; each chain too
    short to tell counts once.
    """
    chains = values[rows].astype(np.float64)
    if chains.shape[1] < FEW_DRAWS:
        return len(chains) / values.size
    if np.ptp(chains) == 0.0:
        return 1.0
    # Of two values ranks change no correlation.
    is_event = values.dtype == np.bool_
    scores = chains if is_event else rank_normalised(chains)
    scores = scores - scores.mean()
    lag_one = (scores[:, 1:] * scores[:, :-1]).sum() / np.square(scores).sum()
    if lag_one <= 2.0 / np.sqrt(chains.size):
        return 1.0
    halves = split(chains)
    ranked = halves if is_event else rank_normalised(halves)
    return min(1.0, ess_of_halves(ranked) / chains.size)


def _cores_at(search: _Search, probs: list[float], clock: Clock) -> list[CredibleCore]:
    """The cores for some probabilities, from one search."""
    distinct, index = search.posterior.distinct, search.posterior.index
    rows = distinct.rows(0, distinct.n_draws)
    return [_core_at(search, prob, rows, index, clock) for prob in probs]


def _core_at(search: _Search, prob: float, rows: Labels, index: Ints, clock: Clock) -> CredibleCore:
    """``rows`` are the distinct draws, and ``index`` says which of them each draw is."""
    posterior, whole = search.posterior, search.whole
    with clock.until(0.9) as stop:
        cuts = [_truncate_path(part, prob, search, rows, index, stop) for part in search.parts]
    reached = [(each.size, float(each.curve[each.size - 1])) for each in cuts]
    chosen = max(range(len(cuts)), key=reached.__getitem__)
    cut = cuts[chosen]
    table = cut.part.growth.table
    partial, upper = cut.path.partial(cut.size, rows.shape[1]), rows.shape[1]
    if search.bound is not None:
        share = whole.share(agreeing(rows, partial)[index])
        found, work = cut.size if share >= prob - MASS else 1, _BOUND_WORK[search.bound]
        with clock.until() as stop:
            upper, larger = bound_size(posterior, prob, found, work, stop, clock.left)
        if larger is not None and not search.held_out:
            partial = larger
            path = nested_path(table, partial, np.zeros(1, np.bool_))
            size = int((partial >= 0).sum())
            cut = _TruncatedPath(cut.part, path, path.mass / table.total, size, size, cut.rounds)
            cuts[chosen] = cut
    grouping = PartialPartition(partial)
    labels, size, rest = grouping.labels, cut.size, cut.part.rest
    measured_on = rows[index[rest.where]]
    agrees = agreeing(rows, labels)[index]
    in_sample = min(1.0, float(table.weights[agreeing(table.rows, labels)].sum()) / table.total)
    # An item's best place where the core was found: apart from all of it, or in a cluster.
    place = weights_of_places(table.rows, table.weights, labels).argmax(axis=0)
    with_item = weights_of_places(measured_on, rest.probabilities, labels)
    effective = np.array([each.n_effective(size) for each in cuts])
    if search.held_out:
        measured, error = _cross_fit_curve(size, cuts, effective)
        probability = max(float(measured[size - 1]), cut.low)
    else:
        in_sample, measured, error = whole.share(agrees), cut.curve, float("nan")
        probability = float("nan") if posterior.draws.kind == "posterior" else in_sample
    best = np.maximum(cut.part.growth.best, cut.path.mass) / table.total
    best[:size] = np.maximum(best[:size], in_sample)
    # A subset agrees whenever the set does.
    curve = np.clip(np.maximum.accumulate(best[::-1])[::-1], 0.0, 1.0)
    numbered = _renumber(labels, search.numbers)
    alike = _hold_clusters(rows, numbered)
    return CredibleCore(
        prob=prob,
        partial=grouping,
        labels=numbered,
        probability=probability,
        probability_mcse=error,
        probability_low=cut.low,
        in_sample_probability=in_sample,
        cluster_probability=np.array([rest.share(each[index[rest.where]]) for each in alike]),
        upper_bound=max(upper, size),
        curve=np.minimum(measured, 1.0),
        in_sample_curve=curve,
        path=cut.path.order,
        probability_with_item=np.minimum(with_item[place, np.arange(place.size)], 1.0),
        agrees=agrees,
        held_out=cut.part.is_rest,
        n_effective=float(effective[chosen]),
        n_found=cut.found,
        n_starts=sum([part.growth.n_starts for part in search.parts]),
        n_seeds=sum([part.growth.n_seeds for part in search.parts]),
        rounds=sum([each.rounds for each in cuts]),
        limits=("interrupt",) if clock.interrupted else ("time limit",) * (clock.left == 0.0),
        draws=posterior.draws,
        _search=search,
    )


def _hold_clusters(rows: Labels, labels: Labels) -> list[Bools]:
    """For each cluster, the rows that have its items together and apart from the core's others."""
    items = np.flatnonzero(labels >= 0)
    rows, grouping, found = rows[:, items], labels[items], []
    for number in np.unique(grouping):
        members = np.flatnonzero(grouping == number)
        same = rows == rows[:, members[:1]]
        found.append(same[:, members].all(axis=1) & (same.sum(axis=1) == members.size))
    return found


def _truncate_path(
    part: _Part, prob: float, search: _Search, rows: Labels, index: Ints, stop: Bools
) -> _TruncatedPath:
    """The core found on one part, cut to the longest beginning that the other part confirms."""
    table, own, rest = part.growth.table, part.own, part.rest
    error = (1.0 - CONFIDENCE) / 2.0  # both ways are tried
    threshold = _share_needed(prob, rest.n_effective, error) if search.held_out else prob
    partial, rounds = improve(
        table,
        part.growth.partial(threshold),
        threshold,
        patience=search.patience,
        rng=np.random.default_rng(part.seed),
        stop=stop,
    )
    found = int((partial >= 0).sum())
    path = nested_path(table, partial, stop)
    cut = _TruncatedPath(part, path, path.mass / table.total, found, found, rounds)
    if not search.held_out:
        return cut
    # For each draw, the number of items of the path, from its start, that it groups alike.
    alike = agreeing_prefix(rows, path.order, path.place)[index]
    agreed, independent = alike[rest.where], 1.0
    if rest.weights is None:
        # An event that nearly always occurs shows nothing of how a chain moves, and one part
        # alone estimates an effective number poorly.
        independent = min(
            _effective_share(agreed, rest.by_chain),
            _effective_share(alike[own.where], own.by_chain),
        )
    reached = np.bincount(agreed, rest.weights, minlength=partial.size + 1)[::-1].cumsum()[-2::-1]
    curve = reached / reached[0]  # every draw agrees about one item
    cut = replace(cut, curve=curve, agreed=agreed, independent=independent)
    for size in np.unique(agreed)[::-1].tolist():
        if size == 1 or curve[size - 1] < threshold:
            continue
        low = _lower_limit(float(curve[size - 1]), cut.n_effective(size), error)
        if low >= prob:
            return replace(cut, size=size, low=low)
    # One item is trivially grouped identically in every draw.
    return replace(cut, size=1, low=1.0)


def _cross_fit_curve(
    size: int, cuts: list[_TruncatedPath], effective: Floats
) -> tuple[Floats, float]:
    """The mean of both ways' curves by their effective numbers, and its error at a size.

    The way that was taken is the one that its draws held out favoured, so its own share is
    optimistic; the other way's share at the same size is not.
    """
    curves = np.array([each.curve for each in cuts])
    if size == 1:
        return curves.mean(axis=0), 0.0
    mean = effective @ curves / effective.sum()
    share, n = mean[size - 1], effective.sum()
    a, b = share * n + 1.0, (1.0 - share) * n + 1.0
    of_share = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
    return mean, float(max(of_share, np.abs(curves - mean)[:, size - 1].max()))


def _lower_limit(share: float, n: float, error: float) -> float:
    """Lower limit of a probability from a share of n draws (Clopper and Pearson)."""
    if share <= 0.0 or n <= 0.0:
        return 0.0
    if share >= 1.0 - SUM:
        return float(error ** (1.0 / n))
    return float(betaincinv(share * n, (1.0 - share) * n + 1.0, error))


def _share_needed(prob: float, n: float, error: float) -> float:
    """The smallest share of n draws whose lower limit is at least prob; 1 where there is none.

    The limit of k of n draws is at least prob where k or more occur with probability at most
    error under prob.
    """
    if prob >= 1.0 or prob**n > error:
        return 1.0
    return min(1.0, max(prob, float(bdtrik(1.0 - error, n, prob) + 1.0) / n))


def _draws_needed(prob: float) -> float:
    """Fewest effective draws held out that can show a probability."""
    if prob >= 1.0:
        return float("inf")
    return float(np.ceil(np.log((1.0 - CONFIDENCE) / 2.0) / np.log(prob)))


def _renumber(labels: Labels, numbers: Labels | None) -> Labels:
    """Partial labels in the numbers of an estimate; clusters without a counterpart come last."""
    if numbers is None:
        return labels
    items = np.flatnonzero(labels >= 0)
    k, own = int(numbers.max()) + 1, labels[items]
    match, _ = match_rows(numbers[items], k, own[None, :], np.array([int(labels.max()) + 1]))
    number_of = np.where(match[0] < 0, k - 1 - match[0], match[0])
    found = labels.copy()
    found[items] = number_of[labels[items]]
    return found


def _seed(rng: Rng | None) -> np.random.SeedSequence:
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(2**32, size=4).tolist())
    generator(rng)  # refuses anything but a seed
    return np.random.SeedSequence(0 if rng is None else rng)
