"""The summary of a posterior of clusterings."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from partita._files import PathLike, write_text
from partita._imports import version_of
from partita._result import Renamed, Result, Table, fields_of, json_text
from partita._validate import boolean, choice
from partita._wording import counted, words
from partita.credible.ball import CredibleBall
from partita.credible.profiles import Profiles
from partita.credible.uncertainty import (
    ClusterCounts,
    ClusterSizes,
    ClusterUncertainty,
    ItemUncertainty,
)
from partita.diagnostics.agreement import ChainEstimates, estimates_by_chain
from partita.diagnostics.diagnose import Diagnostics
from partita.draws import Draws
from partita.errors import FileFormatError, InvalidInputError
from partita.labels import Labels, data_frame
from partita.losses.base import Loss
from partita.posterior import Posterior
from partita.search.clusters_curve import ClustersCurve
from partita.search.result import PointEstimate
from partita.search.settings import MANY_ITEMS
from partita.summary import tables, text
from partita.summary.tables import table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from partita.credible.core import CredibleCore
    from partita.representative.representatives import Representatives
    from partita.samplers.fit import Fit
    from partita.samplers.sensitivity import PriorSensitivity
    from partita.search.price_path import PricePath


@dataclass(frozen=True, eq=False, repr=False)
class LossComparison(Result):
    """The VI and Binder estimates side by side, as in the paper's tables.

    Attributes
    ----------
    names : tuple of str
        One per estimate: "VI", "Binder", and the loss of the summary when it
        is neither.
    n_clusters : ndarray of int64, shape (n_names,)
    expected_binder, expected_vi_lb, expected_vi : ndarray of float, shape (n_names,)
        Posterior expected losses of each estimate.
    vi_distance, binder_distance : float
        Distances between the VI estimate and the Binder estimate.
    """

    names: tuple[str, ...]
    n_clusters: NDArray[np.int64]
    expected_binder: NDArray[np.float64]
    expected_vi_lb: NDArray[np.float64]
    expected_vi: NDArray[np.float64]
    vi_distance: float
    binder_distance: float

    def to_frame(self) -> pd.DataFrame:
        """One row per estimate."""
        names = ("n_clusters", "expected_binder", "expected_vi_lb", "expected_vi")
        columns = fields_of(self, *names)
        return data_frame(columns, of="estimates", index=list(self.names), name="estimate")


CHEAP_CELLS = 30_000_000
"""Draws × items × (clusters of the estimate + 4), at most, for what is made without request: a
short curve over numbers of clusters, the estimates of the chains."""


def recorded(loss: Loss, prob: float, search_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a summary, without values that cannot be stored."""
    rng = search_options["rng"]
    kept = repr(rng) if isinstance(rng, (np.random.Generator, np.random.SeedSequence)) else rng
    chosen = {name: value for name, value in search_options.items() if name != "progress"}
    return {"loss": repr(loss), "prob": prob, **chosen, "rng": kept}


def versions_used() -> dict[str, str]:
    """Versions of Python, partita and the libraries it computes with."""
    libraries = ("partita", "numpy", "scipy", "numba")
    return {"python": platform.python_version(), **{name: version_of(name) for name in libraries}}


class AnySummary(Result):
    """Base class of summaries of partitions and of feature allocations."""

    draws: Any
    estimate: Any
    ball: Any
    counts: Any
    diagnostics: Diagnostics
    representatives: Any
    versions: Mapping[str, str]
    missing: tuple[str, ...]

    _tables: ClassVar[Mapping[str, Callable[..., Table | None]]]
    """What makes each table, in the order in which they are shown."""
    _called: ClassVar[str]
    """What a draw is called in sentences."""
    _decimals: ClassVar[int]
    """Of a distance."""

    @property
    def sentence(self) -> str:
        """The sentence to write about the credible ball."""
        return text.sentences(self, [self.ball])[0]

    def _statements(self, first: int = 0) -> list[tuple[str, str]]:
        """The statements in brief, each with its heading."""
        raise NotImplementedError

    def _frames(self) -> dict[str, Any]:
        """Return the parts with a data frame, by name; None for parts not computed."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text.screen(self)

    def _in_full(self) -> dict[str, str]:
        """Statements that :meth:`details` has in full, or beside the others."""
        return {}

    def details(self) -> str:
        """Everything in words and tables, to print.

        ``print(summary)`` is the short form. Each table is in :meth:`tables`, and with all its
        rows and digits in :meth:`to_frame`.
        """
        return text.joined(text.details_lines(self, self._in_full()))

    def tables(self) -> dict[str, Table]:
        """The tables that details, notebook, LaTeX and report show, as text by name."""
        found = {name: table(self, name) for name in self._tables}
        return {name: shown for name, shown in found.items() if shown is not None}

    def to_frame(self, table: str = "items", *, one_based: bool = False) -> pd.DataFrame:
        """One of the tables as a pandas DataFrame.

        Parameters
        ----------
        table : str, default "items"
            "items", "bounds", "diagnostics" or "path"; of partitions also "clusters", "profiles",
            "n_clusters", "sizes", "comparison", "curve" and "sensitivity", of feature allocations
            "features" and "n_features".
        one_based : bool, default False
            Count clusters or features, and items without names, from 1, as R does, in the tables
            that have them: "items", "clusters", "features" and "profiles".
        """
        tables = self._frames()
        table = choice(table, "table", tables)
        if tables[table] is None:
            why = "it; ask for it: summarize(draws, path=True), under a loss that has one"
            if table == "profiles":
                why = "data; give them: summarize(draws, data=...)"
            if table == "sensitivity":
                why = "it; ask for it: summarize(fit, sensitivity=True)"
            raise InvalidInputError(
                f"this summary has no {table}: it was made without {why}.", argument="table"
            )
        numbered = table in ("items", "clusters", "features", "profiles")
        numbering = {"one_based": boolean(one_based, "one_based")} if numbered else {}
        frame: pd.DataFrame = tables[table].to_frame(**numbering)
        return frame

    @property
    def loss(self) -> Loss:
        """The loss the estimate minimises."""
        found: Loss = self.estimate.loss
        return found

    @property
    def prob(self) -> float:
        """Probability of the credible ball."""
        found: float = self.ball.prob
        return found

    def __repr__(self) -> str:
        said, part = words(self.draws.kind), self.draws.part_name
        number = counted(getattr(self.estimate, f"n_{part}s"), part)
        return (
            f"<{type(self).__name__}: {counted(self.draws.n_draws, said.draw)} of "
            f"{counted(self.draws.n_items, 'item')}, estimate of {number} ({self.loss!r}), "
            f"{self.prob:g} {said.ball} of radius {self.ball.radius:.4g}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the draws and the data, as plain lists, numbers and strings."""
        raise NotImplementedError

    def to_json(self, path: PathLike | None = None, *, overwrite: bool = False) -> str:
        """:meth:`to_dict` as JSON text, written to ``path`` when one is given."""
        text = json_text(self.to_dict())
        if path is not None:
            write_text(path, text + "\n", overwrite=overwrite)
        return text

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write everything, draws and data included, to one file; see :meth:`load`.

        The file is a NumPy archive of plain arrays and one JSON document; no
        pickle is involved, and every number comes back bit by bit.
        """
        from partita.summary.summarize import save_summary

        save_summary(self, path, overwrite=overwrite)

    def to_html(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write a report as one HTML file that needs no network; needs the extra ``report``."""
        # Imported by name and only when called, so that nothing here loads a report.
        import_module("partita.report").write_report(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """The summary written by :meth:`save`."""
        from partita.summary.summarize import load_summary

        found = load_summary(path)
        if not isinstance(found, cls):
            raise FileFormatError(f"{path} holds a {type(found).__name__}, not a {cls.__name__}.")
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Summary(AnySummary):
    """Point estimate, credible ball, uncertainty and diagnostics. Made by :func:`summarize`.

    ``print(summary)`` is what to read first, with the sentence for the paper;
    ``print(summary.details())`` has the tables.

    Attributes
    ----------
    draws : Draws
        The draws, kept by reference.
    data : ndarray of float, shape (n_items, n_columns), or None
        The observations, when given.
    data_names : tuple of str, or None
        Names of the columns of the data.
    data_categories : tuple of int
        Which of the columns are categories, their numbers being codes.
    estimate : PointEstimate
        The estimate under the loss of the summary.
    vi_estimate, binder_estimate : PointEstimate
        The estimates under VI and Binder's loss; one of them may be ``estimate``.
    comparison : LossComparison
        Their numbers of clusters and expected losses.
    ball : CredibleBall
        Around the estimate, under its loss, or under VI when that is not a metric.
    items : ItemUncertainty
    clusters : ClusterUncertainty
    counts : ClusterCounts
        Posterior of the number of clusters.
    sizes_posterior : ClusterSizes
        Posterior of the sorted cluster sizes.
    sizes : ndarray of int64, shape (n_clusters,)
        Sizes of the clusters of the estimate.
    diagnostics : Diagnostics
    profiles : Profiles or None
        What each cluster is like, column by column, when there are data.
    representatives : Representatives or None
        Several answers with their chains and masses, where the chains disagree.
    path : PricePath or None
        Every partition that is optimal at some price of splitting, where it was
        asked for or is cheap.
    curve : ClustersCurve or None
        The best partition for numbers of clusters around the estimate's, where
        it was asked for or is cheap; see ``path`` of :func:`summarize`.
    sensitivity : PriorSensitivity or None
        What other priors would say, of a fit, where it was asked for or is cheap.
    missing : tuple of str
        What the time limit or Ctrl-C left out. The uncertainty of items and clusters and the
        estimates for comparison are then made when they are asked for; the others are None.
    options : mapping
        How it was made: the arguments of :func:`summarize`.
    versions : mapping
        Versions of partita and of the libraries it computes with.
    seconds : float
        Time taken.

    Examples
    --------
    >>> import partita as pt
    >>> summary = pt.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 10)
    >>> summary
    <Summary: 30 draws of 4 items, estimate of 2 clusters (VI()), ...>
    >>> summary.to_frame("clusters")["size"].tolist()
    [2, 2]
    """

    draws: Draws
    data: NDArray[np.float64] | None
    data_names: tuple[str, ...] | None
    estimate: PointEstimate
    vi_estimate: PointEstimate
    binder_estimate: PointEstimate
    comparison: LossComparison
    ball: CredibleBall
    items: ItemUncertainty
    clusters: ClusterUncertainty
    counts: ClusterCounts
    sizes_posterior: ClusterSizes
    diagnostics: Diagnostics
    profiles: Profiles | None
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float
    representatives: Representatives | None = None
    path: PricePath | None = None
    curve: ClustersCurve | None = None
    sensitivity: PriorSensitivity | None = None
    data_categories: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()

    _tables: ClassVar[Mapping[str, Callable[..., Table | None]]] = tables.TABLES
    _called: ClassVar[str] = "clustering"
    _decimals: ClassVar[int] = 2

    rivals = Renamed("representatives")

    def __getattr__(self, name: str) -> Any:
        """A part that there was no time for, made when it is asked for."""
        part = next((part for part, names in text.DEFERRED.items() if name in names), None)
        if part is None or part not in self.__dict__.get("missing", ()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        from partita.summary.summarize import compute_missing

        found = compute_missing(self, part)
        left = tuple(each for each in self.missing if each != part)
        self.__dict__.update(found, missing=left)
        return found[name]

    def __draws__(self) -> Draws:
        return self.draws

    def __labels__(self) -> Labels:
        return self.estimate.labels

    @cached_property
    def _posterior(self) -> Posterior:
        """The draws with what was computed from them, shared with figures and reports."""
        return Posterior(self.draws)

    def __getstate__(self) -> dict[str, Any]:
        return {name: v for name, v in super().__getstate__().items() if name != "_posterior"}

    @property
    def labels(self) -> Labels:
        """Labels of the estimate, shape (n_items,)."""
        return self.estimate.labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return self.estimate.n_clusters

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Sizes of the clusters of the estimate, the largest first."""
        return np.bincount(self.labels)

    @cached_property
    def core(self) -> CredibleCore | None:
        """Items whose grouping holds with probability 0.9, from a short search on first use.

        Its clusters have the numbers of the estimate. None where the draws are too many for
        that, or the summary was cut short. :func:`partita.credible_core` searches longer and
        takes any probability.
        """
        from partita.credible.core import quick_core

        return None if self.missing else quick_core(self._posterior, estimate=self.labels)

    @cached_property
    def chain_estimates(self) -> ChainEstimates | None:
        """The estimate of each chain alone, and how far apart they are; computed on first use.

        None for a single chain or an ensemble, where the summary was cut short, and where searches
        take long: draws × items × (clusters + 4) above 30 million, and at most 50,000 items.
        :func:`partita.chain_estimates` makes it for any draws.
        """
        draws = self.draws
        few = self.missing or draws.chain is None or draws.n_chains < 2 or draws.kind == "ensemble"
        cells = draws.n_draws * draws.n_items * (self.n_clusters + 4)
        if few or (cells > CHEAP_CELLS and draws.n_items <= MANY_ITEMS):
            return None
        return estimates_by_chain(draws, self.labels, self.loss, None, None)

    @property
    def how_many(self) -> str:
        """The statement on the number of clusters: in the draws, and what other numbers cost."""
        return text.how_many(self)

    def _statements(self, first: int = 0) -> list[tuple[str, str]]:
        return text.statements_on_partitions(self, first)

    def _in_full(self) -> dict[str, str]:
        return text.details_of_partitions(self)

    def _repr_html_(self) -> str:
        # Imported by name when called, which keeps the layers acyclic.
        picture = import_module("partita.plots._similarity").thumbnail
        n_labels = self.draws.n_draws * self.draws.n_items
        return text.card(self, picture(self._posterior, self.labels, n_labels))

    def _frames(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "clusters": self.clusters,
            "profiles": self.profiles,
            "bounds": self.ball,
            "n_clusters": self.counts,
            "sizes": self.sizes_posterior,
            "diagnostics": self.diagnostics,
            "comparison": self.comparison,
            "path": self.path,
            "curve": self.curve,
            "sensitivity": self.sensitivity,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the draws and the data, as plain lists, numbers and strings.

        Values that are not finite become None, as JSON has no word for them; so does the table of
        ``items`` when it has more than five million cells.
        """
        return tables.plain_summary(self)

    def to_latex(self) -> str:
        """Estimate, ball and clusters as a LaTeX table, which needs the package ``booktabs``."""
        return tables.latex(self, tables.clusters(self))

    @property
    def methods(self) -> str:
        """A paragraph for the methods section, with versions and references."""
        return tables.methods(self)

    def plot(
        self, *, fit: Fit | None = None, axes: Sequence[Axes] | NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Draw the page of four panels; see :func:`partita.plots.overview`."""
        # Imported by name when called, which keeps the layers acyclic.
        panels: NDArray[Any] = import_module("partita.plots").overview(self, fit=fit, axes=axes)
        return panels
