"""R's .rds and .RData files: what is in them, and writing them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._optional import require
from partita.errors import FileFormatError, InvalidInputError, InvalidLabelsError, PartitaError
from partita.io.frames import draws_from_table
from partita.io.r_objects import RList, RVector, at_path, from_parsed
from partita.io.r_shapes import LABELS_OF_CLASS, NamedColumns, draws_of, looks_like_draws
from partita.io.registry import ReadOptions
from partita.partitions.convert import with_fields
from partita.partitions.draws import Draws

_PACKED: dict[bytes, Any] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_BLOCK = 1 << 24
_COPIES = 3
"""Times the unpacked file that reading it takes."""
_DEEP = 3
"""Levels of nested lists that are searched."""
_OBJECT = "draws"
"""Name of the object in the .RData files written."""
_STANFIT = "stanfit"
"""Class of a whole fit of rstan."""


def read_rds(path: Path, options: ReadOptions) -> Draws:
    """Draws from an object of the file, chosen by ``var_name`` if there are several."""
    return _draws(_load(path), options, str(path))


read_rdata = read_rds


def only_matrix(path: Path) -> RVector:
    """The only square matrix in a file of R."""
    root = _load(path)
    parts = [root] if isinstance(root, RVector) else _vectors(root)
    square = [p for p in parts if p.values.ndim == 2 and p.values.shape[0] == p.values.shape[1]]
    if len(square) != 1:
        raise InvalidInputError(f"{path} holds {len(square)} square matrices; expected one.")
    return square[0]


def _vectors(node: Any) -> list[RVector]:
    if isinstance(node, RVector):
        return [node]
    return [v for part in node.parts for v in _vectors(part)] if isinstance(node, RList) else []


def write_rds(draws: Draws, path: Path) -> None:
    """Write an integer matrix; chains and weights are its attributes, so that it stays one."""
    rdata = require("rdata", extra="r", purpose="writing .rds files")
    rdata.write_rds(path, _for_r(draws), constructor_dict=_constructors())


def write_rdata(draws: Draws, path: Path) -> None:
    """The same as the object ``draws`` of an .RData file."""
    rdata = require("rdata", extra="r", purpose="writing .RData files")
    rdata.write_rda(path, {_OBJECT: _for_r(draws)}, constructor_dict=_constructors())


def _load(path: Path) -> Any:
    parser = require("rdata.parser", extra="r", purpose=f"reading {path.suffix} files")
    try:
        with warnings.catch_warnings(action="ignore"):
            return from_parsed(parser.parse_data(_unpacked(path)).object)
    except PartitaError:
        raise
    except Exception as error:  # rdata raises many kinds for a file that is not whole
        raise FileFormatError(
            f"{path} is damaged, cut short or not written by R's saveRDS or save "
            f"({type(error).__name__}: {error}). Copy or write it again, or name its true format "
            f"with format=...."
        ) from error


def _unpacked(path: Path) -> bytes:
    """The content of the file, unpacked as far as memory reaches."""
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        stream: Any = raw
        for magic, opened in _PACKED.items():
            if start.startswith(magic):
                stream = opened(raw)
        parts: list[bytes] = []
        size = 0
        while part := stream.read(_BLOCK):
            size += len(part)
            require_memory(_COPIES * size, f"reading {path}", "Save the labels alone in R.")
            parts.append(part)
    return b"".join(parts)


def _draws(root: Any, options: ReadOptions, name: str) -> Draws:
    """Draws from what is unambiguous in the file, or from what the user's path leads to."""
    path = options.var_name
    if path is not None:
        found = at_path(root, path)
        if found is not None:
            inner = replace(options, var_name=None)
            return _draws_at(found, inner, f"{name}, {path}")
        outer, _, variable = path.rpartition("$")
        if outer and (table := at_path(root, outer)) is not None:
            return _draws_at(table, replace(options, var_name=variable), f"{name}, {outer}")
        if "$" in path or "[[" in path:
            raise InvalidInputError(f"{name} has nothing at {path!r}. {_contents(root)}")
    return _draws_at(root, options, name)


def _draws_at(node: Any, options: ReadOptions, name: str) -> Draws:
    if isinstance(node, RList):
        if _STANFIT in node.classes:
            return _of_stanfit(node, options, name)
        for each in node.classes:
            inner = LABELS_OF_CLASS.get(each)
            if inner is not None and at_path(node, inner) is not None:
                return draws_of(at_path(node, inner), options, f"{name}, {inner}")
        if not looks_like_draws(node):
            return _only_candidate(node, options, name)
    return draws_of(node, options, name)


def _only_candidate(node: RList, options: ReadOptions, name: str) -> Draws:
    found = dict(_candidates(node))
    if len(found) == 1:
        ((path, chosen),) = found.items()
        return _draws_at(chosen, options, f"{name}, {path}")
    if found:
        listed = ", ".join(repr(path) for path in list(found)[:12])
        more = f" and {len(found) - 12} more" if len(found) > 12 else ""
        example = next(iter(found))
        raise InvalidInputError(
            f"{name} holds several objects that could be the draws: {listed}{more}. Choose one by "
            f"its path, as in var_name={example!r}."
        )
    raise InvalidLabelsError(
        f"{name} holds no draws that can be told: no matrix of whole numbers, no data frame, no "
        f"list of label vectors. {_contents(node)}"
    )


def _candidates(node: RList, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every object below that could hold draws, by its path."""
    for step, part in node.items():
        path = f"{prefix}{step}" if step.startswith("[[") or not prefix else f"{prefix}${step}"
        inner = (
            set(part.classes) & {_STANFIT, *LABELS_OF_CLASS} if isinstance(part, RList) else set()
        )
        if looks_like_draws(part) or inner:
            yield path, part
        elif isinstance(part, RList) and depth < _DEEP:
            yield from _candidates(part, path, depth + 1)


def _contents(node: Any) -> str:
    if not isinstance(node, RList):
        return ""
    steps = [step for step, _ in node.items()]
    more = ", …" if len(steps) > 12 else ""
    return f"It holds: {', '.join(steps[:12]) or 'nothing'}{more}."


@dataclass(frozen=True)
class _Matrix:
    """An integer matrix with attributes, which rdata has no Python type for."""

    values: NDArray[np.int32]
    attributes: dict[str, Any]


def _for_r(draws: Draws) -> _Matrix:
    """Labels from 1, as R counts; attributes chain, weights and kind beside them."""
    labels = draws.labels.astype(np.int32) + np.int32(1)
    attributes: dict[str, Any] = {"dim": np.array(labels.shape, np.int32)}
    if draws.item_names is not None:
        attributes["dimnames"] = [None, np.array(draws.item_names)]
    if draws.chain is not None:
        attributes["chain"] = _r_ids(draws.chain)
    if draws.weights is not None:
        attributes["weights"] = np.array(draws.weights)
    if draws.kind != "posterior":
        attributes["kind"] = np.array([draws.kind])
    return _Matrix(labels, attributes)


def _r_ids(chain: NDArray[Any]) -> NDArray[Any]:
    if chain.dtype.kind == "U":
        return chain
    if np.abs(chain.astype(np.float64)).max() >= 2**31 - 1:
        raise InvalidInputError("chain ids beyond R's integers (2^31) cannot be written for R.")
    return chain.astype(np.int32)


def _constructors() -> dict[type, Any]:
    to_r = require("rdata.conversion.to_r", extra="r")
    parser = require("rdata.parser", extra="r")

    def matrix(data: _Matrix, converter: Any) -> Any:
        return to_r.build_r_object(
            parser.RObjectType.INT,
            value=data.values.ravel(order="F"),
            attributes=converter.convert_to_r_attributes(data.attributes),
        )

    return {**to_r.DEFAULT_CLASS_MAP, _Matrix: matrix}


def _of_stanfit(fit: RList, options: ReadOptions, name: str) -> Draws:
    """Draws of a whole fit of rstan, from its slot ``sim``: named columns for each chain.

    ``sim$warmup2`` counts the draws of warm-up among them, which are left out,
    as ``extract`` does.
    """
    samples, warmup = at_path(fit, "sim$samples"), at_path(fit, "sim$warmup2")
    if not isinstance(samples, RList) or not samples.parts or options.transpose:
        raise InvalidLabelsError(
            f"{name} is a stanfit without samples that can be read. In R: saveRDS(rstan::extract("
            'fit, "z", permuted = FALSE), "z.rds"), with the name of your labels for z.'
        )
    left_out = np.zeros(len(samples.parts), np.int64)
    if isinstance(warmup, RVector) and warmup.values.size == left_out.size:
        left_out = np.asarray(warmup.values, np.int64)
    parts = []
    for number, (chain, first) in enumerate(zip(samples.parts, left_out, strict=True), start=1):
        part = _of_chain(chain, int(first), options, f"{name}, chain {number}")
        parts.append(with_fields(part, chain=np.full(part.n_draws, number)))
    return Draws.concat(parts)


def _of_chain(chain: Any, first: int, options: ReadOptions, name: str) -> Draws:
    columns = [p.values for p in chain.parts if isinstance(p, RVector)] if chain else []
    if not columns or len(columns) != len(chain.names or ()):
        raise InvalidLabelsError(f"{name} has no columns with names.")
    if len({column.shape for column in columns}) > 1 or len(columns[0]) <= first:
        raise InvalidLabelsError(f"{name} has columns of different lengths, or warm-up alone.")
    table = NamedColumns([column[first:] for column in columns], list(chain.names), None)
    return draws_from_table(table, var_name=options.var_name)
