"""What a credible core is, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import flag
from partita._vocabulary import words
from partita._wording import counted
from partita.credible.core_search import Runs
from partita.credible.error import probability_mcse
from partita.errors import NotSupportedError
from partita.losses.base import Loss
from partita.losses.registry import as_loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.numbering import data_frame, from_one, items_from_one
from partita.partitions.partial import PartialPartition

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 12
"""Clusters listed on one screen."""


@dataclass(frozen=True, eq=False)
class Plan:
    """How a core is searched for, kept so that another probability is searched alike."""

    bound: str | None
    patience: int
    time_limit: float | None
    seed: np.random.SeedSequence


@dataclass(frozen=True, eq=False, repr=False)
class CredibleCore(Result):
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
    _plan: Plan = field(repr=False)

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

        It accounts for autocorrelation within chains; weighted draws count as
        independent. It does not account for the choice: the core was
        chosen because it holds in these draws, so other draws hold it a little less
        often. NaN for fewer than four draws per chain, and for an ensemble.
        """
        return probability_mcse(self.holds, self.draws)

    def at(self, prob: float) -> CredibleCore:
        """The core of another probability, from the runs already made."""
        from partita.credible.core import core_at

        return core_at(self.draws, prob, self._runs, self._plan)

    def completed(self, loss: str | Loss = "vi") -> Labels:
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
        measure = as_loss(loss)
        if measure.form(1) is None:
            raise NotSupportedError(
                f"{measure!r} is measured by evaluation, and items are placed by cluster sizes and "
                "their intersections. Complete under a loss of these, such as 'vi', and compare "
                "the partitions you have with partita.expected_loss.",
                argument="loss",
            )
        # By name and only when called: the search is a neighbour, not a floor below.
        search = import_module("partita.search.complete")
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
            "probability_with_item": self.if_added,
        }
        return data_frame(columns, of="the core", index=items, name="item")

    def __repr__(self) -> str:
        proof = "proven largest" if self.is_proven else f"at most {self.upper_bound:,}"
        holding = words(self.draws.kind).holding.format(f"{self.probability:.4f}")
        return (
            f"<CredibleCore: {self.size:,} of {self.draws.n_items:,} items in "
            f"{counted(self.n_clusters, 'cluster')} {holding} "
            f"(asked {self.prob:g}; {proof})>"
        )

    def __str__(self) -> str:
        return self.screen()

    def screen(self, *, one_based: bool = False) -> str:
        """The core on one screen, its clusters numbered from 0 or from 1."""
        first = int(flag(one_based, "one_based"))
        error = self.probability_mcse
        more = f" ± {error:.2g}" if np.isfinite(error) else ""
        said = words(self.draws.kind)
        proof = (
            f"no larger set exists for these {said.draws}"
            if self.is_proven
            else f"no set of more than {self.upper_bound:,} items can hold"
        )
        sizes = np.bincount(self.labels[self.items])
        chances = self.cluster_probability
        lines = [
            f"{100 * self.prob:g}% core: {self.size:,} of {self.draws.n_items:,} items in "
            f"{counted(self.n_clusters, 'cluster')}",
            f"  {said.probability} {self.probability:.4f}{more}, asked for {self.prob:g}; {proof}",
            f"  {self.n_starts:,} of {self.n_firsts:,} first items tried, {self.rounds:,} rounds",
            f"{'cluster':>9}{'items':>8}{said.probability:>{len(said.probability) + 2}}",
        ]
        lines += [
            f"{c + first:>9}{sizes[c]:>8,}{chances[c]:>{len(said.probability) + 2}.4f}"
            for c in range(min(sizes.size, _SHOWN))
        ]
        if sizes.size > _SHOWN:
            lines.append(f"{'…':>9} and {sizes.size - _SHOWN:,} smaller ones")
        return "\n".join(lines)
