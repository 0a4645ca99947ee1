"""What the curve over numbers of clusters reports."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._text import Kind, in_list, in_unit, words
from partita.labels import Labels, data_frame
from partita.losses.base import Loss

if TYPE_CHECKING:
    import pandas as pd

STANDARD_ERRORS = 2.0
"""Standard errors of an excess up to which draws do not tell a number from the best: at an exact
tie a larger difference occurs in 5% of the cases (one standard error: in a third)."""

_LISTED = 4
"""Numbers of clusters whose cost a sentence lists."""

NEAR = 1.0
"""Percent of the expected loss that fewer clusters may cost to be worth a word."""


@dataclass(frozen=True, eq=False, repr=False)
class ClustersCurve(Result):
    """The best partition found for each number of clusters.

    Attributes
    ----------
    k : ndarray of int, shape (n,)
        Numbers of clusters, ascending.
    labels : ndarray of int32, shape (n, n_items)
        The best partition found for each, with labels by size.
    expected_loss : ndarray of float, shape (n,)
    excess : ndarray of float, shape (n,)
        By how much each loses against the estimate, in the unit of the loss.
    standard_error : ndarray of float, shape (n,)
        Monte Carlo standard error of the excess, from the draws' paired
        losses; NaN where the draws are too few to tell.
    distance : ndarray of float, shape (n,)
        Loss of each against the estimate as the truth.
    estimate : ndarray of int32, shape (n_items,)
        The partition with the lowest expected loss of any number of clusters.
    tolerance : float or None
        The excess up to which a k belongs to the plateau; None: two standard errors.
    loss : Loss
    seconds : float
        Time taken.
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> curve = pt.clusters_curve([[0, 0, 1, 1, 2]] * 9 + [[0, 0, 1, 1, 1]] * 8, k=range(1, 5))
    >>> curve.excess.round(3)
    array([1.003, 0.032, 0.   , 0.4  ])
    >>> curve.plateau
    array([2, 3])
    """

    k: NDArray[np.int64]
    labels: NDArray[np.int32]
    expected_loss: NDArray[np.float64]
    excess: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    distance: NDArray[np.float64]
    estimate: Labels
    tolerance: float | None
    loss: Loss
    seconds: float
    kind: Kind = "posterior"

    @property
    def percent(self) -> NDArray[np.float64]:
        """The excess in percent of the estimate's expected loss."""
        lowest = self.expected_loss - self.excess
        return 100.0 * self.excess / np.where(lowest > 0, lowest, np.nan)

    @property
    def plateau(self) -> NDArray[np.int64]:
        """All k that the draws cannot tell from the best: those within the tolerance."""
        own = self.k == int(self.estimate.max()) + 1
        return np.asarray(self.k[own | (self.excess <= self._allowed())])

    def _allowed(self) -> NDArray[np.float64]:
        """The excess up to which a k counts as good: 0 where its error is not known."""
        if self.tolerance is not None:
            return np.full(self.k.shape, self.tolerance)
        return np.nan_to_num(STANDARD_ERRORS * self.standard_error)

    @property
    def fewest_near(self) -> int | None:
        """The smallest k that costs at most one percent; None where the plateau goes as low."""
        near = self.k[self.percent <= NEAR]
        low = near.size > 0 and near[0] < self.plateau.min(initial=int(self.estimate.max()) + 1)
        return int(near[0]) if low else None

    @property
    def sentence(self) -> str:
        """What the best partitions with other numbers of clusters cost, and how sure that is."""
        own = int(self.estimate.max()) + 1
        others = np.flatnonzero(self.k != own)
        if not others.size:
            return "No other number of clusters was tried."
        nearest = others[np.argsort(np.abs(self.k[others] - own), kind="stable")[:_LISTED]]
        shown = np.union1d(nearest, np.flatnonzero(self.k == self.fewest_near))
        kinds = [f"{k:,}" for k in self.k[shown].tolist()]
        said, lowest = words(self.kind), float((self.expected_loss - self.excess)[0])
        scale, unit = (
            (100.0 / lowest, "%") if lowest > 0.0 else (1.0, f" {self.loss.unit}".rstrip())
        )
        known = bool(np.isfinite(self.standard_error[shown]).all())
        costs = [
            f"{scale * cost:.2g}" + (f" ± {scale * error:.2g}" if known else "") + unit
            for cost, error in zip(
                self.excess[shown].tolist(), self.standard_error[shown].tolist(), strict=True
            )
        ]
        noun = "cluster" if kinds == ["1"] else "clusters"
        errors = f" (± one {said.error})" if known else ""
        cost = (
            f"The best clustering found with {in_list(kinds, 'or')} {noun} costs "
            f"{in_list(costs, 'or')} more {said.expected} loss than that with {own:,}{errors}."
        )
        return f"{cost} {self._verdict(others)}"

    def _verdict(self, others: NDArray[np.intp]) -> str:
        """What the errors allow to say about the order."""
        own, said = int(self.estimate.max()) + 1, words(self.kind)
        good = [k for k in self.plateau.tolist() if k != own]
        if self.tolerance is not None:
            limit = in_unit(f"{self.tolerance:g}", self.loss.unit)
            return f"Within {limit} of the best: {_ranges(sorted({own, *good}))} clusters."
        if not np.isfinite(self.standard_error[others]).all():
            return f"The {said.draws} are too few for standard errors: the order may be chance."
        if good:
            noun = "cluster" if good == [1] else "clusters"
            return (
                f"The difference is within two standard errors for {_ranges(good)} {noun}: these "
                f"{said.draws} do not tell {'it' if len(good) == 1 else 'them'} from {own:,}."
            )
        return said.order_holds

    @property
    def headline(self) -> str:
        """The plateau in a few words."""
        own, good = int(self.estimate.max()) + 1, self.plateau.tolist()
        limit = "two standard errors"
        if self.tolerance is not None:
            limit = in_unit(f"{self.tolerance:g}", self.loss.unit)
        if len(good) > 1:
            return f"{_ranges(good)} clusters are within {limit} of the best"
        noun = "cluster" if own == 1 else "clusters"
        return f"{own:,} {noun}; no other number that was tried is within {limit}"

    @property
    def sentences(self) -> str:
        """Deprecated: the same as ``sentence``."""
        warn("sentences is now sentence.", DeprecationWarning, stacklevel=2)
        return self.sentence

    def to_frame(self) -> pd.DataFrame:
        """One row for each k, as a pandas table."""
        columns = ("k", "expected_loss", "excess", "percent", "standard_error", "distance")
        table = {name: getattr(self, name) for name in columns}
        return data_frame({**table, "plateau": np.isin(self.k, self.plateau)}, of="the curve")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(k),
                f"{self.expected_loss[j]:.5g}",
                f"{self.excess[j]:.4g}",
                f"{self.percent[j]:.2g}%",
                f"{self.standard_error[j]:.2g}",
                "yes" if k in self.plateau else "",
            )
            for j, k in enumerate(self.k)
        ]

    def __repr__(self) -> str:
        return f"<ClustersCurve for {self.k[0]} to {self.k[-1]} clusters: {self.headline}>"

    def __str__(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "plateau")
        table = ["".join(f"{cell:>10}" for cell in row) for row in (head, *self._rows())]
        return "\n".join([*table, f"{self.sentence} ({self.seconds:.2g} s)"])

    def _repr_html_(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "plateau")
        cells = ["".join(f"<th>{escape(c)}</th>" for c in head)]
        cells += ["".join(f"<td>{escape(c)}</td>" for c in row) for row in self._rows()]
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{escape(self.headline)}</caption>{rows}</table>"


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers as one reads them: 2, 4 to 6."""
    breaks = [j for j in range(1, len(numbers)) if numbers[j] != numbers[j - 1] + 1]
    ends = zip([0, *breaks], [*breaks, len(numbers)], strict=True)
    runs = [(numbers[a], numbers[b - 1]) for a, b in ends]
    return in_list([str(low) if low == high else f"{low} to {high}" for low, high in runs])
