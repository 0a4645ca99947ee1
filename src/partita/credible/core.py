"""The credible core: the largest set of items whose grouping holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita.credible.core_bound import WORK, bound_size
from partita.credible.core_search import Runs, improve, prepare, run_from_firsts
from partita.credible.core_tables import (
    cluster_probabilities,
    holding,
    nested_path,
    probability_if_added,
)
from partita.credible.error import probability_mcse
from partita.credible.levels import clean_prob
from partita.errors import InvalidInputError
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.partial import PartialPartition
from partita.partitions.types import DrawsLike

if TYPE_CHECKING:
    import pandas as pd

Rng = int | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True, eq=False, repr=False)
class CredibleCore:
    """The largest set of items whose grouping holds with a given probability.

    Made by :func:`credible_core`.

    Attributes
    ----------
    prob : float
        The probability asked for.
    partial : PartialPartition
        The grouping of the items in the core.
    probability : float
        Weight of the draws that group the core's items exactly so.
    cluster_probability : ndarray of float, shape (n_clusters,)
        For each cluster of the core, the weight of the draws in which its items
        are together and apart from all other items of the core.
    upper_bound : int
        No set of items larger than this reaches ``prob`` in these draws; proven.
    curve : ndarray of float, shape (n_items,)
        The largest probability found for a set of 1, 2, … items.
    path : ndarray of int64, shape (n_items,)
        The items in an order in which the core grows, one by one, and then goes on
        to all items.
    nested : ndarray of float, shape (n_items,)
        The probability after each item of the path.
    if_added : ndarray of float, shape (n_items,)
        For each item outside, the largest probability of the core with that item;
        for the core's own items, ``probability``.
    holds : ndarray of bool, shape (n_draws,)
        The draws that group the core's items exactly so. In them the core's
        clusters need no relabelling: parameters of those draws can be averaged.
    n_starts, n_firsts : int
        First items tried, and first items there are.
    rounds : int
        Rounds of taking items out and growing again.
    draws : Draws
        The draws, kept by reference.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 3], [1, 1, 1, 2, 2, 2],
    ...          [1, 1, 2, 2, 2, 2], [1, 2, 2, 3, 3, 3]]
    >>> core = pt.credible_core(draws, prob=0.6)
    >>> core.size, core.probability, core.is_proven
    (4, 0.6, True)
    >>> core.curve
    array([1. , 1. , 0.8, 0.6, 0.4, 0.2])
    """

    prob: float
    partial: PartialPartition
    probability: float
    cluster_probability: NDArray[np.float64]
    upper_bound: int
    curve: NDArray[np.float64]
    path: NDArray[np.int64]
    nested: NDArray[np.float64]
    if_added: NDArray[np.float64]
    holds: NDArray[np.bool_]
    n_starts: int
    n_firsts: int
    rounds: int
    draws: Draws
    _runs: Runs = field(repr=False)
    _plan: _Plan = field(repr=False)

    def __draws__(self) -> Draws:
        return self.draws

    @property
    def labels(self) -> Labels:
        """Labels of the items by size of their cluster in the core, −1 outside."""
        return self.partial.labels

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
    def is_proven(self) -> bool:
        """Whether no larger set exists for these draws."""
        return self.size == self.upper_bound

    @property
    def auchips(self) -> float:
        """Area under the curve, the mean of the best probabilities over all sizes: 0 to 1.

        1 when every draw is the same partition.
        """
        return float(self.curve.mean())

    @cached_property
    def probability_mcse(self) -> float:
        """Monte Carlo standard error of the probability, from the draws that hold the core.

        It accounts for autocorrelation within chains through arviz-stats; weighted
        draws count as independent. It does not account for the choice: the core was
        chosen because it holds in these draws, so other draws hold it a little less
        often. NaN for fewer than four draws per chain.
        """
        return probability_mcse(self.holds, self.draws)

    def at(self, prob: float) -> CredibleCore:
        """The core of another probability, from the runs already made."""
        return _core(self.draws, clean_prob(prob), self._runs, self._plan)

    def completed(self, loss: Any = "vi") -> Labels:
        """The best full partition found that groups the core's items as the core does.

        Parameters
        ----------
        loss : str or Loss, default "vi"
            Its expected value is minimised over where the other items go.

        Returns
        -------
        ndarray of int32, shape (n_items,)
            Labels by size.
        """
        # By name and only when called: the search is a neighbour, not a floor below.
        search = import_module("partita.search.complete")
        labels: Labels = search.complete(self.draws, self.partial, loss=loss)
        return labels

    def to_frame(self) -> pd.DataFrame:
        """One row per item: cluster in the core (−1 outside) and probability with the item."""
        pandas = require("pandas", extra="parquet", purpose="a table of the core")
        names = self.draws.item_names
        items = np.arange(self.draws.n_items)
        index = pandas.Index(items if names is None else list(names), name="item")
        columns: dict[str, Any] = {
            "core": self.labels,
            "in_core": self.labels >= 0,
            "probability_with_item": self.if_added,
        }
        frame: pd.DataFrame = pandas.DataFrame(columns, index=index)
        return frame

    def __repr__(self) -> str:
        proof = "proven largest" if self.is_proven else f"at most {self.upper_bound:,}"
        return (
            f"<CredibleCore: {self.size:,} of {self.draws.n_items:,} items in "
            f"{_count(self.n_clusters, 'cluster')} with probability {self.probability:.4f} "
            f"(asked {self.prob:g}; {proof})>"
        )

    def __str__(self) -> str:
        error = self.probability_mcse
        more = f" ± {error:.2g}" if np.isfinite(error) else ""
        proof = (
            "no larger set exists for these draws"
            if self.is_proven
            else f"no set of more than {self.upper_bound:,} items can hold"
        )
        sizes = np.bincount(self.labels[self.items])
        chances = self.cluster_probability
        lines = [
            f"{100 * self.prob:g}% core: {self.size:,} of {self.draws.n_items:,} items in "
            f"{_count(self.n_clusters, 'cluster')}",
            f"  probability {self.probability:.4f}{more}, asked for {self.prob:g}; {proof}",
            f"  {self.n_starts:,} of {self.n_firsts:,} first items tried, {self.rounds:,} rounds",
            f"{'cluster':>9}{'items':>8}{'probability':>13}",
        ]
        lines += [
            f"{c:>9}{sizes[c]:>8,}{chances[c]:>13.4f}" for c in range(min(sizes.size, _SHOWN))
        ]
        if sizes.size > _SHOWN:
            lines.append(f"{'…':>9} and {sizes.size - _SHOWN:,} smaller ones")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


_QUICK_CELLS, _QUICK_WORK = 5_000_000, 2e7
"""Labels of draws up to which a quick core is cheap, and labels that its runs may cover."""

_SHOWN = 12
"""Clusters listed on one screen."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """How a core is searched for, kept so that another probability is searched alike."""

    bound: str | None
    patience: int
    time_limit: float | None
    seed: np.random.SeedSequence


def credible_core(
    draws: DrawsLike,
    *,
    prob: float = 0.9,
    bound: Literal["fast", "tight"] | None = "fast",
    n_starts: int | None = None,
    patience: int = 200,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> CredibleCore:
    r"""The largest set of items whose grouping holds with probability ``prob``.

    For a set A of items and a partition ρ of A,

    .. math:: P(\rho) = \sum_m w_m \, 1[\text{draw } m \text{ restricted to } A \text{ is } \rho]

    and the core maximises |A| subject to :math:`P(\rho) \ge prob`; among sets of
    one size the larger P counts. It is what may be stated as fact: with that
    probability these items are grouped exactly so, all at once. A ball says where
    the clustering could be; the core says what all of it has in common.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.9
    bound : {"fast", "tight"} or None, default "fast"
        The proof that no larger set exists. Any two items of a core are together
        or apart with probability ``prob``, so a core is a clique of the graph of
        such pairs, and a colouring of that graph bounds it. Branch and bound on bit
        sets of draws goes on from there: for under a second, or about a minute.
    n_starts : int, optional
        First items to grow from; by default every one, as far as a few seconds go.
        ``core.n_starts`` says how many were tried.
    patience : int, default 200
        Rounds without gain after which taking items out and growing again ends;
        fewer, 8 + 4·size, while the core is small.
    time_limit : float, optional
        Seconds after which the search hands over the best core so far.
    rng : int, SeedSequence or Generator, optional
        By default a fixed seed, so that the same draws give the same core.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    CredibleCore

    Notes
    -----
    From each first item the set grows by the item that keeps the most weight; items
    that cost no draw come in at once. A run is O(M·N + S·N·K) for M distinct draws
    of N items, K clusters of the core and S steps that cost a draw. The bits of all
    pairs take N²M/8 bytes; where that is more than 128 MB the proof is by colouring
    alone, and above 4,000 items ``upper_bound`` is the number of items.

    The core is chosen to hold in these draws, so its probability is a little
    optimistic: check an important one on draws kept aside, with
    ``core.partial.agrees``.

    References
    ----------
    Barrientos, A. F., Page, G. L., Dahl, D. B. and Dunson, D. B. (2024), on
    partitions of subsets with high inclusion probability (CHIPS).

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> core = pt.credible_core(draws, prob=0.9)
    >>> core.items, core.labels, core.probability
    (array([0, 1, 3]), array([ 0,  0, -1,  1], dtype=int32), 1.0)
    >>> core.at(0.75).size
    4
    """
    clean = as_draws(draws)
    level = clean_prob(prob)
    if bound not in (None, "fast", "tight"):
        raise InvalidInputError(f"bound={bound!r}; expected 'fast', 'tight' or None.")
    for name, value, least in (("n_starts", n_starts, 1), ("patience", patience, 0)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and (not whole or value < least):
            raise InvalidInputError(f"{name}={value!r}; expected a whole number ≥ {least}.")
    plan = _Plan(bound, int(patience), time_limit, _seed(rng))
    runs = run_from_firsts(
        prepare(clean),
        n_starts=n_starts,
        rng=np.random.default_rng(plan.seed.spawn(1)[0]),
        n_jobs=n_jobs,
        stop=_clock(time_limit),
    )
    return _core(clean, level, runs, plan)


def quick_core(draws: Draws, prob: float = 0.9) -> CredibleCore | None:
    """A core from a short search, without a proof, for a line in a summary.

    None where even that takes long. A core of this kind is a lower bound: it
    holds, and :func:`credible_core` may find a larger one.
    """
    cells = draws.labels.size
    if cells > _QUICK_CELLS:
        return None
    n_starts = max(1, int(_QUICK_WORK / cells))
    return credible_core(draws, prob=prob, bound=None, n_starts=n_starts, patience=20)


def _core(draws: Draws, prob: float, runs: Runs, plan: _Plan) -> CredibleCore:
    posterior = runs.posterior
    rng = np.random.default_rng(plan.seed)
    partial, rounds = improve(
        posterior,
        runs.partial(prob),
        prob,
        patience=plan.patience,
        rng=rng,
        stop=_clock(plan.time_limit),
    )
    upper = draws.n_items
    if plan.bound is not None:
        proof = bound_size(draws, posterior, prob, int((partial >= 0).sum()), WORK[plan.bound])
        upper = proof.items
        if proof.larger is not None:
            partial = proof.larger
    grouping = PartialPartition(partial)
    holds, probability = holding(draws, grouping.labels)
    path, nested = nested_path(posterior, grouping.labels)
    best = np.maximum(runs.best / posterior.total, nested)
    best[: grouping.size] = np.maximum(best[: grouping.size], probability)
    # A subset holds whenever the set does.
    curve = np.minimum(np.maximum.accumulate(best[::-1])[::-1], 1.0)
    return CredibleCore(
        prob=prob,
        partial=grouping,
        probability=probability,
        cluster_probability=cluster_probabilities(draws, grouping.labels),
        upper_bound=upper,
        curve=curve,
        path=path,
        nested=nested,
        if_added=probability_if_added(posterior, grouping.labels, probability),
        holds=holds,
        n_starts=runs.n_starts,
        n_firsts=runs.n_firsts,
        rounds=rounds,
        draws=draws,
        _runs=runs,
        _plan=plan,
    )


def _seed(rng: Rng | None) -> np.random.SeedSequence:
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(2**32, size=4).tolist())
    return np.random.SeedSequence(0 if rng is None else rng)


def _clock(time_limit: float | None) -> Callable[[], bool]:
    if time_limit is None:
        return lambda: False
    end = time.perf_counter() + time_limit
    return lambda: time.perf_counter() > end


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
