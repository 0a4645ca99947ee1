"""What a search for representatives reports."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._text import above_minimum, counted, words
from partita._validate import whole
from partita.draws import Draws
from partita.labels import data_frame
from partita.losses.base import Loss
from partita.losses.explain import Explanation, explain
from partita.rivals.curve import HeldOutCurve
from partita.rivals.parts import part_of
from partita.search.result import PROVEN

if TYPE_CHECKING:
    import pandas as pd


class Rivals(Result):
    """Several partitions of the same draws, the heaviest first."""

    labels: NDArray[np.int32]
    loss: Loss
    draws: Draws

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.labels)

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each."""
        most: NDArray[np.int64] = self.labels.max(axis=1).astype(np.int64)
        return most + 1

    def explain(self, number: int, other: int = 0) -> Explanation:
        """What turns one of them into another; by default, the heaviest into this one."""
        a, b = self.labels[self._known(other, "other")], self.labels[self._known(number)]
        return explain(a, b, loss=self.loss, item_names=self.draws.item_names)

    def _known(self, number: int, name: str = "number") -> int:
        return whole(number, name, least=-self.n, most=self.n - 1) % self.n


@dataclass(frozen=True, eq=False, repr=False)
class Representatives(Rivals):
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
    >>> rivals = pt.representatives(draws, n=2)
    >>> rivals.labels
    array([[0, 0, 1, 1],
           [0, 1, 0, 1]], dtype=int32)
    >>> rivals.weights, rivals.distance
    (array([0.6, 0.4]), 0.0)
    """

    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    distance: float
    lower_bound: float | None
    assignment: NDArray[np.int64]
    distances: NDArray[np.float64]
    expected_loss: NDArray[np.float64]
    radius: NDArray[np.float64]
    prob: float
    chains: NDArray[np.float64]
    chain_names: tuple[Any, ...]
    curve: HeldOutCurve | None
    limits: tuple[str, ...]
    interrupted: bool
    loss: Loss
    draws: Draws

    @property
    def gap(self) -> float | None:
        """Relative distance to the proven bound; 0 when no set of n partitions does better."""
        if self.lower_bound is None:
            return None
        difference = self.distance - self.lower_bound
        return 0.0 if difference <= PROVEN * max(self.distance, 1.0) else difference / self.distance

    @property
    def owners(self) -> NDArray[np.int64] | None:
        """The representative that holds each chain, or −1 for a chain that visits several.

        A chain is held by a representative that has more than 95% of its mass.
        None when chains are unknown.
        """
        if self.draws.chain is None:
            return None
        first = self.chains.argmax(axis=1)
        return np.where(self.chains.max(axis=1) > OWNED, first, -1).astype(np.int64)

    @property
    def chains_are_separate(self) -> bool:
        """Whether each of several chains is held by one representative, and not all by the same."""
        owners = self.owners
        if owners is None or owners.size < 2:
            return False
        return bool((owners >= 0).all() and np.unique(owners).size > 1)

    def region(self, number: int) -> Draws:
        """The draws of one region, with their weights."""
        return part_of(self.draws, np.flatnonzero(self.assignment == self._known(number)))

    def similarity(self, number: int) -> NDArray[np.float64]:
        """Similarity matrix of one region, shape (n_items, n_items)."""
        from partita.similarity_matrix import similarity

        return similarity(self.region(number))

    def to_frame(self) -> pd.DataFrame:
        """One row per representative."""
        columns = {
            "weight": self.weights,
            "n_clusters": self.n_clusters,
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
        if self.gap == 0.0:
            own = words(self.draws.kind).draws
            return f"proven: no others of their number are nearer to these {own}"
        none = "no partition is" if self.n == 1 else f"no {self.n} partitions are"
        return f"{none} below {self.lower_bound:.4g}: {above_minimum(self.gap)}"

    def _facts(self) -> list[tuple[str, str]]:
        unit = f" {self.loss.unit}" if self.loss.unit else ""
        facts = [
            ("distance", f"{self.distance:.6g}{unit} to the nearest, on average ({self.loss!r})"),
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
        owners = self.owners
        assert owners is not None
        if self.chains_are_separate:
            held = [
                f"{_names([c for c, o in zip(self.chain_names, owners, strict=True) if o == r])} "
                f"to {r}"
                for r in np.unique(owners)
            ]
            return f"they do not meet: each belongs to one representative ({'; '.join(held)})"
        if (owners >= 0).all():
            return f"all of them belong to representative {owners[0]}"
        crossing = int((owners < 0).sum())
        return f"{crossing} of {owners.size} visit several representatives"

    def _table(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for r in range(self.n):
            sizes = np.bincount(self.labels[r])
            shown = ", ".join(map(str, sizes[:8])) + (", …" if sizes.size > 8 else "")
            within = f"{self.expected_loss[r]:.3g}"
            radius = f"{self.radius[r]:.3g}"
            rows.append((str(r), f"{self.weights[r]:.3f}", shown, within, radius))
        return rows

    def __repr__(self) -> str:
        rows = counted(self.draws.n_draws, words(self.draws.kind).draw)
        return (
            f"<Representatives: {self.n} of {rows}, "
            f"distance {self.distance:.4g}, weights {np.round(self.weights, 3).tolist()}>"
        )

    def __str__(self) -> str:
        from textwrap import wrap

        lines = [counted(self.n, "representative")]
        head = ("", "mass", "sizes of clusters", "mean loss", f"{100 * self.prob:g}% radius")
        rows = self._table()
        wide = max(len(head[2]), *(len(row[2]) for row in rows))
        lines += [
            f"{row[0]:>3}{row[1]:>8}  {row[2]:<{wide}}{row[3]:>11}{row[4]:>13}"
            for row in (head, *rows)
        ]
        for number in range(1, self.n):
            text = f"{number} differs from 0: {self.explain(number).in_words()}"
            lines += wrap(text, 80, subsequent_indent="    ")
        for name, text in self._facts():
            lines += wrap(f"{name + ':':<12}{text}", 80, subsequent_indent=" " * 12)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("", "mass", "sizes", "mean loss", f"{100 * self.prob:g}% radius", "from 0")
        cells = [
            (*row, "" if r == 0 else self.explain(r).in_words())
            for r, row in enumerate(self._table())
        ]
        top = "".join(f"<th>{escape(h)}</th>" for h in head)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) + "</tr>"
            for row in cells
        )
        facts = "".join(f"<div><b>{escape(n)}</b>: {escape(t)}</div>" for n, t in self._facts())
        return f"<table><tr>{top}</tr>{body}</table>{facts}"


OWNED = 0.95
"""Share of a chain's mass from which on a representative holds the chain."""


def _names(chains: list[Any]) -> str:
    listed = ", ".join(map(str, chains))
    return f"{'chain' if len(chains) == 1 else 'chains'} {listed}"
