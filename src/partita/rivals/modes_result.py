"""The modes of a posterior, as they are returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._text import counted
from partita.draws import Draws
from partita.losses.base import Loss
from partita.rivals.peaks import Peaks
from partita.rivals.result import Rivals


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Rivals):
    """Modes of the posterior over partitions. Made by :func:`modes`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, n_items)
        The draw at each peak, heaviest region first; clusters numbered by size.
    weights : ndarray of float, shape (n,)
        Share of the draws in the region of each mode.
    persistence : ndarray of float, shape (n,)
        Share of each peak that stands above the valley towards a higher one, at ``rate``.
    rate : float
        The smallest rate at which this number of modes shows.
    rates : ndarray of float, shape (n_rates,)
    counts : ndarray of int64, shape (n_rates,)
        Number of modes at each rate; 0 where fewer than five draws make any peak.
    peaks : tuple of Peaks
        Every peak at each rate, with birth and death.
    stands_out : tuple of ndarray of bool
        Which of them are modes at that rate.
    assignment : ndarray of int64, shape (n_draws,)
        Region of each of the draws used.
    chains : ndarray of float, shape (n_chains, n)
        Share of each chain in each region; rows sum to 1.
    chain_names : tuple
    draws : Draws
        The draws used, after thinning.
    drawn : str
        Which draws these are.
    loss : Loss

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.modes([[0, 0, 1, 1]] * 30)
    >>> found.n, found.labels
    (1, array([[0, 0, 1, 1]], dtype=int32))
    """

    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    persistence: NDArray[np.float64]
    rate: float
    rates: NDArray[np.float64]
    counts: NDArray[np.int64]
    peaks: tuple[Peaks, ...]
    stands_out: tuple[NDArray[np.bool_], ...]
    assignment: NDArray[np.int64]
    chains: NDArray[np.float64]
    chain_names: tuple[Any, ...]
    draws: Draws
    drawn: str
    loss: Loss

    def __repr__(self) -> str:
        return f"<Modes: {self.n}, masses {np.round(self.weights, 3).tolist()}>"

    def __str__(self) -> str:
        from textwrap import wrap

        lines = [f"{counted(self.n, 'mode')} ({self.drawn})"]
        lines.append(f"{'':>3}{'mass':>8}{'persistence':>13}  sizes of clusters")
        for r in range(self.n):
            sizes = np.bincount(self.labels[r])
            shown = ", ".join(map(str, sizes[:8])) + (", …" if sizes.size > 8 else "")
            lines.append(f"{r:>3}{self.weights[r]:>8.3f}{self.persistence[r]:>13.2f}  {shown}")
        for r in range(1, self.n):
            text = f"{r} differs from 0: {self.explain(r).in_words()}"
            lines += wrap(text, 80, subsequent_indent="    ")
        seen = ", ".join(f"{c} at {x:.3g}" for c, x in zip(self.counts, self.rates, strict=True))
        lines += wrap(f"modes by rate: {seen}", 80, subsequent_indent="    ")
        return "\n".join(lines)
