"""R's .rds and .RData files: matrices, data frames, and lists of them as chains."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita.errors import FileFormatError, InvalidInputError, InvalidLabelsError
from partita.io.columns import CHAIN, WEIGHT, choose_columns, placeholder_names
from partita.io.frames import draws_from_frame
from partita.io.options import ReadOptions
from partita.partitions.convert import draws_from_array, with_fields
from partita.partitions.draws import Draws

_OBJECT = "draws"
"""Name of the object in the .RData files written."""


def read_rds(path: Path, options: ReadOptions) -> Draws:
    """Draws from the object of an .rds file."""
    return _draws(_load(path, "read_rds"), options, str(path))


def read_rdata(path: Path, options: ReadOptions) -> Draws:
    """Draws from an object of an .RData file, chosen by ``var_name`` if there are several."""
    return _draws(_load(path, "read_rda"), options, str(path))


def write_rds(draws: Draws, path: Path) -> None:
    """Write an integer matrix, or a data frame where there are weights or chains."""
    rdata = require("rdata", extra="r", purpose="writing .rds files")
    rdata.write_rds(path, _for_r(draws), constructor_dict=_constructors())


def write_rdata(draws: Draws, path: Path) -> None:
    """The same as the object ``draws`` of an .RData file."""
    rdata = require("rdata", extra="r", purpose="writing .RData files")
    rdata.write_rda(path, {_OBJECT: _for_r(draws)}, constructor_dict=_constructors())


def _load(path: Path, function: str) -> Any:
    rdata = require("rdata", extra="r", purpose=f"reading {path.suffix} files")
    try:
        with warnings.catch_warnings():
            # R classes unknown to rdata (mcmc, draws_matrix, …) arrive as what they are built on.
            warnings.simplefilter("ignore")
            return getattr(rdata, function)(path)
    except Exception as error:  # rdata raises many kinds for a file that is not whole
        raise FileFormatError(
            f"{path} is damaged, cut short or not written by R's "
            f"{'saveRDS' if function == 'read_rds' else 'save'} ({type(error).__name__}: {error}). "
            "Copy or write it again, or name its true format with format=...."
        ) from error


def _draws(value: Any, options: ReadOptions, name: str) -> Draws:
    if isinstance(value, Mapping):
        return _from_mapping(value, options, name)
    if isinstance(value, list):  # coda's mcmc.list: one matrix per chain
        if value and all(_is_matrix(part) for part in value):
            return Draws.concat([_draws(part, options, name) for part in value])
        raise InvalidLabelsError(
            f"{name} holds a list that is not made of matrices; expected a matrix with one row "
            "per draw."
        )
    if type(value).__module__.startswith("pandas"):
        return draws_from_frame(value, transpose=options.transpose, var_name=options.var_name)
    if type(value).__name__ == "DataArray":
        return _from_named_matrix(value, options)
    if options.var_name is not None:
        raise InvalidInputError(
            f"var_name={options.var_name!r} was given, but {name} holds a single array whose "
            "columns have no names."
        )
    values = np.ma.asanyarray(value)
    if values.ndim != 2:
        raise InvalidLabelsError(
            f"{name} holds an array of shape {values.shape}; expected a matrix with one row per "
            "draw and one column per item."
        )
    return draws_from_array(values, transpose=options.transpose)


def _from_mapping(objects: Mapping[str, Any], options: ReadOptions, name: str) -> Draws:
    inner = options
    matrices = {str(key): value for key, value in objects.items() if _is_matrix(value)}
    if options.var_name in matrices:
        chosen = matrices[str(options.var_name)]
        inner = ReadOptions(transpose=options.transpose)
    elif len(matrices) == 1:
        (chosen,) = matrices.values()
    else:
        listed = ", ".join(map(str, objects)) or "none"
        raise InvalidInputError(
            f"{name} holds {len(matrices)} matrices, so the draws must be named with "
            f"var_name=.... Its objects are: {listed}; "
            f"its matrices: {', '.join(matrices) or 'none'}."
        )
    return _draws(chosen, inner, name)


def _is_matrix(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_matrix(part) for part in value)
    return len(getattr(value, "shape", ())) == 2


def _from_named_matrix(array: Any, options: ReadOptions) -> Draws:
    """A matrix with names of rows or columns or both, which rdata gives as a DataArray."""
    if array.ndim != 2:
        from partita.io.named import draws_from_named

        return draws_from_named(array, var_name=options.var_name)
    values = array.values
    if options.transpose:
        values, array = values.T, array.T
    dim = array.dims[1]
    names = [str(v) for v in array.coords[dim].values] if dim in array.coords else None
    if names is None:
        return draws_from_array(values)
    columns = choose_columns(
        names,
        var_name=options.var_name,
        is_whole=lambda i: bool(len(values)) and float(values[0, i]).is_integer(),
    )
    draws = draws_from_array(values[:, columns.items])
    return with_fields(
        draws,
        item_names=columns.names,
        chain=None if columns.chain is None else values[:, columns.chain].astype(np.int64),
        weights=None if columns.weight is None else values[:, columns.weight],
    )


@dataclass(frozen=True)
class _NamedMatrix:
    """A matrix with column names, which rdata has no Python type for."""

    values: NDArray[np.int32]
    names: tuple[str, ...]


def _for_r(draws: Draws) -> Any:
    """Labels from 1, as R counts."""
    labels = draws.labels.astype(np.int32) + 1
    if draws.chain is None and draws.weights is None:
        return labels if draws.item_names is None else _NamedMatrix(labels, draws.item_names)
    pandas = require("pandas", extra="r", purpose="writing R data frames")
    columns: dict[str, Any] = {}
    if draws.chain is not None:
        columns[CHAIN] = _r_ids(draws.chain)
    if draws.weights is not None:
        columns[WEIGHT] = draws.weights
    names = draws.item_names or placeholder_names(draws.n_items)
    columns |= dict(zip(names, labels.T, strict=True))
    return pandas.DataFrame(columns, index=pandas.RangeIndex(1, draws.n_draws + 1))


def _r_ids(chain: NDArray[Any]) -> NDArray[Any]:
    if chain.dtype.kind == "U":
        return chain.astype(object)
    if np.abs(chain.astype(np.float64)).max() >= 2**31 - 1:
        raise InvalidInputError("chain ids beyond R's integers (2^31) cannot be written for R.")
    return chain.astype(np.int32)


def _constructors() -> dict[type, Any]:
    to_r = require("rdata.conversion.to_r", extra="r")
    parser = require("rdata.parser", extra="r")

    def matrix(data: _NamedMatrix, converter: Any) -> Any:
        attributes = converter.convert_to_r_attributes(
            {
                "dim": np.array(data.values.shape, np.int32),
                "dimnames": [None, np.array(data.names)],
            }
        )
        return to_r.build_r_object(
            parser.RObjectType.INT, value=data.values.ravel(order="F"), attributes=attributes
        )

    return {**to_r.DEFAULT_CLASS_MAP, _NamedMatrix: matrix}
