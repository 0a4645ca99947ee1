"""What a ranking of hypotheses among draws reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._result import Result, as_html, frozen
from partita._text import Kind, words
from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.labels import Labels, LabelsLike, as_labels
from partita.losses.base import Loss

TIE = 1e-9
"""Scores whose difference is a smaller share of them than this are tied."""


class PValue(float):
    """A p-value: a number that also says how it was made.

    Attributes
    ----------
    rate : float or None
        The rate of the kernel whose p-value this number is; None for the ball.
    rates, values : ndarray of float
        Every rate that was tried, and its p-value.
    method : str
        "kernel" or "ball".
    n_draws : int
        Draws it was ranked among.
    drawn : str
        Which draws these are.
    kind : "posterior" or "ensemble"
        What they are.

    Examples
    --------
    >>> import partita as pt
    >>> p = pt.p_value([[0, 0, 1], [0, 0, 1], [0, 1, 1]], [0, 1, 2], rate=1)
    >>> float(p), p.n_draws
    (0.5, 3)
    """

    rate: float | None
    rates: NDArray[np.float64]
    values: NDArray[np.float64]
    method: str
    n_draws: int
    drawn: str
    kind: Kind

    def __new__(
        cls,
        value: float,
        *,
        rate: float | None,
        rates: NDArray[np.float64],
        values: NDArray[np.float64],
        method: str,
        n_draws: int,
        drawn: str,
        kind: Kind = "posterior",
    ) -> PValue:
        """A float with what it was made from."""
        self = super().__new__(cls, value)
        self.rate, self.rates, self.values = rate, frozen(rates), frozen(values)
        self.method, self.n_draws, self.drawn, self.kind = method, n_draws, drawn, kind
        return self

    def __repr__(self) -> str:
        return f"PValue({float(self):.4g})"

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return as_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (float(self), self.__dict__)

    def in_words(self) -> str:
        """The number, what it means, and which choice was made."""
        said = words(self.kind)
        above = round((1.0 - float(self)) * (self.n_draws + 1))
        known = "approximately independent " if self.kind == "posterior" else ""
        text = (
            f"Of {self.n_draws:,} {known}{said.draws}, {f'{above:,}' if above else 'none'} "
            f"{'is' if above < 2 else 'are'} more typical than this clustering (p = "
            f"{float(self):.3g}; {self.drawn})"
        )
        if self.method == "ball":
            return f"{text}, by distance to the estimate."
        if self.rates.size == 1:
            return f"{text}, by closeness exp(−{self.rate:.3g}·distance) to the others."
        return (
            f"{text}, by closeness exp(−{self.rate:.3g}·distance) to the others; over rates from "
            f"{self.rates[0]:.3g} to {self.rates[-1]:.3g}, p goes from {self.values.min():.3g} to "
            f"{self.values.max():.3g}. Quoted is the rate of one over the median distance of two "
            f"{said.draws}."
        )


def _restored(value: float, fields: dict[str, object]) -> PValue:
    return PValue(value, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class ConformalSet(Result):
    """Draws with their scores, ready to rank any hypothesis. Made by :func:`conformal_set`.

    Attributes
    ----------
    draws : Draws
        The draws that are ranked, after thinning.
    rates : ndarray of float, shape (n_rates,)
        Rates of the kernel; empty for the ball.
    quoted : int
        Which of the rates is quoted.
    scores : ndarray of float, shape (max(n_rates, 1), n_draws)
        Closeness of each draw to the others; minus its distance to the centre for the ball.
    center : ndarray of int32, or None
        Centre of the ball.
    loss : Loss
    drawn : str
        Which draws these are.

    Examples
    --------
    >>> import partita as pt
    >>> ready = pt.conformal_set([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rate=1)
    >>> ready.contains([0, 0, 1]), ready.contains([0, 1, 2], prob=0.4)
    (True, False)
    """

    draws: Draws
    rates: NDArray[np.float64]
    quoted: int
    scores: NDArray[np.float64]
    center: Labels | None
    loss: Loss
    drawn: str

    def p_value(self, labels: LabelsLike) -> PValue:
        """p-value of one partition, in O(M (N + K²))."""
        one = as_labels(labels, n_items=self.draws.n_items, argument="labels")
        if self.center is not None:
            far = self.loss.distances(one, Draws(self.center[None, :]), n_jobs=1)
            values = np.array([_rank(self.scores[0], -float(far[0]))])
        else:
            closeness = np.exp(-np.outer(self.rates, self.loss.distances(one, self.draws)))
            values = np.array(
                [
                    _rank(score + near, float(near.sum()))
                    for score, near in zip(self.scores, closeness, strict=True)
                ]
            )
        return PValue(
            float(values[self.quoted]),
            rate=float(self.rates[self.quoted]) if self.rates.size else None,
            rates=self.rates,
            values=values,
            method="kernel" if self.center is None else "ball",
            n_draws=self.draws.n_draws,
            drawn=self.drawn,
            kind=self.draws.kind,
        )

    def contains(self, labels: LabelsLike, *, prob: float = 0.95) -> bool:
        """Whether p > 1 − prob: a set whose probability is ``prob`` on average over draws.

        For the set at hand it may be more or less, by the Monte Carlo error of the draws.
        """
        from partita.credible.ball import clean_prob

        return float(self.p_value(labels)) > 1.0 - clean_prob(prob)

    def __repr__(self) -> str:
        kind = "ball" if self.center is not None else f"{self.rates.size} rate(s)"
        return f"<ConformalSet: {self.drawn}, {kind}, {self.loss!r}>"


def _rank(scores: Floats, own: float) -> float:
    """Share of the draws and the hypothesis that score no more than the hypothesis."""
    lower = int((scores <= own + TIE * max(1.0, abs(own))).sum())
    return (1 + lower) / (scores.size + 1)
