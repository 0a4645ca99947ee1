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
"""Blocks of neighbouring draws, at most, that take turns: even ones are fitted, odd held out."""

FORGOTTEN = 3.0
"""Autocorrelation times left out of a fitted block at each end, as far as the chain is long."""

MATTERS = 0.05
"""What each further representative must take off the held-out distance to one of them."""


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

    n: NDArray[np.int64]
    fitted: NDArray[np.float64]
    held_out: NDArray[np.float64]
    error: NDArray[np.float64]
    ended: bool
    margin: NDArray[np.float64] | None = None

    @property
    def best(self) -> int:
        """The n of the lowest held-out distance."""
        return int(self.n[self.held_out.argmin()])

    @property
    def chosen(self) -> int:
        """The smallest n from which on more representatives bring too little.

        Each of them would have to take 5% of the distance to one representative off, beyond the
        95% interval of the difference.
        """
        if self.margin is None:
            lowest = int(self.held_out.argmin())
            limit = self.held_out[lowest] + self.error[lowest]
            return int(self.n[np.flatnonzero(self.held_out <= limit)[0]])
        gain = self.held_out[:, None] - self.held_out
        wanted = MATTERS * self.held_out[0] * (self.n - self.n[:, None]) + self.margin
        more = np.triu(gain > wanted, 1).any(axis=1)
        return int(self.n[more.argmin()])

    def in_words(self, kind: Kind = "posterior") -> str:
        """What the curve says, in one sentence, for draws of this kind."""
        held_out = f"held-out {words(kind).draws}"
        little = f"{100 * MATTERS:g}%"
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


Half = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Rows to fit, rows to hold out, and the block of each row held out."""


def halves(draws: Draws, correlated: float = 1.0) -> tuple[Half, Half]:
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


def margins(
    distances: list[NDArray[np.float64]], weights: NDArray[np.float64], block: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Half the 95% interval of the difference of each two means, by Student's law of the blocks."""
    from scipy.special import stdtrit

    n_blocks = np.unique(block).size
    width = float(stdtrit(n_blocks - 1.0, 0.975)) if n_blocks > 1 else np.inf
    errors = [[mean_and_error(a - b, weights, block)[1] for b in distances] for a in distances]
    return np.multiply(width, errors, where=np.array(errors) > 0, out=np.zeros((len(errors),) * 2))
