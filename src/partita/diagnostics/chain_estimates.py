"""What each chain would report alone: its estimate, its expected loss, how far apart chains are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Page, Result, Table
from partita._text import counted, in_unit, with_unit
from partita._validate import Rng
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels, LabelsLike, as_labels
from partita.losses.base import Loss
from partita.losses.evaluate import loss_for, pairwise_distances
from partita.search.estimate import estimate

_SHOWN = 8
"""Chains that the table has, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class ChainEstimates(Result):
    """Estimates of the chains one by one. Made by :func:`chain_estimates`.

    Attributes
    ----------
    chains : tuple
        Ids of the chains, as the draws have them.
    labels : ndarray of int32, shape (n_chains, n_items)
        Estimate of each chain from its own draws.
    n_clusters : ndarray of int64, shape (n_chains,)
    share : ndarray of float, shape (n_chains,)
        Of the mass of all draws, that of the chain's.
    within : ndarray of float, shape (n_chains,)
        Expected loss of a chain's estimate over its own draws.
    distances : ndarray of float, shape (n_chains, n_chains)
        Loss of the estimate in the row against that in the column.
    to_estimate : ndarray of float, shape (n_chains,)
        Loss of the estimate of all draws against that of the chain.
    expected_loss : float
        Of the estimate of all draws, over all draws.
    loss : Loss
    """

    chains: tuple[Any, ...]
    labels: NDArray[np.int32]
    n_clusters: NDArray[np.int64]
    share: Floats
    within: Floats
    distances: Floats
    to_estimate: Floats
    expected_loss: float
    loss: Loss

    @property
    def between(self) -> float:
        """Largest distance between the estimates of two chains."""
        return float(self.distances.max())

    @property
    def sentence(self) -> str:
        """What single chains lose, in one sentence."""
        alone = in_unit(f"{self.within @ self.share:.3g}", self.loss.unit)
        return (
            f"Expected {self.loss.title}: {alone} within a chain on average and "
            f"{self.expected_loss:.3g} over all {len(self.chains)}; their estimates are up to "
            f"{self.between:.3g} apart."
        )

    def table(self) -> Table:
        """One row per chain."""
        rows = tuple(
            (
                str(chain),
                str(self.n_clusters[c]),
                f"{self.within[c]:.4g}",
                f"{self.to_estimate[c]:.3g}",
                *(f"{away:.3g}" for away in self.distances[c, :_SHOWN]),
            )
            for c, chain in enumerate(self.chains[:_SHOWN])
        )
        loss, own = with_unit("Expected loss", self.loss.unit), "To the estimate"
        columns = ("Chain", "Clusters", loss, own, *(f"To {c}" for c in self.chains[:_SHOWN]))
        n = len(self.chains)
        shown = f", the first {_SHOWN} of {n:,}" if n > _SHOWN else ""
        return Table(f"Each chain alone{shown}. {self.sentence}", columns, rows)

    def __str__(self) -> str:
        table = self.table()
        return f"{table.caption}\n{table.text()}"

    def __repr__(self) -> str:
        return f"<ChainEstimates: {counted(len(self.chains), 'chain')}. {self.sentence}>"

    def _page(self) -> Page:
        return Page("Each chain alone", tables=[self.table()])


MANY_ITEMS = 50_000
"""From more items on the search of a chain begins at the estimate of all draws and is brief."""


def chain_estimates(
    draws: DrawsLike,
    *,
    labels: LabelsLike | None = None,
    loss: str | Loss | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> ChainEstimates:
    """The estimate of each chain, and how far apart the chains are.

    With L̄_j the minimal expected loss over the draws of chain j alone and L̄ that over all draws,
    L̄ is no smaller than the mean of the L̄_j, weighted by the chains' shares of the draws: the
    difference is what chains disagree about, and what a single chain would hide. Both are the
    lowest that a search found, not proven minima. Choose it where R-hat says that chains differ,
    to see by how many bits; where it is as large as L̄ itself, report :func:`representatives`.

    Parameters
    ----------
    draws : Draws with at least two chains
    labels : array_like, shape (n_items,), or an estimate, optional
        The estimate of all draws; searched for by default.
    loss : str or Loss, optional
        VI by default.
    rng, n_jobs
        As in :func:`estimate`.

    Returns
    -------
    ChainEstimates

    Notes
    -----
    One search per chain, without a bound; for more than 50,000 items a brief one that begins at
    the estimate of all draws.

    References
    ----------
    Wade and Ghahramani (2018) for the estimate; Yao, Vehtari and Gelman (2022), Stacking for
    non-mixing Bayesian computations, Journal of Machine Learning Research 23, for chains that each
    know a mode.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]], chain=[1, 1, 2, 2])
    >>> found = pt.chain_estimates(draws)
    >>> found.within.tolist(), round(found.expected_loss, 4), round(found.between, 4)
    ([0.0, 0.0], 0.6667, 1.3333)
    """
    clean = as_draws(draws)
    if clean.chain is None or clean.n_chains < 2:
        raise InvalidInputError(
            "these draws have fewer than two chains; give chain=... (one id per draw), or a "
            "(chain, draw, item) array to as_draws.",
            argument="draws",
        )
    measure = loss_for(loss, clean)
    if labels is None:
        labels = estimate(clean, loss=measure, bound=None, rng=rng, n_jobs=n_jobs)
    return estimates_by_chain(clean, as_labels(labels, n_items=clean.n_items), measure, rng, n_jobs)


def estimates_by_chain(
    draws: Draws, labels: Labels, loss: Loss, rng: Rng | None, n_jobs: int | None
) -> ChainEstimates:
    """See :func:`chain_estimates`."""
    brief: dict[str, Any] = {}
    if draws.n_items > MANY_ITEMS:
        brief = {"method": "brief", "starts": labels}
    of_draw = np.asarray(draws.chain)
    ids = np.unique(of_draw)
    found = [
        estimate(
            draws[np.flatnonzero(of_draw == chain)],
            loss=loss,
            bound=None,
            rng=rng,
            n_jobs=n_jobs,
            progress=False,
            **brief,
        )
        for chain in ids
    ]
    rows = np.stack([each.labels for each in found])
    own = Draws(rows)
    return ChainEstimates(
        chains=tuple(ids.tolist()),
        labels=rows,
        n_clusters=np.array([each.n_clusters for each in found]),
        share=np.array([draws.probabilities[of_draw == chain].sum() for chain in ids]),
        within=np.array([each.expected_loss for each in found]),
        distances=pairwise_distances(own, loss=loss, n_jobs=n_jobs),
        to_estimate=loss.distances(labels, own, n_jobs),
        expected_loss=float(loss.distances(labels, draws, n_jobs) @ draws.probabilities),
        loss=loss,
    )
