"""Summaries in ArviZ objects of both generations: InferenceData and DataTree.

Imports ``summary`` and what is below it; xarray comes with the user's ArviZ. To read draws from
an ArviZ object see :func:`partita.as_draws`, to write a fit as one :meth:`partita.Fit.to_arviz`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from partita._imports import require
from partita.errors import InvalidInputError, NotSupportedError
from partita.labels import Tree
from partita.summary.result import Summary

__all__ = ["attach", "to_dataset"]


def __dir__() -> list[str]:
    return sorted(__all__)


def attach(
    data: Tree,
    summary: Summary,
    *,
    group: str = "partita",
    item_dim: str | None = None,
    overwrite: bool = False,
) -> Any:
    """Add a summary to an ArviZ object as a group of its own.

    Parameters
    ----------
    data : DataTree or InferenceData
        Changed in place, as ArviZ's own ``add_groups`` and PyMC's ``compute_…`` functions do.
    summary : Summary
    group : str, default "partita"
        Name of the group.
    item_dim : str, optional
        Name of the dimension of the items. By default that of the model: the only dimension of
        the posterior, beside chain and draw, that is as long as there are items (of whole
        numbers, where several are); "item" where none or several are. Variables of the posterior
        and labels then align.
    overwrite : bool, default False
        Replace a group of that name.

    Returns
    -------
    DataTree or InferenceData
        ``data`` itself, with the group that :func:`to_dataset` describes.

    Examples
    --------
    >>> import partita as pt
    >>> fit = pt.sample(pt.datasets.galaxies(), draws=200, burn_in=100, chains=2, rng=0)
    >>> tree = pt.arviz.attach(fit.to_arviz(), pt.summarize(fit))
    >>> tree["partita"]["labels"].dims
    ('item',)
    """
    kinds = {cls.__name__ for cls in type(data).__mro__}
    if not kinds & {"DataTree", "InferenceData"}:
        raise NotSupportedError(
            f"a summary cannot be attached to a {type(data).__name__}; expected a DataTree or an "
            "InferenceData. For a plain Dataset see partita.arviz.to_dataset(summary).",
            argument="data",
        )
    target: Any = data  # a tree or InferenceData, told by name: neither library need be there
    is_tree = "DataTree" in kinds
    groups = list(target.children) if is_tree else list(target.groups())
    if group in groups and not overwrite:
        raise InvalidInputError(
            f"there is a group {group!r} already; choose another with group=..., or replace it "
            f"with overwrite=True.",
            argument="group",
        )
    dim, coordinate = _item_dim(data, groups, summary, item_dim)
    dataset = to_dataset(summary, item_dim=dim)
    if coordinate is not None:
        dataset = dataset.assign_coords({dim: coordinate})
    if is_tree:
        target[group] = require("xarray", extra="arviz").DataTree(dataset)
        return target
    if group in groups:
        delattr(target, group)
    target.add_groups({group: dataset})
    return target


def _item_dim(data: Any, groups: list[str], summary: Summary, given: str | None) -> tuple[str, Any]:
    """The model's own dimension of the items, and its coordinate where it has one."""
    if "posterior" not in groups:
        return given or "item", None
    posterior = data["posterior"]
    sizes = {
        str(dim): array.dtype.kind in "iub"
        for array in posterior.data_vars.values()
        for dim, size in zip(array.dims, array.shape, strict=True)
        if dim not in ("chain", "draw", "sample") and size == summary.draws.n_items
    }
    whole = [dim for dim, is_whole in sizes.items() if is_whole]
    found = given or next((names[0] for names in (whole, list(sizes)) if len(names) == 1), "item")
    coordinate = posterior.coords[found].values if found in posterior.coords else None
    if coordinate is not None and coordinate.size != summary.draws.n_items:
        coordinate = None
    return found, coordinate


def to_dataset(summary: Summary, *, item_dim: str = "item") -> Any:
    """A summary as an xarray ``Dataset``, of values that netCDF and zarr keep.

    Parameters
    ----------
    summary : Summary
    item_dim : str, default "item"
        Name of the dimension of the items.

    Returns
    -------
    xarray.Dataset
        ``labels``, ``probability`` (by matched clusters) and ``share`` (of the expected VI) over
        the items, ``placement`` over items and clusters; ``cluster_size``, ``cluster_similarity``
        and ``cluster_unchanged`` over the clusters; ``n_clusters_probability`` over the numbers
        of clusters that occur; ``upper``, ``lower`` and ``horizontal``, the bounds of the ball,
        over their tied partitions and the items, and their masses in ``upper_mass`` and so on.
        Attributes are the kind of the draws, the loss, its expectation, proven lower bound and
        gap, the ball's metric, prob, radius and coverage, the sentence to write, and the warnings
        about the chains.

    Examples
    --------
    >>> import partita as pt
    >>> summary = pt.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> pt.arviz.to_dataset(summary)["labels"].values
    array([0, 0, 1, 1], dtype=int32)
    """
    xarray = require("xarray", extra="arviz", purpose="partita.arviz")
    items, clusters = summary.items, summary.clusters
    names = summary.draws.item_names
    coords: dict[str, Any] = {
        item_dim: np.arange(summary.draws.n_items) if names is None else np.array(names, object),
        "cluster": np.arange(summary.n_clusters),
        "n_clusters": summary.counts.values,
    }
    variables: dict[str, Any] = {
        "labels": (item_dim, items.labels),
        "probability": (item_dim, items.probability),
        "share": (item_dim, items.share),
        "placement": ((item_dim, "cluster"), items.placement[:, :-1]),
        "cluster_size": ("cluster", clusters.size),
        "cluster_similarity": ("cluster", clusters.within),
        "cluster_unchanged": ("cluster", clusters.unchanged),
        "n_clusters_probability": ("n_clusters", summary.counts.probabilities),
    }
    for name, bound in summary.ball.bounds.items():
        partition = f"{name}_partition"
        variables[name] = ((partition, item_dim), bound.labels)
        variables[f"{name}_mass"] = (partition, bound.mass)
        coords[partition] = np.arange(len(bound))
    return xarray.Dataset(variables, coords, attrs=_attributes(summary))


def _attributes(summary: Summary) -> dict[str, Any]:
    """Strings and numbers; what is None, such as a bound no loss has, is left out."""
    found, ball = summary.estimate, summary.ball
    entries = {
        "loss": repr(found.loss),
        "expected_loss": found.expected_loss,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "ball_loss": repr(ball.loss),
        "ball_prob": ball.prob,
        "ball_radius": ball.radius,
        "ball_coverage": ball.coverage,
        "n_draws": summary.draws.n_draws,
        "kind": summary.draws.kind,
        "sentence": summary.sentence,
        "warnings": " ".join(summary.diagnostics.warnings) or "none",
        "created_at": datetime.now(UTC).isoformat(),
        "creation_library": "partita",
        "creation_library_version": summary.versions["partita"],
        "creation_library_language": "Python",
    }
    return {name: value for name, value in entries.items() if value is not None}
