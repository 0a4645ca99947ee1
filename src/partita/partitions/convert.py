"""The door for draws: whatever holds them becomes Draws here, once."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import flag, text_or_none
from partita._vocabulary import Kind
from partita.errors import InvalidInputError, InvalidLabelsError, about
from partita.partitions.arrays import plain_array
from partita.partitions.draws import Draws
from partita.partitions.labels import as_label_rows
from partita.partitions.noise import NoiseRule, reading_noise
from partita.partitions.types import DrawsLike, LabelsLike


@about("draws", "labels")
def as_draws(
    obj: DrawsLike,
    *,
    var_name: str | None = None,
    transpose: bool = False,
    noise: NoiseRule | None = None,
    weights: ArrayLike | None = None,
    chain: ArrayLike | None = None,
    item_names: Sequence[str] | None = None,
    kind: Kind | None = None,
) -> Draws:
    """Draws of a partition from whatever holds them.

    Parameters
    ----------
    obj : object
        - ``Draws``: returned as they are; a Fit, Summary or CredibleBall, or anything else with
          ``__draws__``: its draws.
        - NumPy or dask array or nested lists, shape (draw, item) or (chain, draw, item).
        - pandas or polars DataFrame or Arrow table, one row per draw. Columns are named items,
          unless pandas only counts them; ``.chain`` and ``.weight`` are what they say, and in a
          table of variables (a column ``lp__``, or columns such as ``z[1]``) those of one
          indexed variable are taken.
        - xarray DataArray, Dataset or DataTree, ArviZ InferenceData: by the dimension names
          ``chain``, ``draw`` (or ``sample``), the remaining one being the item, in any order.
          A coordinate of the item gives names, unless it only counts.
        - a path: see :func:`read_draws`.
    var_name : str, optional
        The variable that holds the labels, where there are several. When omitted there must be
        exactly one of the right dimensions that is whole in its first draw.
    transpose : bool
        Rows are items and columns draws. For plain arrays, tables and files of these.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, as −1 of DBSCAN and HDBSCAN, and what it means: each
        such item is alone, or they form one cluster. −1 beside non-negative labels is
        refused without it.
    weights, chain, item_names : optional
        Of the draws and items, in place of any that ``obj`` carries; see :class:`Draws`.
    kind : "posterior" or "ensemble", optional
        Whether the rows are draws from a posterior or runs of clustering algorithms; when
        omitted what ``obj`` says, and the posterior where it says nothing. Chains that ``obj``
        has are left out of an ensemble.

    Returns
    -------
    Draws

    Notes
    -----
    Every function of partita that takes draws takes all of these. Labels may be integers,
    whole-valued floats, booleans or strings; what they are called does not matter. Missing,
    masked and fractional labels are refused. What kind of object came is told from its type,
    never from its values: a 0/1 matrix is taken for draws, as any other.

    Cost O(n_draws · n_items), in blocks; about one byte per label is kept.

    Examples
    --------
    >>> import numpy as np
    >>> import partita as pt
    >>> pt.as_draws(np.array([[[2, 2, 7], [2, 7, 7]], [[1, 1, 1], [4, 4, 1]]]))
    <Draws: 4 draws of 3 items, 1 to 2 clusters, 2 chains>
    >>> pt.as_draws([["a", "b", "a"], ["x", "x", "x"]]).labels
    array([[0, 1, 0],
           [0, 0, 0]], dtype=uint8)
    >>> pt.as_draws([[0, 0, -1, -1]], noise=(-1, "singletons")).labels
    array([[0, 0, 1, 2]], dtype=uint8)
    >>> pt.as_draws([[0, 0, 1], [0, 1, 1]], kind="ensemble")
    <Draws: 2 runs of 3 items, 2 clusters each>
    """
    fields: dict[str, Any] = {"weights": weights, "chain": chain, "item_names": item_names}
    fields["kind"] = kind
    flag(transpose, "transpose")
    text_or_none(var_name, "var_name")
    if noise is not None:
        if hasattr(type(obj), "__draws__"):
            raise InvalidInputError(
                f"noise={noise!r} was given for a {type(obj).__name__}, whose labels are "
                "numbered already; give it where the labels are first read.",
                argument="noise",
            )
        with reading_noise(noise):
            return as_draws(obj, var_name=var_name, transpose=transpose, **fields)
    if hasattr(type(obj), "__draws__"):
        return with_fields(obj.__draws__(), **fields)  # type: ignore[union-attr]
    if hasattr(type(obj), "__labels__"):
        raise InvalidLabelsError(
            f"a {type(obj).__name__} was given, which is one partition; expected draws. Pass what "
            "it was made from."
        )
    if not isinstance(obj, (np.ndarray, list, tuple)):
        # Files, tables and named arrays are read one floor up.
        foreign = import_module("partita.io.read")
        found = foreign.draws_from(obj, var_name=var_name, transpose=transpose)
        return with_fields(found, **fields)
    if var_name is not None:
        raise InvalidInputError(
            f"var_name={var_name!r} was given for a {type(obj).__name__}, which has no variables.",
            argument="var_name",
        )
    return draws_from_array(obj, transpose=transpose, **fields)


def as_partitions(obj: LabelsLike, argument: str) -> Draws:
    """Draws from whatever holds draws or a single partition, which becomes one draw."""
    with about(argument, "draws", "labels"):
        if isinstance(obj, (list, tuple)):
            obj = plain_array(obj, argument)
        vector = len(getattr(obj, "shape", (0, 0))) == 1 or hasattr(obj, "combine_chunks")
        only_labels = hasattr(type(obj), "__labels__") and not hasattr(type(obj), "__draws__")
        empty = isinstance(obj, np.ndarray) and 0 in obj.shape
        if only_labels or empty or (vector and not hasattr(obj, "column_names")):
            return Draws(as_label_rows(obj, argument=argument))
        return as_draws(obj)  # type: ignore[arg-type]


def draws_from_array(obj: Any, *, transpose: bool = False, **fields: Any) -> Draws:
    """Draws from (draw, item) or (chain, draw, item) labels; see ``as_draws``."""
    values = plain_array(obj, "draws")
    if values.ndim not in (2, 3):
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (draw, item) or (chain, draw, item). "
            "For a single draw, pass labels[None, :]."
        )
    if transpose:
        values = values.swapaxes(-1, -2)
    if fields.get("kind") is None:
        fields["kind"] = "posterior"
    if values.ndim == 2:
        return Draws(values, **fields)
    if fields.get("chain") is not None:
        raise InvalidInputError(
            f"chain=... was given for labels of shape {values.shape}, whose first axis is the "
            "chain already.",
            argument="chain",
        )
    n_chains, n_draws, n_items = values.shape
    if fields["kind"] != "ensemble":
        fields["chain"] = np.repeat(np.arange(n_chains), n_draws)
    if fields.get("weights") is not None:
        fields["weights"] = np.ravel(fields["weights"])
    if values.flags.c_contiguous or not values.size:
        return Draws(values.reshape(n_chains * n_draws, n_items), **fields)
    # Chain by chain: flattening would copy the labels whole, in their own dtype.
    joined = Draws.concat([Draws(one) for one in values])
    return with_fields(joined, **fields)


def with_fields(draws: Draws, **fields: Any) -> Draws:
    """The same labels with those of weights, chain, item_names and kind replaced that are given."""
    given = {name: value for name, value in fields.items() if value is not None}
    if given.get("kind") == "ensemble":
        given.setdefault("chain", None)
    return draws._with(**given) if given else draws
