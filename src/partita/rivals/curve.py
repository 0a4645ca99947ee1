"""How many representatives: the mean distance on draws that were not used to find them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._text import Kind, roughly, words
from partita.draws import Draws
from partita.scan import chains_of

BLOCKS = 40
"""Blocks of neighbouring draws that take turns; even ones are fitted, odd ones held out."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutCurve(Result):
    """Mean distance to the nearest of n representatives, on draws that did not choose them.

    Attributes
    ----------
    n : ndarray of int64
        Numbers of representatives tried: 1, 2, …
    fitted, held_out : ndarray of float
        Mean distance on the half that chose them, and on the other half.
    error : ndarray of float
        Standard error of ``held_out``, from the means of blocks of
        neighbouring draws, so that correlated draws count for what they are worth.
    chosen : int
        The smallest n whose held-out distance is within one standard error of the best.
    ended : bool
        Whether the curve was followed to its end: False when it still falls at the last n.
    """

    n: NDArray[np.int64]
    fitted: NDArray[np.float64]
    held_out: NDArray[np.float64]
    error: NDArray[np.float64]
    ended: bool

    @property
    def best(self) -> int:
        """The n of the lowest held-out distance."""
        return int(self.n[self.held_out.argmin()])

    @property
    def chosen(self) -> int:
        """The smallest n whose held-out distance is within one standard error of the best."""
        lowest = int(self.held_out.argmin())
        limit = self.held_out[lowest] + self.error[lowest]
        return int(self.n[np.flatnonzero(self.held_out <= limit)[0]])

    def in_words(self, kind: Kind = "posterior") -> str:
        """What the curve says, in one sentence, for draws of this kind."""
        held_out = f"held-out {words(kind).draws}"
        if self.chosen == 1:
            return (
                f"One representative is enough: more of them are no nearer to {held_out} by "
                "more than one standard error."
            )
        taken = 1.0 - float(self.held_out[self.chosen - 1] / self.held_out[0])
        tail = "" if self.ended else f" The curve still falls at n = {self.n[-1]}."
        return (
            f"{self.chosen} representatives are {roughly(taken)} nearer to {held_out} than "
            f"one; no smaller number is within one standard error of the best.{tail}"
        )


def is_flat(held_out: list[float], error: list[float]) -> bool:
    """Whether two more representatives together took off less than one standard error."""
    return len(held_out) > 2 and held_out[-3] - min(held_out[-2:]) < error[-1]


def halves(draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows to fit, rows to hold out, and the block of each row held out.

    Each chain is cut into blocks of neighbouring draws, which take turns: both
    halves then see every chain, also one that never left its own mode, and
    neighbours in time are not on both sides but at the edges of blocks.
    """
    names, number = chains_of(draws)
    block = np.empty(draws.n_draws, np.int64)
    first = 0
    for chain in range(names.size):
        rows = np.flatnonzero(number == chain)
        pieces = 2 * min(BLOCKS // 2, max(1, rows.size // 8))
        block[rows] = first + np.arange(rows.size) * pieces // rows.size
        first += pieces
    held = np.flatnonzero(block % 2 == 1)
    return np.flatnonzero(block % 2 == 0), held, block[held]


def mean_and_error(
    distances: NDArray[np.float64], weights: NDArray[np.float64], block: NDArray[np.int64]
) -> tuple[float, float]:
    """Weighted mean, and its standard error from the means of blocks."""
    number = np.unique(block, return_inverse=True)[1]
    mass = np.bincount(number, weights=weights)
    total = np.bincount(number, weights=weights * distances)
    mean = float(total.sum() / mass.sum())
    if mass.size < 2:
        return mean, float("inf")
    scatter = (total - mass * mean) / mass.sum()
    return mean, float(np.sqrt(np.square(scatter).sum() * mass.size / (mass.size - 1)))
