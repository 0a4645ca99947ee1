"""Draws and labels that come as files, tables, named arrays or dask arrays.

What kind of object came is told from its type, never from its values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._dask import current_client
from partita.errors import InvalidInputError, InvalidLabelsError, about
from partita.partitions.arrays import plain_array
from partita.partitions.convert import draws_from_array
from partita.partitions.draws import Draws

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
_NAMED = frozenset({"xarray", "arviz", "arviz_base"})


def draws_from(obj: Any, *, var_name: str | None = None, transpose: bool = False) -> Draws:
    """Draws from whatever is no plain array and does not say itself where its draws are."""
    if isinstance(obj, (str, os.PathLike)):
        from partita.io.files import read_draws

        with about("draws", "path", "header", "format"):
            return read_draws(obj, transpose=transpose, var_name=var_name)
    libraries = _libraries(obj)
    if libraries & _FRAMES:
        from partita.io.frames import draws_from_frame

        return draws_from_frame(obj, transpose=transpose, var_name=var_name)
    if libraries & _NAMED:
        from partita.io.named import draws_from_named

        if transpose:
            raise InvalidInputError(
                "transpose=True has no meaning for arrays with named dimensions: chain, "
                "draw and item are found by name.",
                argument="transpose",
            )
        return draws_from_named(obj, var_name=var_name)
    if isinstance(obj, dict):
        raise InvalidLabelsError(
            f"a dict with keys {list(obj)[:5]} was given; expected draws. Pass one of its values."
        )
    if var_name is not None:
        raise InvalidInputError(
            f"var_name={var_name!r} was given for a {type(obj).__name__}, which has no variables.",
            argument="var_name",
        )
    if "dask" in libraries and not transpose and getattr(obj, "ndim", 0) in (2, 3):
        return draws_from_dask(obj)
    return draws_from_array(obj, transpose=transpose)


def label_array(obj: Any, what: str, *, single: bool) -> NDArray[Any]:
    """Labels as one array: a vector, or one partition per row.

    Where a ``single`` partition is expected, a table or file of one column
    holds one label per row, and draws must be one.
    """
    libraries = _libraries(obj)
    if isinstance(obj, (str, os.PathLike)):
        return _from_draws(obj, what, single=single)
    column = len(getattr(obj, "shape", (0, 0))) == 1 or hasattr(obj, "combine_chunks")
    if libraries & (_FRAMES | _NAMED) and (not column or hasattr(obj, "column_names")):
        if single and libraries & _FRAMES and getattr(obj, "shape", ())[1:] == (1,):
            return plain_array(obj, what)[:, 0]
        return _from_draws(obj, what, single=single)
    return plain_array(obj, what)


def _from_draws(obj: Any, what: str, *, single: bool) -> NDArray[Any]:
    draws = draws_from(obj)
    if not single:
        return np.asarray(draws.labels)
    if draws.n_draws > 1 and draws.n_items == 1:
        draws = draws_from(obj, transpose=True)
    if draws.n_draws > 1:
        raise InvalidLabelsError(
            f"{what} are {draws.n_draws:,} draws of {draws.n_items:,} items; expected one "
            "partition: one row, or one column of labels."
        )
    return np.asarray(draws[0])


def _libraries(obj: Any) -> set[str]:
    return {cls.__module__.partition(".")[0] for cls in type(obj).__mro__}


def draws_from_dask(array: Any) -> Draws:
    """Draws from a dask array of known shape: on the workers, where there is a client.

    Without one they come to memory, computed block by block of rows.
    """
    if any(size != size for size in array.shape):
        raise InvalidLabelsError(
            f"the dask array has shape {array.shape}; its chunks must be of known size. Call "
            ".compute_chunk_sizes() first."
        )
    client = current_client()
    if client is None:
        return draws_in_blocks(array, lambda part: part.compute())
    from partita.io.on_workers import draws_on_workers

    if array.ndim == 2:
        return draws_on_workers(array, client)
    ids = np.repeat(np.arange(array.shape[0]), int(array.shape[1]))
    return draws_on_workers(array.reshape(-1, int(array.shape[-1])), client, chain=ids)


def draws_in_blocks(array: Any, load: Callable[[Any], Any]) -> Draws:
    """Draws from an array (draw, item) or (chain, draw, item) that loads a few rows at a time."""
    from partita.io.collect import collect, rows_per_block

    n_draws, n_items = map(int, array.shape[-2:])
    n_chains = 1 if array.ndim == 2 else int(array.shape[0])
    step = rows_per_block(n_items)

    def blocks() -> Iterator[NDArray[Any]]:
        for c in range(n_chains):
            for start in range(0, n_draws, step):
                rows = slice(start, start + step)
                part = array[rows] if array.ndim == 2 else array[c, rows]
                yield plain_array(load(part), "draws")

    chain = None if array.ndim == 2 else np.repeat(np.arange(n_chains), n_draws)
    return collect(blocks(), n_items, expected=n_draws * n_chains, chain=chain)
