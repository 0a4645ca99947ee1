"""Point estimates: the partition, how good it is, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._result import Page, Result
from partita._tolerance import MASS, SUM
from partita._wording import Kind, above_minimum, counted, in_list, in_unit, of_sizes, words
from partita.labels import Labels
from partita.losses.base import Loss

PROVEN = MASS
"""A gap below this, relative to the loss, is rounding: the estimate is a proven minimiser."""

EXACT = SUM
"""The same for losses that are computed without rounding."""

ROUNDING = 1e-14
"""What rounding can do to another loss near 0, whose terms are of the order of 1."""


STARTED = ("auto", "brief", "sweep")
DRAWS_ONLY = "size: the draws have"
"""How the limit begins that says why only the draws were compared."""
_FOUND_BY = {
    **dict.fromkeys(STARTED, "local search"),
    "hasse": "the greedy search “hasse”",
    "draws": "comparing the {} with each other",
    "average": "cutting average linkage",
    "complete": "cutting complete linkage",
    "ilp": "integer programming",
    "enumerate": "enumeration of all partitions",
}
"""Methods in words; the braces take the name of the draws."""


def constraints_in_words(
    n_clusters: int | None, min_size: int, max_clusters: int | None
) -> tuple[str, ...]:
    """The constraints on a partition, each as one phrase."""
    found = []
    if n_clusters is not None:
        found.append(f"exactly {counted(n_clusters, 'cluster')}")
    elif max_clusters is not None:
        found.append(f"at most {counted(max_clusters, 'cluster')}")
    if min_size > 1:
        found.append(f"at least {counted(min_size, 'item')} in every cluster")
    return tuple(found)


def is_proven(value: float, bound: float, loss: Loss) -> bool:
    """Whether a bound shows that no partition has a lower loss."""
    rounding = EXACT * abs(value) if loss.is_exact else PROVEN * abs(value) + ROUNDING
    return value - bound <= rounding


@dataclass(frozen=True, repr=False)
class Start(Result):
    """One start of a search and where it ended.

    Attributes
    ----------
    origin : str
        What kind of start it was: a linkage, one cluster, a draw, an allocation, a minimiser …
    expected_loss : float
        Expected loss it reached, on all draws.
    n_clusters : int
        Number of clusters it reached.
    """

    origin: str
    expected_loss: float
    n_clusters: int


@dataclass(frozen=True, repr=False)
class SearchReport(Result):
    """The record of a search.

    Attributes
    ----------
    starts : tuple of Start
        Where each start began and ended.
    agreed : int
        How many starts reached the lowest loss. No evidence that it is the minimum: starts may
        share a local minimum.
    agreed_kinds : tuple of str
        Which kinds of starts they were, each once.
    restarts : int
        Perturbations of the best partitions from which the search was taken up again.
    sweeps : float
        Item moves considered, in units of the number of items.
    seconds : float
        Time spent on the search.
    bound_seconds : float
        Time spent on the proof.
    limits : tuple of str
        Limits that were binding, in words; empty when none was.
    interrupted : bool
        Whether Ctrl-C or the time limit ended the search; the best so far is reported.
    settled : bool or None
        True if verified to be a local minimum under single-item moves on all draws. None where
        that was not verified separately.
    """

    starts: tuple[Start, ...]
    agreed: int
    agreed_kinds: tuple[str, ...]
    sweeps: float
    seconds: float
    bound_seconds: float
    limits: tuple[str, ...]
    interrupted: bool
    settled: bool | None = None
    restarts: int = 0

    @property
    def effort(self) -> str:
        """Number of starts and restarts, in words; empty if there was one start."""
        if len(self.starts) <= 1:
            return ""
        again = f", {counted(self.restarts, 'restart')}" if self.restarts else ""
        return f" ({counted(len(self.starts), 'start')}{again})"


class Estimate(Result):
    """Base class of estimates of partitions and of feature allocations."""

    expected_loss: float
    lower_bound: float | None
    loss: Loss
    ties: Any
    search: SearchReport
    kind: Kind
    constraints: tuple[str, ...] = ()
    method: str

    _title: ClassVar[str]
    _part: ClassVar[str]
    _point: ClassVar[str]
    """What the estimate, one of its parts and another one like it are called."""

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """Items of each part."""
        raise NotImplementedError

    @property
    def _n_items(self) -> int:
        raise NotImplementedError

    @property
    def gap(self) -> float | None:
        """Relative distance to the proven bound; 0 when the estimate is proven optimal."""
        if self.lower_bound is None:
            return None
        if is_proven(self.expected_loss, self.lower_bound, self.loss):
            return 0.0
        return (self.expected_loss - self.lower_bound) / self.expected_loss

    @property
    def excess(self) -> float | None:
        """How far above the minimum the estimate can be, at most: gap / (1 − gap).

        0.06 means that its expected loss is at most 6% above the lowest of any partition; infinite
        where nothing but 0 is proven.
        """
        gap = self.gap
        if gap is None:
            return None
        return gap / (1.0 - gap) if gap < 1.0 else float("inf")

    @property
    def is_proven_optimal(self) -> bool:
        """Whether the bound shows that no partition does better on these draws."""
        return self.gap == 0.0

    @property
    def proof(self) -> str:
        """What is proven about the estimate, and what was tried, in words."""
        if self.is_proven_optimal:
            return limit_in_words(self)
        tried = f"no better {self._point}{constraints_of(self)} was found by {found_by(self)}"
        return f"{limit_in_words(self)}; {tried}"

    def _method(self) -> list[tuple[str, str]]:
        return [("search", f"{self.search.seconds:.2g} s")]

    def _lines(self) -> list[tuple[str, str]]:
        sizes, loss = self._sizes.tolist(), in_unit(f"{self.expected_loss:.6g}", self.loss.unit)
        lines = [
            (f"{self._part}s", f"{len(sizes):,}" + (f" of {of_sizes(sizes, 12)}" if sizes else "")),
            (f"{words(self.kind).expected} loss", f"{loss} ({self.loss!r})"),
            ("proof", self.proof),
            *self._method(),
        ]
        if len(self.ties):
            others = counted(len(self.ties), f"other {self._point}")
            lines.append(("ties", f"{others} at the same loss"))
        lines.extend(("limit", limit) for limit in self.search.limits)
        if self.search.interrupted:
            lines.append(("interrupted", "the search was cut short; this is the best so far"))
        return lines

    def __repr__(self) -> str:
        body = "\n".join(f"  {name + ':':<15}{text}" for name, text in self._lines())
        return f"<{type(self).__name__} of {counted(self._n_items, 'item')}\n{body}>"

    def _page(self) -> Page:
        return Page(f"{self._title} of {counted(self._n_items, 'item')}", self._lines())


@dataclass(frozen=True, eq=False, repr=False)
class PointEstimate(Estimate):
    """The partition that minimises the posterior expected loss, as far as it was found.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_items,), read-only
        Labels of the estimate, by size: cluster 0 is the largest, ties by first item.
    expected_loss : float
        Its posterior expected loss, evaluated anew on all draws: exactly
        ``pt.expected_loss(labels, draws, loss)``.
    lower_bound : float or None
        No partition has a lower expected loss on these draws. None where the
        loss has no known bound, or none was asked for.
    gap : float or None
        (expected_loss − lower_bound) / expected_loss; 0 means proven optimal.
    excess : float or None
        (expected_loss − lower_bound) / lower_bound: at most so far above the minimum.
    proof : str
        What is proven, in words: how far above the minimum the loss can be.
    loss : Loss
    method : str
        The method that found it.
    ties : ndarray of int32, shape (n_ties, n_items)
        Every other partition found whose expected loss is the same, up to
        rounding.
    search : SearchReport
        Starts, agreement, effort, limits that were binding.
    constraints : tuple of str
        What the partition had to fulfil, in words; empty for a free search. ``lower_bound`` is
        that of all partitions.
    item_names : tuple of str, or None
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> best = pt.estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> best.n_clusters, best.gap
    (2, 0.0)
    >>> best.cluster_sizes
    array([2, 2])
    >>> best.search.limits
    ()
    """

    labels: Labels
    expected_loss: float
    lower_bound: float | None
    loss: Loss
    method: str
    ties: NDArray[np.int32]
    search: SearchReport
    item_names: tuple[str, ...] | None = None
    kind: Kind = "posterior"
    constraints: tuple[str, ...] = ()

    _title: ClassVar[str] = "Point estimate"
    _part: ClassVar[str] = "cluster"
    _point: ClassVar[str] = "partition"

    def __labels__(self) -> Labels:
        return self.labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return int(self.labels.max()) + 1

    @property
    def cluster_sizes(self) -> NDArray[np.int64]:
        """Sizes of the clusters, in the order of the labels."""
        return np.bincount(self.labels).astype(np.int64)

    _sizes = cluster_sizes

    @property
    def _n_items(self) -> int:
        return self.labels.size

    def _method(self) -> list[tuple[str, str]]:
        lines = [("method", f"{self.method}, {self.search.seconds:.2g} s")]
        if self.search.settled is not None:
            lines.append(("single moves", _moves(settled=self.search.settled)))
        return lines


def _moves(*, settled: bool) -> str:
    if settled:
        return "none of a single item lowers the loss on all draws"
    return "the search ended before it was seen that none lowers the loss on all draws"


def limit_in_words(found: Estimate) -> str:
    """How far above the minimum the loss of an estimate can be, as far as that is proven."""
    own = words(found.kind).draws
    if found.gap is None:
        return "no lower bound"
    if found.gap == 0.0:
        return f"proven optimal for these {own}"
    if found.gap >= 1.0:
        return above_minimum(found.gap)
    of_all = " of all partitions" if found.constraints else ""
    return f"{above_minimum(found.gap)}{of_all} for these {own}"


def constraints_of(found: Estimate) -> str:
    """The constraints of an estimate, after a noun: " with exactly 2 clusters"."""
    return f" with {in_list(found.constraints)}" if found.constraints else ""


def found_by(found: Estimate) -> str:
    """Describe the search for an estimate."""
    if any(limit.startswith(DRAWS_ONLY) for limit in found.search.limits):
        return f"comparing the {words(found.kind).draws} with each other"
    kind = _FOUND_BY.get(found.method, f"the method “{found.method}”")
    started = found.search.effort if found.method in STARTED else ""
    return kind.format(words(found.kind).draws) + started
