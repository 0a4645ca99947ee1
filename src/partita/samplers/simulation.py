"""Values from a fitted model: missing cells, and data sets as the model would make them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._result import Result
from partita._validate import Rng, between, generator, whole
from partita.kernels.arrays import Floats
from partita.partitions.profile_table import evenly_spaced
from partita.samplers.fitted import Fitted


@dataclass(frozen=True, eq=False, repr=False)
class Imputation(Result):
    """Posterior of the missing cells of a table, one entry per cell.

    Attributes
    ----------
    row : ndarray of int
        Item of each cell.
    column : tuple of str
        Its column.
    mean : ndarray of float
        Posterior mean; of a category, the number of its most probable level.
    lower, upper : ndarray of float
        Central interval of that probability.
    probability : tuple of ndarray or None
        Of a category, the posterior probability of each level.
    filled : ndarray of float, shape (n_items, n_columns)
        The data with ``mean`` in place of what is missing.
    prob : float
    """

    row: NDArray[np.int64]
    column: tuple[str, ...]
    mean: Floats
    lower: Floats
    upper: Floats
    probability: tuple[Floats | None, ...]
    filled: Floats
    prob: float

    def __repr__(self) -> str:
        n = self.row.size
        return f"<Imputation: {n} missing cell{'s' * (n != 1)}, {self.prob:.0%} intervals>"


class Simulations(Fitted):
    """What a fit can make: missing cells, replicates, distances between densities."""

    def impute(self, *, prob: float = 0.95, rng: Rng | None = None) -> Imputation:
        """Posterior means and intervals of the missing cells, averaged over draws.

        Given a partition, a missing cell has the predictive distribution of its column in its
        item's cluster; ``mean`` averages the means of these, the intervals hold the central
        ``prob`` of one random value per draw.

        Parameters
        ----------
        prob : float
            Probability of the intervals.
        rng : int, SeedSequence or Generator, optional
            Seed of the random values; by default 0.

        Returns
        -------
        Imputation
            One entry per missing cell, row by row; ``filled`` is the table with means put in.

        Notes
        -----
        Cost O(draws · N) per row with a missing cell.

        Examples
        --------
        >>> import numpy as np
        >>> import partita as pt
        >>> table = [[1.0, 5.1], [1.2, np.nan], [9.0, 0.2], [9.1, 0.1], [1.1, 4.8]]
        >>> fit = pt.sample(table, draws=200, burn_in=50, chains=2, rng=0)
        >>> fit.impute().row, fit.impute().column
        (array([1]), ('1',))
        """
        prob, rng = between(prob, "prob", 0, 1), generator(rng)
        rows, columns = np.nonzero(np.isnan(self.values))
        mean, lower, upper = np.empty((3, rows.size))
        probability: list[Floats | None] = []
        labels, rates = self.draws.labels, self._rates()
        same, of = np.empty((0, 0)), -1
        tail = (1 - prob) / 2
        for cell, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            if row != of:
                same, of = (labels == labels[:, row, None]).astype(np.float64), row
            expected, random = self._predict_cell(rates, same, column, rng)
            averaged = expected.mean(axis=0)
            levels = averaged if expected.ndim == 2 else None
            probability.append(levels)
            mean[cell] = float(averaged) if levels is None else float(levels.argmax())
            lower[cell], upper[cell] = np.quantile(random, [tail, 1 - tail])
        filled = self.values.copy()
        filled[rows, columns] = mean
        names = tuple(self.columns[c] for c in columns)
        found = (mean, lower, upper, tuple(probability), filled, prob)
        return Imputation(rows.astype(np.int64), names, *found)

    def _predict_cell(
        self, rates: Floats, same: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """``Kernel.predict_cell``, draw by draw where the column's rate is learned."""
        kernel, values = self.kernel, self.values[:, column]
        if column not in kernel.learned(len(self.columns)):
            return kernel.predict_cell(same, values, column, rng)
        parts = [
            kernel.at(rates[m]).predict_cell(same[m : m + 1], values, column, rng)
            for m in range(len(same))
        ]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def replicate(self, n: int = 1, *, rng: Rng | None = None) -> Floats:
        """Data as the fitted model would make them again, to be held against the data.

        For each replicate a partition is drawn from the posterior, parameters of its clusters
        given their items, and new values of all items given these. Where replicates do not look
        like the data, the kernel is wrong; ``pt.plots.replicates`` shows both.

        Parameters
        ----------
        n : int
            Number of replicates.
        rng : int, SeedSequence or Generator, optional
            By default 0.

        Returns
        -------
        ndarray of float, shape (n, n_items, n_columns)
            As the kernel encodes them: categories as numbers of their levels.

        Notes
        -----
        Cost O(n · N · d).

        References
        ----------
        Gelman, A., Meng, X.-L. and Stern, H. (1996), Posterior predictive assessment of model
        fitness via realized discrepancies. Statistica Sinica 6.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=1, rng=0)
        >>> fit.replicate(20).shape
        (20, 82, 1)
        """
        n, rng = whole(n, "n", least=1), generator(rng)
        require_memory(8 * n * self.values.size, f"{n:,} data sets", "Ask for fewer.")
        rates = self._rates()
        out = np.empty((n, *self.values.shape))
        for r, m in enumerate(rng.integers(self.draws.n_draws, size=n).tolist()):
            labels, kernel = self.draws.labels[m], self.kernel.at(rates[m])
            for j in range(int(labels.max()) + 1):
                members = np.flatnonzero(labels == j)
                out[r, members] = kernel.simulate(self.values[members], members.size, rng)
        return out

    def kernel_distance(self, *, draws: int = 500, rng: Rng | None = None) -> Floats:
        r"""Posterior mean Hellinger distance between the densities that two items come from.

        :math:`\Delta_{ij} = E[h(f(\cdot \mid \theta_{c_i}), f(\cdot \mid \theta_{c_j}))]`, 0
        where i and j share a cluster. Where clusters overlap it is small although they are two:
        merging what is close (FOLD) is ``pt.estimate(similarity=1 - fit.kernel_distance(),
        loss=pt.Binder(a=2 * w / (1 + w)))`` with w > 0, larger for fewer clusters.

        Parameters
        ----------
        draws : int
            Partitions to average over, evenly taken from all.
        rng : int, SeedSequence or Generator, optional
            Parameters are drawn given the partition; by default 0.

        Returns
        -------
        ndarray of float, shape (n_items, n_items)

        Notes
        -----
        Cost O(draws · N²). For ``NormalInverseGamma`` and ``NormalInverseWishart``.

        References
        ----------
        Dombowsky and Dunson (2024), Bayesian clustering via fusing of localized densities. Journal
        of the American Statistical Association.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=2, rng=0)
        >>> fit.kernel_distance(draws=50).shape
        (82, 82)
        """
        n, rng = min(whole(draws, "draws", least=1), self.draws.n_draws), generator(rng)
        n_items = self.draws.n_items
        require_memory(
            2 * n_items**2 * 8,
            f"the distances of {n_items:,} items",
            "Ask for those of a part of the items, by a fit of these.",
        )
        rates, total = self._rates(), np.zeros((n_items, n_items))
        for m in evenly_spaced(self.draws.n_draws, n).tolist():
            labels = self.draws.labels[m].astype(np.int32)
            apart = self.kernel.at(rates[m]).hellinger(self.values, labels, rng)
            total += apart[np.ix_(labels, labels)]
        return total / n
