"""Estimates under several losses, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._resources import Clock
from partita._result import Page, Result, Table, latex_table
from partita._validate import Rng, seconds, shown
from partita._wording import counted, in_list, of_sizes, words
from partita.errors import InvalidInputError
from partita.labels import DrawsLike, data_frame
from partita.losses.base import Loss
from partita.losses.builtin import VI
from partita.losses.evaluate import as_loss
from partita.posterior import as_posterior
from partita.search.estimate import estimate
from partita.search.result import PointEstimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class EstimatesByLoss(Result):
    """Estimates under several losses, each measured by all of them. Made by `compare_losses`.

    Attributes
    ----------
    names : tuple of str
        The losses.
    estimates : tuple of PointEstimate
        The estimate under each of them.
    expected : ndarray of float, shape (n_losses, n_losses)
        Expected loss of the estimate of row i under the loss of column j.
    excess : ndarray of float, shape (n_losses, n_losses)
        How far that is above the estimate of loss j, relative to it: 0.1 is 10% above. Negative
        values are partitions that the search for loss j missed.
    distances : ndarray of float, shape (n_losses, n_losses)
        Variation of information between the estimates, in bits.
    n_clusters : ndarray of int64, shape (n_losses,)

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.compare_losses([[0, 0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 2]], ["vi", "binder"])
    >>> found.names, found.n_clusters
    (('VI', 'Binder'), array([2, 2]))
    """

    names: tuple[str, ...]
    estimates: tuple[PointEstimate, ...]
    expected: NDArray[np.float64]
    distances: NDArray[np.float64]

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters of each estimate."""
        return np.array([each.n_clusters for each in self.estimates])

    @property
    def excess(self) -> NDArray[np.float64]:
        """Expected losses relative to the estimate of each loss, less 1."""
        own = np.diagonal(self.expected)
        return np.divide(
            self.expected - own, own, out=np.zeros_like(self.expected), where=own > 0.0
        )

    @property
    def sentence(self) -> str:
        """The table in one sentence."""
        counts = sorted(set(self.n_clusters.tolist()))
        if len(counts) == 1 and not self.distances.any():
            every = "Both" if len(self.names) == 2 else f"All {len(self.names)}"
            return f"{every} losses have the same estimate, of {counted(counts[0], 'cluster')}."
        many = in_list(
            [f"{k} ({name})" for k, name in zip(self.n_clusters, self.names, strict=True)]
        )
        far = np.unravel_index(int(self.distances.argmax()), self.distances.shape)
        return (
            f"The estimates have {many} clusters; those furthest apart, "
            f"{self.names[far[0]]} and {self.names[far[1]]}, differ by "
            f"{self.distances[far]:.3g} bits."
        )

    def table(self) -> Table:
        """One row per estimate: its clusters, its distance to the first, its expected losses."""
        rows = tuple(
            (
                name,
                f"{found.n_clusters:,}",
                of_sizes(np.bincount(found.labels).tolist(), 5).partition(" ")[2],
                f"{self.distances[i, 0]:.3g}",
                *(
                    f"{value:.4g}" + ("" if i == j else f" ({100 * above:+.2g}%)")
                    for j, (value, above) in enumerate(
                        zip(self.expected[i], self.excess[i], strict=True)
                    )
                ),
            )
            for i, (name, found) in enumerate(zip(self.names, self.estimates, strict=True))
        )
        mean = words(self.estimates[0].kind).expected.capitalize()
        measured = (f"Bits to {self.names[0]}", *(f"{mean} {name}" for name in self.names))
        columns = ("Estimate", "Clusters", "Sizes", *measured)
        return Table("Estimates under different losses.", columns, rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per estimate: clusters, expected losses, distances to the others."""
        columns: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {
            "n_clusters": self.n_clusters
        }
        columns |= {f"expected {name}": self.expected[:, j] for j, name in enumerate(self.names)}
        columns |= {f"bits to {name}": self.distances[:, j] for j, name in enumerate(self.names)}
        return data_frame(columns, of="estimates", index=list(self.names), name="estimate")

    def to_latex(self) -> str:
        """The table for a paper; needs the package ``booktabs``."""
        return latex_table(self.table()._replace(caption=self.sentence))

    def __str__(self) -> str:
        return f"{self.table().text()}\n{self.sentence}"

    def __repr__(self) -> str:
        return f"<EstimatesByLoss: {self.sentence}>"

    def _page(self) -> Page:
        return Page(
            "Estimates under different losses", tables=[self.table()], notes=[self.sentence]
        )


def compare_losses(
    draws: DrawsLike,
    losses: Sequence[str | Loss] = ("vi", "binder"),
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> EstimatesByLoss:
    r"""Estimate under several losses, and measure each estimate by all of them.

    .. math:: E_{ij} = \sum_m w_m\, L_j(c_m, c^*_i), \qquad c^*_i = \arg\min_c E[L_i(\cdot, c)]

    Choose it to see whether a conclusion hangs on the loss: where the estimates are equal or
    each costs little under the others, it does not.

    Parameters
    ----------
    draws : Draws, array_like or path, shape (n_draws, n_items)
        Anything :func:`as_draws` accepts.
    losses : sequence of str or Loss, default ("vi", "binder")
        At least two, such as ``["vi", "binder", pt.VI(0.7)]``.
    time_limit : float, optional
        Seconds for all of them together.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.
    progress : bool, optional
        Whether to report progress; by default on a terminal.
    rng : int, SeedSequence or Generator, optional
        Seed of the searches; 0 by default.

    Returns
    -------
    results.EstimatesByLoss
        With a table, :meth:`to_frame`, :meth:`to_latex`; :func:`plots.compare_losses` draws it.

    Notes
    -----
    The cost of one estimate per loss. Losses have different scales, so only columns compare.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: Point estimation and
    credible balls. Bayesian Analysis, 13(2), 559–626.

    Examples
    --------
    >>> import partita as pt
    >>> print(pt.compare_losses([[0, 0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 2]], ["vi", "binder"]))
    Estimate  Clusters  Sizes  Bits to VI   Expected VI  Expected Binder
    VI               2   2, 2           0        0.3333    0.08333 (+0%)
    Binder           2   2, 2           0  0.3333 (+0%)          0.08333
    Both losses have the same estimate, of 2 clusters.
    """
    if isinstance(losses, (str, Loss)) or not isinstance(losses, Sequence) or len(losses) < 2:
        raise InvalidInputError(
            f"losses={shown(losses)}; expected at least two losses, as in ['vi', 'binder'].",
            argument="losses",
        )
    measures = [as_loss(loss) for loss in losses]
    names = [repr(each).removesuffix("()") for each in measures]
    if len(set(names)) < len(names):
        raise InvalidInputError(
            f"losses has {in_list(names)}; expected each loss once.", argument="losses"
        )
    posterior = as_posterior(draws, n_jobs)
    clock = Clock(seconds(time_limit))
    found = []
    for done, measure in enumerate(measures):
        share = clock.left / (len(measures) - done)
        left = None if math.isinf(share) else max(share, 0.01)
        with clock:  # Ctrl-C ends the rest, too
            found.append(
                estimate(
                    posterior,
                    loss=measure,
                    time_limit=left,
                    n_jobs=n_jobs,
                    progress=progress,
                    rng=rng,
                )
            )
    labels = [each.labels for each in found]
    expected = np.array(
        [[m.expected(row, posterior.draws, n_jobs) for m in measures] for row in labels]
    )
    rows, counts = np.stack(labels), np.array([each.n_clusters for each in found])
    vi = VI().against(rows.shape[1])
    distances = np.array([vi(row, rows, counts) for row in labels])
    return EstimatesByLoss(tuple(names), tuple(found), expected, distances)
