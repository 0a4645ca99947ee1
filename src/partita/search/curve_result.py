"""What the curve over numbers of clusters reports."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._vocabulary import Kind, words
from partita._wording import in_list
from partita.losses.base import Loss
from partita.partitions.labels import Labels
from partita.partitions.numbering import data_frame

if TYPE_CHECKING:
    import pandas as pd

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
        The excess up to which a k counts as good; None: one standard error.
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
        """All k whose best partition loses no more than the tolerance."""
        allowed = self.standard_error if self.tolerance is None else self.tolerance
        own = self.k == int(self.estimate.max()) + 1
        return np.asarray(self.k[own | (self.excess <= allowed)])

    @property
    def sentence(self) -> str:
        """The plateau in words."""
        best = int(self.estimate.max()) + 1
        good = self.plateau
        why = words(self.kind).within_error
        if self.tolerance is not None:
            why = f"within {self.tolerance:g} {self.loss.unit}".rstrip()
        if good.size <= 1:
            return f"no other number of clusters is as good as {best} {why}"
        return f"{_ranges(good.tolist())} clusters are as good {why}"

    @property
    def fewest_near(self) -> int | None:
        """The smallest k that costs at most one percent; None where the plateau goes as low."""
        near = self.k[self.percent <= NEAR]
        low = near.size > 0 and near[0] < self.plateau.min(initial=int(self.estimate.max()) + 1)
        return int(near[0]) if low else None

    @property
    def sentences(self) -> str:
        """The plateau, and what the fewest clusters cost that cost little."""
        k = self.fewest_near
        if k is None:
            return self.sentence
        percent = float(self.percent[self.k == k][0])
        noun, verb = ("cluster", "costs") if k == 1 else ("clusters", "cost")
        return f"{self.sentence}; {k} {noun} {verb} {percent:.2g}% more"

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
        return f"<ClustersCurve for {self.k[0]} to {self.k[-1]} clusters: {self.sentence}>"

    def __str__(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "as good")
        table = ["".join(f"{cell:>10}" for cell in row) for row in (head, *self._rows())]
        return "\n".join([*table, f"{self.sentences} ({self.seconds:.2g} s)"])

    def _repr_html_(self) -> str:
        head = ("k", "loss", "excess", "percent", "error", "as good")
        cells = ["".join(f"<th>{escape(c)}</th>" for c in head)]
        cells += ["".join(f"<td>{escape(c)}</td>" for c in row) for row in self._rows()]
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{escape(self.sentence)}</caption>{rows}</table>"


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers as one reads them: 2, 4 to 6."""
    breaks = [j for j in range(1, len(numbers)) if numbers[j] != numbers[j - 1] + 1]
    ends = zip([0, *breaks], [*breaks, len(numbers)], strict=True)
    runs = [(numbers[a], numbers[b - 1]) for a, b in ends]
    return in_list([str(low) if low == high else f"{low} to {high}" for low, high in runs])
