"""Summaries in AnnData objects, where scanpy users look for them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, Protocol

import numpy as np

from partita._imports import require
from partita._result import fields_of
from partita._validate import Rng
from partita._wording import Kind
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError, InvalidLabelsError, about
from partita.labels import DrawsLike, Labels, NoiseRule, as_labels
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.representative.runs import RunComparison, compare_runs, groups_of
from partita.samplers.fit import Fit
from partita.similarity_matrix import similarity as similarity_of
from partita.summary.result import Summary
from partita.summary.summarize import summarize as summary_of

__all__ = ["attach", "by_run", "summarize"]


def __dir__() -> list[str]:
    return sorted(__all__)


_PATH = ("n_clusters", "breakpoints", "splitting", "merging", "low", "high", "seconds")
_CURVE = (
    *("k", "expected_loss", "excess", "percent", "standard_error", "distance"),
    *("plateau", "sentence", "seconds"),
)


_CORE = (
    *("prob", "size", "probability", "probability_mcse", "probability_low", "n_effective"),
    *("in_sample_probability", "n_starts", "sentence"),
)


def uns_of(summary: Summary) -> dict[str, Any]:
    """Entries for ``uns``: only values that an h5ad file can keep, hence no None."""
    found, ball, checks = summary.estimate, summary.ball, summary.diagnostics
    params = {
        **summary.options,
        "n_draws": summary.draws.n_draws,
        "n_chains": summary.draws.n_chains,
        "kind": summary.draws.kind,
        "partita_version": summary.versions["partita"],
    }
    estimate = fields_of(found, "n_clusters", "expected_loss", "lower_bound", "gap", "method")
    bounds = {
        name: fields_of(bound, "labels", "n_clusters", "distance", "mass")
        for name, bound in ball.bounds.items()
    }
    found_out: dict[str, Any] = {}
    if summary.path is not None:
        found_out["price_path"] = fields_of(summary.path, *_PATH)
        if summary.path.limits:
            found_out["price_path"]["limits"] = np.array(summary.path.limits, object)
    if summary.curve is not None:
        found_out["clusters_curve"] = fields_of(summary.curve, *_CURVE)
    if summary.core is not None:
        found_out["core"] = {
            **fields_of(summary.core, *_CORE),
            "search": "short: partita.credible_core(draws, estimate=labels) may find more items",
        }
    if summary.missing:
        found_out["missing"] = np.array(summary.missing, object)
    if checks.names:
        found_out["diagnostics"] = {
            "rhat": dict(zip(checks.names, checks.rhat.tolist(), strict=True)),
            "warnings": np.array(checks.warnings, object),
        }
    return {
        **found_out,
        "params": _storable(params),
        "estimate": _storable(estimate),
        "ball": {
            "loss": repr(ball.loss),
            **fields_of(ball, "prob", "radius", "coverage"),
            **bounds,
        },
        "sentence": summary.sentence,
        "how_many": summary.how_many,
    }


def categorical(labels: Labels, n_clusters: int) -> Any:
    """Clusters as a column of categories, "0", "1", …; −1 is missing."""
    pandas = require("pandas", extra="anndata", purpose="partita.anndata")
    return pandas.Categorical.from_codes(labels, categories=list(map(str, range(n_clusters))))


def set_entry(entries: Any, name: str, value: Any) -> None:
    """Set an entry; without a value, remove the one of draws that were summarised before."""
    if value is not None:
        entries[name] = value
    elif name in entries:
        del entries[name]


def _storable(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries that an h5ad file can hold: pairs as arrays, None left out."""
    return {
        name: np.array(value) if isinstance(value, tuple) else value
        for name, value in entries.items()
        if value is not None
    }


class Annotated(Protocol):
    """An AnnData."""

    @property
    def obs(self) -> Any:
        """Columns of the cells."""

    @property
    def obsm(self) -> Any:
        """Matrices of the cells."""

    @property
    def obsp(self) -> Any:
        """Square matrices of the cells."""

    @property
    def uns(self) -> Any:
        """Unstructured annotation."""

    @property
    def n_obs(self) -> int:
        """Number of cells."""

    def copy(self) -> Any:
        """Another with the same content."""


def summarize(
    adata: Annotated,
    *,
    draws: DrawsLike,
    key_added: str = "partita",
    loss: str | Loss = "vi",
    prob: float = 0.95,
    noise: NoiseRule | None = None,
    kind: Kind | None = None,
    similarity: bool = False,
    method: str = "auto",
    bound: Literal["auto", "fast", "tight"] | None = "auto",
    max_clusters: int | None = None,
    n_clusters: int | None = None,
    min_size: int = 1,
    path: bool | tuple[float, float] | None = None,
    time_limit: float | None = None,
    rng: Rng | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    copy: bool = False,
) -> Any:
    """Summarise draws of a clustering of the cells and keep the result in the AnnData.

    Parameters
    ----------
    adata : AnnData
        N cells.
    draws : list of str, str, path, Draws, Fit, array_like, table or ArviZ object
        A list of columns of ``adata.obs``, or a pattern for them such as "leiden_*", one
        clustering each; a key of ``adata.obsm`` whose entry has shape (n_obs, n_draws); or
        anything :func:`partita.as_draws` accepts, with one row per draw and one column per cell,
        or the result of :func:`partita.sample`. Where the draws have names of items and some of
        them are names of cells, all must be, and the draws are put into the order of the cells.
    key_added : str, default "partita"
    loss, prob, method, bound, max_clusters, n_clusters, min_size, path
        As in :func:`partita.summarize`.
    time_limit, rng, n_jobs, progress
        As in :func:`partita.summarize`.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, such as −1, and what it means; see :func:`partita.as_draws`.
    kind : "posterior" or "ensemble", optional
        Whether these are draws from a posterior or runs of clustering algorithms, which every
        text then says; see :class:`partita.Draws`. By default columns of ``obs`` are an ensemble,
        for that is where scanpy puts the clusterings of Leiden and others; of all else it is what
        the draws say.
    similarity : bool, default False
        Keep the similarity matrix too: N² numbers of 4 bytes.
    copy : bool, default False
        Leave ``adata`` alone and return a changed copy.

    Returns
    -------
    None, or AnnData when ``copy=True``
        With these fields; those of an earlier call with the same key are replaced:

        ``.obs[key_added]``
            Categorical, the cluster of each cell: "0", "1", … by size, the largest first.
        ``.obs[f"{key_added}_probability"]``
            Probability that the cell lies in the cluster matched to its own.
        ``.obs[f"{key_added}_core"]``
            Categorical, the cells of the core, by cluster, in the numbers of the estimate (a
            cluster without a counterpart in it comes after its own); missing for cells outside.
            With probability at least 0.9, at 95% confidence, these cells are grouped so, all at
            once; of an ensemble, in 90% of its runs. It is ``summary.core``, a short search that
            ``.uns[key_added]["core"]`` describes: :func:`partita.credible_core` searches longer
            and may find more cells. Absent where the draws are too many for a short search.
        ``.obs[f"{key_added}_representative_0"]``, ``_representative_1``, …
            Categorical, where the chains disagree: the clusters of each representative, heaviest
            first; their masses are in ``.uns[key_added]["representatives"]``.
        ``.uns[key_added]``
            "params" (how it was made), "estimate", "ball" with its bounds, "diagnostics" of the
            chains (R-hat by name, and warnings to heed), and "sentence", the one to write. Where
            ``path`` asks for them or they are cheap: "clusters_curve" with its "plateau", and
            "price_path" with its "breakpoints".
        ``.obsm[f"{key_added}_path"]``
            The labels of the price path, one column for each of its partitions.
        ``.obsp[f"{key_added}_similarity"]``
            On request, float32: the probability that two cells share a cluster.

    Notes
    -----
    O(M·N·K) for M draws of N cells in K clusters, as :func:`partita.summarize`.

    Examples
    --------
    >>> import anndata, numpy as np, partita as pt
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(np.zeros((30, 2), np.float32))
    >>> truth = np.repeat([0, 1, 2], 10)
    >>> labels = np.where(rng.random((200, 30)) < 0.1, rng.integers(0, 3, (200, 30)), truth)
    >>> pt.anndata.summarize(adata, draws=labels)
    >>> adata.obs["partita"].cat.categories.tolist()
    ['0', '1', '2']
    >>> adata.uns["partita"]["params"]["loss"]
    'VI()'
    """
    target = adata.copy() if copy else adata
    summary = summary_of(
        _draws_of_cells(target, draws, noise, kind),
        loss=loss,
        prob=prob,
        method=method,
        bound=bound,
        max_clusters=max_clusters,
        n_clusters=n_clusters,
        min_size=min_size,
        path=path,
        time_limit=time_limit,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    attach(target, summary, key_added=key_added, similarity=similarity)
    return target if copy else None


def attach(
    adata: Annotated, summary: Summary, *, key_added: str = "partita", similarity: bool = False
) -> None:
    """Write an existing summary into an AnnData, in the fields of :func:`summarize`.

    Parameters
    ----------
    adata : AnnData
        Its cells are the items of the summary, in the same order.
    summary : Summary
    key_added : str, default "partita"
    similarity : bool, default False

    Examples
    --------
    >>> import anndata, numpy as np, partita as pt
    >>> adata = anndata.AnnData(np.zeros((4, 2), np.float32))
    >>> summary = pt.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.anndata.attach(adata, summary, key_added="clusters")
    >>> adata.obs["clusters"].tolist()
    ['0', '0', '1', '1']
    """
    if summary.draws.n_items != adata.n_obs:
        raise InvalidInputError(
            f"the summary is of {summary.draws.n_items:,} items, the AnnData has "
            f"{adata.n_obs:,} cells; expected one item per cell.",
            argument="summary",
        )
    with about("summary"):
        ordered = _reorder_items(summary.draws, adata)
    if ordered is not summary.draws:
        raise InvalidInputError(
            "the items of the summary are the cells of the AnnData in another order; give draws "
            "with names to partita.anndata.summarize, which orders them, or reorder the cells.",
            argument="summary",
        )
    adata.obs[key_added] = categorical(summary.labels, summary.n_clusters)
    adata.obs[f"{key_added}_probability"] = summary.items.probability
    core, cells = summary.core, None
    if core is not None:  # missing outside of it, in the numbers of the estimate
        cells = categorical(core.labels, max(summary.n_clusters, core.clusters[-1] + 1))
    set_entry(adata.obs, f"{key_added}_core", cells)
    adata.uns[key_added] = uns_of(summary)
    path = None if summary.path is None else np.array(summary.path.labels.T)
    set_entry(adata.obsm, f"{key_added}_path", path)
    mine = re.compile(rf"{re.escape(key_added)}_(rival|representative)_\d+")
    for column in [c for c in adata.obs if mine.fullmatch(str(c))]:
        set_entry(adata.obs, column, None)
    if (several := summary.representatives) is not None:
        for number, labels in enumerate(several.labels):
            name = f"{key_added}_representative_{number}"
            adata.obs[name] = categorical(labels, int(labels.max()) + 1)
        masses = fields_of(several, "weights", "distance", "chains")
        adata.uns[key_added]["representatives"] = masses
    matrix = similarity_of(summary.draws, dtype=np.float32) if similarity else None
    set_entry(adata.obsp, f"{key_added}_similarity", matrix)


def by_run(
    adata: Annotated,
    *,
    draws: str | Sequence[str] = "leiden_*",
    groups: str | Sequence[object] | None = None,
    key: str = "partita",
    loss: str | Loss = "vi",
    n_jobs: int | None = None,
) -> RunComparison:
    r"""Which resolution? Compare runs, resolution by resolution, with the consensus of all.

    For each group of runs, such as the seeds of one resolution: the mean distance to the
    consensus, the mean distance between two of its runs, and numbers of clusters.

    Parameters
    ----------
    adata : AnnData
        After :func:`summarize`, whose clusters in ``adata.obs[key]`` are the consensus.
    draws : list of str or str
        Columns of ``adata.obs``, or a pattern for them; or a key of ``adata.obsm``. By default
        every column whose name begins with ``leiden_``.
    groups : str or sequence, optional
        A regular expression whose first group names a run's group, such as
        ``r"leiden_([\d.]+)_"``, or one name per run. By default the name of the column without a
        number at its end: ``leiden_0.4_7`` is seed 7 of ``leiden_0.4``.
    key : str, default "partita"
        ``key_added`` of :func:`summarize`.
    loss : str or Loss, default "vi"
        What measures distances.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    results.RunComparison
        With ``sentence`` for Methods; :func:`partita.plots.by_run` draws it. The same is kept as
        ``adata.uns[key]["by_run"]``: "table" (a DataFrame), "nearest" and "sentence".

    Notes
    -----
    Nearest to the consensus is a statement about the runs that were made: with other resolutions
    among them the consensus is another one. O(m²·N) for m runs in a group.

    Examples
    --------
    >>> import anndata, numpy as np, partita as pt
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(np.zeros((30, 2), np.float32))
    >>> for name, k in (("coarse", 2), ("right", 3), ("fine", 5)):
    ...     for seed in range(4):
    ...         noisy = np.arange(30) + rng.normal(0, 1.0, 30)
    ...         adata.obs[f"runs_{name}_{seed}"] = np.clip(noisy * k // 30, 0, k - 1).astype(int)
    >>> pt.anndata.summarize(adata, draws="runs_*")
    >>> pt.anndata.by_run(adata, draws="runs_*", groups=r"runs_(.*)_").nearest
    'right'
    """
    if key not in adata.obs or key not in adata.uns:
        raise InvalidInputError(
            f"adata.obs has no consensus {key!r}; call partita.anndata.summarize(adata, "
            f"draws=…, key_added={key!r}) first.",
            argument="key",
        )
    clean = as_draws(_draws_of_cells(adata, draws, None, None))
    columns = _columns_of(adata, draws)
    if groups is None or isinstance(groups, str):
        if len(columns) != clean.n_draws:
            raise InvalidInputError(
                "these runs have no names; give groups=, one name per run.", argument="groups"
            )
        named = groups_of(columns, groups)
    else:
        named = [str(each) for each in groups]
    if len(named) != clean.n_draws:
        raise InvalidInputError(
            f"groups has {len(named):,} entries, but there are {clean.n_draws:,} runs; expected "
            "one for each.",
            argument="groups",
        )
    consensus = as_labels(adata.obs[key].cat.codes.to_numpy())
    found = compare_runs(clean, named, consensus, as_loss(loss), n_jobs)
    adata.uns[key]["by_run"] = {
        "table": found.to_frame(),
        "nearest": found.nearest,
        "sentence": found.sentence,
    }
    return found


@about("draws")
def _draws_of_cells(adata: Any, given: Any, noise: NoiseRule | None, kind: Kind | None) -> Any:
    """Draws of as many items as there are cells, in their order; sampler output as it is."""
    if isinstance(given, str) and given in adata.obsm:
        entry = adata.obsm[given]  # columns of an array of draws are not worth names
        values = np.asarray(entry.toarray() if hasattr(entry, "toarray") else entry)
        return as_draws(values, transpose=True, noise=noise, kind=kind)
    columns = _columns_of(adata, given)
    if columns:
        labels = np.array([_codes(adata.obs[name]) for name in columns])
        return as_draws(labels, noise=noise, kind=kind or "ensemble")
    if isinstance(given, str) and not os.path.exists(given):
        keys = ", ".join(repr(key) for key in adata.obsm) or "none"
        begin = [name for name in adata.obs if str(name).startswith(given)]
        hint = f" For the {len(begin):,} columns that begin so: draws={given + '*'!r}."
        raise InvalidInputError(
            f"draws={given!r} is neither a key of adata.obsm ({keys}), nor a pattern for columns "
            f"of adata.obs, nor a file.{hint if begin else ''}"
        )
    clean = as_draws(given, noise=noise, kind=kind)
    if clean.n_items != adata.n_obs:
        turned = " The array has one row per cell: pass its transpose." * (
            clean.n_draws == adata.n_obs
        )
        raise InvalidLabelsError(
            f"the draws are of {clean.n_items:,} items, the AnnData has {adata.n_obs:,} cells; "
            f"expected one column per cell.{turned}"
        )
    ordered = _reorder_items(clean, adata)
    return given if isinstance(given, Fit) and kind != "ensemble" else ordered


def _columns_of(adata: Any, given: Any) -> list[str]:
    """Columns of obs that are meant, in the order given or of the table; empty for other draws."""
    if isinstance(given, str):
        return [str(name) for name in adata.obs if fnmatchcase(str(name), given)]
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        return []
    unknown = [name for name in given if name not in adata.obs]
    if unknown:
        raise InvalidInputError(
            f"draws names columns of adata.obs that are not there: {', '.join(unknown[:5])}. "
            f"There are {', '.join(map(str, adata.obs.columns[:10])) or 'none'}."
        )
    return list(given)


def _codes(column: Any) -> Any:
    """Labels of one column: numbers as they are, so that noise keeps its mark; text by code."""
    if column.isna().any():
        raise InvalidLabelsError(
            f"column {column.name!r} of adata.obs has {int(column.isna().sum()):,} missing labels; "
            "expected one per cell. Leave those cells out, or give them a label."
        )
    pandas = require("pandas", extra="anndata", purpose="partita.anndata")
    numbers = pandas.to_numeric(column.astype(str), errors="coerce")
    if numbers.isna().any() or (numbers % 1 != 0).any():
        return pandas.factorize(column)[0]
    return numbers.to_numpy(np.int64)


def _reorder_items(draws: Draws, adata: Any) -> Draws:
    """The draws with their items in the order of the cells."""
    cells = [str(name) for name in adata.obs_names]
    if draws.item_names is None or list(draws.item_names) == cells:
        return draws
    unknown = sorted(set(draws.item_names) - set(cells))
    if len(unknown) == len(cells):  # the sampler's own names, such as columns V1, V2, …
        return draws
    if unknown:
        raise InvalidLabelsError(
            f"{len(unknown):,} of {len(cells):,} items of the draws, such as {unknown[0]!r}, are "
            "not cells of the AnnData, while the others are. Give draws of the same cells."
        )
    return draws.select_items(cells)
