"""The door for labels in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from partita.errors import InvalidInputError, InvalidLabelsError
from partita.io.arrays import draws_from_array, with_fields
from partita.partitions.draws import Draws

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
_NAMED = frozenset({"xarray", "arviz", "arviz_base"})


def as_draws(
    obj: Any,
    *,
    var_name: str | None = None,
    transpose: bool = False,
    weights: ArrayLike | None = None,
    chain: ArrayLike | None = None,
    item_names: Sequence[str] | None = None,
) -> Draws:
    """Draws of a partition from whatever holds them.

    Parameters
    ----------
    obj : object
        - ``Draws``: returned as they are.
        - NumPy array or nested lists, shape (draw, item) or (chain, draw, item).
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
    weights, chain, item_names : optional
        Of the draws and items, in place of any that ``obj`` carries; see :class:`Draws`.

    Returns
    -------
    Draws

    Notes
    -----
    Labels may be integers, whole-valued floats, booleans or strings; what they are called does
    not matter. Missing and fractional labels are refused. What kind of object came is told from
    its type, never from its values: a 0/1 matrix is taken for draws, as any other.

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
    """
    fields = {"weights": weights, "chain": chain, "item_names": item_names}
    libraries = {cls.__module__.partition(".")[0] for cls in type(obj).__mro__}
    if isinstance(obj, Draws):
        return with_fields(obj, **fields)
    if isinstance(obj, (str, os.PathLike)):
        from partita.io.files import read_draws

        return with_fields(read_draws(obj, transpose=transpose, var_name=var_name), **fields)
    if libraries & _FRAMES:
        from partita.io.frames import draws_from_frame

        return with_fields(draws_from_frame(obj, transpose=transpose, var_name=var_name), **fields)
    if libraries & _NAMED:
        from partita.io.named import draws_from_named

        if transpose:
            raise InvalidInputError(
                "transpose=True has no meaning for arrays with named dimensions: chain, draw and "
                "item are found by name."
            )
        return with_fields(draws_from_named(obj, var_name=var_name), **fields)
    if isinstance(obj, dict):
        raise InvalidLabelsError(
            f"a dict with keys {list(obj)[:5]} was given; expected draws. Pass one of its values."
        )
    if var_name is not None:
        raise InvalidInputError(
            f"var_name={var_name!r} was given for a {type(obj).__name__}, which has no variables."
        )
    return draws_from_array(obj, transpose=transpose, **fields)
