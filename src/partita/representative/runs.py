"""Runs of clustering algorithms by group (a resolution, a seed): which group is nearest to all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partita._result import Page, Result, Table
from partita._wording import counted, in_unit, printable, with_unit
from partita.draws import Draws
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels, data_frame
from partita.losses.base import Loss
from partita.losses.evaluate import pairwise_distances

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Result):
    """Runs by group: how far from the consensus, how far from each other.

    Attributes
    ----------
    groups : tuple of str
        Names of the groups, such as resolutions, in their order among the runs.
    n_runs : ndarray of int64, shape (n_groups,)
    n_clusters : ndarray of float, shape (n_groups,)
        Mean number of clusters of the runs.
    fewest, most : ndarray of int64, shape (n_groups,)
        Least and largest number of clusters.
    to_consensus : ndarray of float, shape (n_groups,)
        Mean distance of the runs to the consensus of all.
    spread : ndarray of float, shape (n_groups,)
        Mean distance between two runs of the group; not a number where there is only one.
    loss : Loss
        What measures distances.
    nearest : str
        The group with the smallest mean distance to the consensus.
    """

    groups: tuple[str, ...]
    n_runs: Ints
    n_clusters: Floats
    fewest: Ints
    most: Ints
    to_consensus: Floats
    spread: Floats
    loss: Loss

    @property
    def nearest(self) -> str:
        """The group with the smallest mean distance to the consensus."""
        return self.groups[int(self.to_consensus.argmin())]

    @property
    def sentence(self) -> str:
        """One sentence for Methods."""
        best = int(self.to_consensus.argmin())
        runs, groups = counted(int(self.n_runs.sum()), "run"), counted(len(self.groups), "group")
        few, many = int(self.fewest[best]), int(self.most[best])
        clusters = counted(few, "cluster") if few == many else f"{few} to {many} clusters"
        away = in_unit(f"{self.to_consensus[best]:.3g}", self.loss.unit)
        text = (
            f"Of {groups} of clusterings ({runs}), {printable(self.nearest)} is nearest to the "
            f"consensus of all: its {counted(int(self.n_runs[best]), 'run')}, of {clusters}, are "
            f"{away} from it on average ({self.loss.title})"
        )
        if np.isfinite(self.spread[best]):
            apart = in_unit(f"{self.spread[best]:.3g}", self.loss.unit)
            text += f" and {apart} from each other"
        return f"{text}."

    def table(self) -> Table:
        """One row per group."""
        rows = tuple(
            (
                name + (" (nearest)" if name == self.nearest else ""),
                f"{self.n_runs[g]:,}",
                f"{self.n_clusters[g]:.3g} ({self.fewest[g]}–{self.most[g]})",
                f"{self.to_consensus[g]:.3g}",
                f"{self.spread[g]:.3g}" if np.isfinite(self.spread[g]) else "–",
            )
            for g, name in enumerate(self.groups)
        )
        far = with_unit("To consensus", self.loss.unit)
        apart = with_unit("Between runs", self.loss.unit)
        return Table("Runs by group.", ("Group", "Runs", "Clusters", far, apart), rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per group."""
        names = ("n_runs", "n_clusters", "fewest", "most", "to_consensus", "spread")
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="runs", index=list(self.groups), name="group")

    def __str__(self) -> str:
        return f"{self.table().text()}\n{self.sentence}"

    def __repr__(self) -> str:
        return f"<RunComparison: {self.sentence}>"

    def _page(self) -> Page:
        return Page("Runs by group", tables=[self.table()], notes=[self.sentence])


def compare_runs(
    draws: Draws, groups: Sequence[str], consensus: Labels, loss: Loss, n_jobs: int | None = None
) -> RunComparison:
    """Distances of runs to a consensus and to each other, by group."""
    names = list(dict.fromkeys(groups))
    of_group = [np.flatnonzero([each == name for each in groups]) for name in names]
    away = loss.distances(consensus, draws, n_jobs)
    counts = draws.n_clusters
    spread = np.full(len(names), np.nan)
    for g, rows in enumerate(of_group):
        if rows.size > 1:
            apart = pairwise_distances(draws[rows], loss=loss, n_jobs=n_jobs)
            spread[g] = apart[np.triu_indices(rows.size, 1)].mean()
    return RunComparison(
        tuple(names),
        np.array([rows.size for rows in of_group]),
        np.array([counts[rows].mean() for rows in of_group]),
        np.array([counts[rows].min() for rows in of_group], np.int64),
        np.array([counts[rows].max() for rows in of_group], np.int64),
        np.array([away[rows].mean() for rows in of_group]),
        spread,
        loss,
    )


def groups_of(columns: Sequence[str], pattern: str | None) -> list[str]:
    r"""Groups of runs by the names of their columns.

    A pattern's first group is the name of the run's group; without one, a number at the end
    after an underscore is the seed.

    Examples
    --------
    >>> from partita.representative.runs import groups_of
    >>> groups_of(["leiden_0.2_0", "leiden_0.2_1", "leiden_1.0_0"], None)
    ['leiden_0.2', 'leiden_0.2', 'leiden_1.0']
    >>> groups_of(["leiden_0.2_0", "leiden_1.0_0"], r"leiden_([\d.]+)_")
    ['0.2', '1.0']
    """
    if pattern is None:
        return [re.sub(r"_\d+$", "", column) for column in columns]
    try:
        found = [re.search(pattern, column) for column in columns]
    except re.error as error:
        raise InvalidInputError(
            f"groups={pattern!r} is not a regular expression ({error}).", argument="groups"
        ) from error
    missed = [column for column, hit in zip(columns, found, strict=True) if hit is None]
    if missed:
        raise InvalidInputError(
            f"groups={pattern!r} does not match {missed[0]!r}; expected a regular expression that "
            "matches the name of every run, its first group being the run's group.",
            argument="groups",
        )
    return [hit[(hit.lastindex and 1) or 0] for hit in found if hit is not None]
