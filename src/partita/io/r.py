"""R's .rds and .RData files: the objects in them, and which of these are draws."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from partita._imports import require
from partita._resources import require_memory
from partita._validate import refuse_var_name
from partita._wording import listed
from partita.draws import Draws, draws_from_array, with_fields
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.io.draws_table import LabelTable, draws_from_table, warn_of_items_in_rows
from partita.io.table import ReadOptions, choose_variable, decompressed_stream, translate_errors
from partita.kernels.arrays import Array

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
_BLOCK = 1 << 24
_COPIES = 3
"""Times the unpacked file that reading it takes."""
_DEEP = 3
"""Levels of nested lists that are searched."""
_STANFIT = "stanfit"
"""Class of a whole fit of rstan."""


def read_rds(path: Path, options: ReadOptions) -> Draws:
    """Draws from an object of the file, chosen by ``var_name`` if there are several."""
    return _draws(load_r(path), options, str(path))


read_rdata = read_rds


def only_matrix(path: Path) -> RVector:
    """The only square matrix in a file of R."""
    root = load_r(path)
    parts = [root] if isinstance(root, RVector) else _vectors(root)
    square = [p for p in parts if p.values.ndim == 2 and p.values.shape[0] == p.values.shape[1]]
    if len(square) != 1:
        raise InvalidInputError(f"{path} holds {len(square)} square matrices; expected one.")
    return square[0]


def columns_of(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Headings and columns of the only vector, matrix or data frame in a file of R.

    Names of the rows, or of the entries of a vector, come first under an empty heading.
    """
    node = load_r(path)
    while isinstance(node, RList) and "data.frame" not in node.classes and len(node.parts) == 1:
        node = node.parts[0]
    rows: Any = None
    if isinstance(node, RList) and "data.frame" in node.classes:
        parts = [part.values for part in node.parts if isinstance(part, RVector)]
        names = list(node.names or ())
        rows = _texts(node.attributes.get("row.names"))
    elif isinstance(node, RVector) and node.values.ndim in (1, 2):
        matrix = node.values if node.values.ndim == 2 else node.values[:, None]
        parts = [matrix[:, j] for j in range(matrix.shape[1])]
        names = list(
            (node.columns if node.values.ndim == 2 else None) or map(str, range(len(parts)))
        )
        rows = node.dimnames[0] if node.values.ndim == 2 and node.dimnames else node.names
    else:
        raise InvalidInputError(
            f"{path} is not a single clustering; expected one vector, matrix or data frame of R. "
            f"{_contents(node)}"
        )
    columns = [_listed_values(part) for part in parts]
    return (["", *names], [list(rows), *columns]) if rows else (names, columns)


def _listed_values(values: Array) -> list[Any]:
    """Values with None where missing; whole numbers as such, since R keeps them as doubles."""
    found = [None if v is np.ma.masked else v for v in np.ma.asarray(values).tolist()]
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]


def _vectors(node: Any) -> list[RVector]:
    if isinstance(node, RVector):
        return [node]
    return [v for part in node.parts for v in _vectors(part)] if isinstance(node, RList) else []


def load_r(path: Path) -> Any:
    """The objects of a file: RVector, RList or ROther."""
    parser = require("rdata.parser", extra="r", purpose=f"reading {path.suffix} files")
    with (
        translate_errors(path, "written by R's saveRDS or save"),
        warnings.catch_warnings(action="ignore"),
    ):
        return from_parsed(parser.parse_data(_decompress(path)).object)


def _decompress(path: Path) -> bytes:
    """The content of the file, unpacked as far as memory reaches."""
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        stream: Any = raw
        for magic, opened in _PACKED.items():
            if start.startswith(magic):
                stream = decompressed_stream(raw, opened)
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
            return _draws_from_stanfit(node, options, name)
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
        paths = [repr(path) for path in found]
        raise InvalidInputError(
            f"{name} holds several objects that could be the draws: {listed(paths, 12)}. Choose "
            f"one by its path, as in var_name={paths[0]}."
        )
    raise InvalidLabelsError(
        f"{name} holds nothing recognisable as draws: no matrix of whole numbers, no data frame, "
        f"no list of label vectors. {_contents(node)}"
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
    return f"It holds: {listed([step for step, _ in node.items()], 12) or 'nothing'}."


def _draws_from_stanfit(fit: RList, options: ReadOptions, name: str) -> Draws:
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
        part = _draws_from_chain(chain, int(first), options, f"{name}, chain {number}")
        parts.append(with_fields(part, chain=np.full(part.n_draws, number)))
    return Draws.concat(parts)


def _draws_from_chain(chain: Any, first: int, options: ReadOptions, name: str) -> Draws:
    columns = [p.values for p in chain.parts if isinstance(p, RVector)] if chain else []
    if not columns or len(columns) != len(chain.names or ()):
        raise InvalidLabelsError(f"{name} has no columns with names.")
    if len({column.shape for column in columns}) > 1 or len(columns[0]) <= first:
        raise InvalidLabelsError(f"{name} has columns of different lengths, or warm-up alone.")
    table = LabelTable([column[first:] for column in columns], list(chain.names), None)
    return draws_from_table(table, var_name=options.var_name)


# ------------------------------------------------------------------ objects of R

PAIRS = "pairlist"
_MOST_DEPTH = 100
_STEP = re.compile(r"\[\[(\d+)\]\]|([^$\[]+)")


@dataclass(frozen=True, eq=False)
class RVector:
    """An atomic vector, matrix or array; ``values`` has its dimensions, missing ones masked."""

    values: Array
    dimnames: tuple[tuple[str, ...] | None, ...] = ()
    dimension_names: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names along the last dimension."""
        return self.dimnames[-1] if self.dimnames else None


@dataclass(frozen=True, eq=False)
class RList:
    """A list, data frame, S4 object or file of named objects."""

    parts: list[Any]
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    def items(self) -> list[tuple[str, Any]]:
        """Each part with the step of a path that leads to it."""
        if self.names is None:
            return [(f"[[{i}]]", part) for i, part in enumerate(self.parts, start=1)]
        return [
            (name or f"[[{i}]]", part)
            for i, (name, part) in enumerate(zip(self.names, self.parts, strict=True), start=1)
        ]


@dataclass(frozen=True)
class ROther:
    """Something that holds no labels: a function, an environment, NULL."""

    kind: str


def from_parsed(obj: Any, depth: int = 0) -> Any:
    """One object of rdata's parser as an RVector, RList or ROther."""
    kind = obj.info.type.name
    if kind == "REF" and obj.referenced_object is not None:
        obj, kind = obj.referenced_object, obj.referenced_object.info.type.name
    if depth > _MOST_DEPTH:
        return ROther("nested too deep")
    if kind in ("LGL", "INT", "REAL", "STR"):
        return _vector(obj, kind, _attributes(obj, depth))
    if kind in ("VEC", "EXPR"):
        parts = [from_parsed(part, depth + 1) for part in obj.value]
        attributes = _attributes(obj, depth)
        names = _texts(attributes.get("names"))
        return RList(parts, names, _classes(attributes), attributes)
    if kind == "LIST":
        pairs = _pairs(obj, depth)
        # The objects of an .RData file are a pair list: side by side, not chains of each other.
        return RList([part for _, part in pairs], tuple(name for name, _ in pairs), (PAIRS,))
    if kind == "S4":
        attributes = _attributes(obj, depth)
        inner = {name: part for name, part in attributes.items() if name != "class"}
        return RList(list(inner.values()), tuple(inner), _classes(attributes))
    return ROther(kind.lower())


def _pairs(obj: Any, depth: int) -> list[tuple[str, Any]]:
    """Names and values of a pair list, the form of attributes and of a file's objects."""
    found = []
    while obj is not None and obj.info.type.name == "LIST":
        head, tail = obj.value
        tag = obj.tag
        if tag is not None and tag.info.type.name == "REF":
            tag = tag.referenced_object
        name = "" if tag is None else _text(tag.value) or ""
        found.append((name, from_parsed(head, depth + 1)))
        obj = tail
    return found


def _attributes(obj: Any, depth: int) -> dict[str, Any]:
    return {} if obj.attributes is None else dict(_pairs(obj.attributes, depth + 1))


def _text(char: Any) -> str | None:
    """The text of rdata's CHAR object; None where it is missing."""
    content = char.value
    if content is None:
        return None
    try:
        return str(content.decode("utf-8"))
    except UnicodeDecodeError:
        return str(content.decode("latin-1"))


def _texts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, RVector) or value.values.dtype.kind != "O":
        return None
    return tuple("" if text is None else str(text) for text in value.values.ravel(order="F"))


def _classes(attributes: dict[str, Any]) -> tuple[str, ...]:
    return _texts(attributes.get("class")) or ()


def _vector(obj: Any, kind: str, attributes: dict[str, Any]) -> RVector:
    classes = _classes(attributes)
    values = _values(obj, kind, classes)
    levels = _texts(attributes.get("levels"))
    if "factor" in classes and levels is not None:
        codes = np.ma.filled(values, 0)
        values = np.array([levels[c - 1] if 0 < c <= len(levels) else None for c in codes], object)
    dim = attributes.get("dim")
    if isinstance(dim, RVector):
        values = values.reshape([int(n) for n in dim.values], order="F")
    named = attributes.get("dimnames")
    dimnames: tuple[tuple[str, ...] | None, ...] = ()
    dimension_names: tuple[str, ...] = ()
    if isinstance(named, RList):
        dimnames = tuple(_texts(part) for part in named.parts)
        dimension_names = named.names or ()
    return RVector(
        values, dimnames, dimension_names, _texts(attributes.get("names")), classes, attributes
    )


_TIMES = {"Date": "datetime64[D]", "POSIXct": "datetime64[s]", "difftime": "timedelta64[s]"}
"""Classes of R that are dates or durations, and what they are in NumPy."""


def _values(obj: Any, kind: str, classes: tuple[str, ...]) -> Array:
    if kind == "STR":
        return np.array([_text(char) for char in obj.value], object)
    values = np.ma.asanyarray(obj.value) if np.ma.isMaskedArray(obj.value) else obj.value
    values = np.asanyarray(values)
    for name, unit in _TIMES.items():
        if name in classes:  # numbers in the file, which no reader takes for labels
            return np.ma.filled(values.astype(np.float64), np.nan).astype(unit)
    if "integer64" in classes:  # bit64 keeps integers in the bits of doubles
        values = np.ascontiguousarray(values, np.float64).view(np.int64)
        values = np.ma.masked_equal(values, np.iinfo(np.int64).min)
    elif kind in ("INT", "LGL") and not np.ma.isMaskedArray(values):
        values = np.ma.masked_equal(values, np.iinfo(np.int32).min)
    return values


def at_path(root: Any, path: str) -> Any | None:
    """The object at a path such as ``fit$clust`` or ``chains[[2]]``, or None.

    The name by which R's user knew the object of an .rds file may lead the path.
    """
    whole = _follow(root, path)
    if whole is None and "$" in path:
        return _follow(root, path.partition("$")[2])
    return whole


def _follow(node: Any, path: str) -> Any | None:
    for number, name in _STEP.findall(path.replace("@", "$")):
        if not isinstance(node, RList):
            return None
        if number:
            if not 0 < int(number) <= len(node.parts):
                return None
            node = node.parts[int(number) - 1]
        elif node.names is None or name not in node.names:
            return None
        else:
            node = node.parts[node.names.index(name)]
    return node


# ------------------------------------------------------------------ shapes of draws

LABELS_OF_CLASS = {"BNPdens": "clust", "dirichletprocess": "labelsChain", "AM_mcmc_output": "CI"}
"""Where the fits of BNPmix, dirichletprocess and AntMAN keep their labels."""

_CHAIN_NAME = re.compile(r"(?:(?:chain|run|mcmc|c)[\W_]*)?\d*", re.IGNORECASE)
_CHAIN_DIMS = frozenset({"chain", "chains"})
_DRAW_DIMS = frozenset({"iteration", "iterations", "draw", "draws"})


def looks_like_draws(node: Any) -> bool:
    """Whether an object could hold draws: told by its shape, and by being whole."""
    if isinstance(node, RVector):
        return node.values.ndim in (2, 3) and is_whole(node.values)
    if not isinstance(node, RList) or PAIRS in node.classes:
        return False
    if "rvar" in node.classes:
        return True
    if not node.parts:
        return False
    if "data.frame" in node.classes:
        return any(is_whole(part.values) for part in node.parts if isinstance(part, RVector))
    if {"draws_list", "draws_rvars"} & set(node.classes):
        return True
    if all(isinstance(part, RVector) for part in node.parts):
        return _is_list_of_draws(node.parts) or _is_list_of_chains(node)
    return False


def is_whole(values: Array) -> bool:
    """Whether every value is a whole number or text."""
    if values.dtype.kind != "f":
        return values.size > 0
    finite = np.asarray(np.ma.filled(values, np.nan))
    return values.size > 0 and bool((finite == np.floor(finite)).all())


def _is_list_of_draws(parts: list[Any]) -> bool:
    """Label vectors of the same items, one per draw."""
    sizes = {part.values.size for part in parts}
    same = len(parts) > 1 and len(sizes) == 1 and min(sizes) > 1
    return same and all(
        part.values.ndim == 1 and not part.classes and is_whole(part.values) for part in parts
    )


def _is_list_of_chains(node: RList) -> bool:
    """Matrices of the same items, which are called chains, numbered, or not called anything.

    Matrices of other names are different things, even where they have one shape.
    """
    shapes = {part.values.shape[1:] for part in node.parts}
    if not all(part.values.ndim == 2 for part in node.parts) or len(shapes) != 1:
        return False
    called = "mcmc.list" in node.classes or all(map(_CHAIN_NAME.fullmatch, node.names or ()))
    return called or len(node.parts) == 1


def draws_of(node: Any, options: ReadOptions, name: str) -> Draws:
    """Draws from one object of R."""
    if isinstance(node, RVector):
        return _from_vector(node, options, name)
    if isinstance(node, RList):
        if "data.frame" in node.classes or "draws_df" in node.classes:
            return _from_frame(node, options)
        if "rvar" in node.classes:
            return _from_rvar(node, name)
        if "draws_rvars" in node.classes:
            return _from_rvars(node, options, name)
        if "draws_list" in node.classes:
            return _concat_chains([_from_frame(part, options) for part in node.parts], node.names)
        if node.parts and all(isinstance(part, RVector) for part in node.parts):
            if _is_list_of_draws(node.parts):
                if len({part.names for part in node.parts}) > 1:
                    raise InvalidLabelsError(
                        f"{name} is a list of vectors whose names differ; each item must stand at "
                        "one place. In R: lapply(x, function(z) z[names(x[[1]])])."
                    )
                values = np.stack([part.values for part in node.parts])
                return draws_from_array(values, transpose=options.transpose)
            if _is_list_of_chains(node):
                return _concat_chains([draws_of(p, options, name) for p in node.parts], node.names)
    kind = node.kind if isinstance(node, ROther) else "list"
    raise InvalidLabelsError(
        f"{name} is a {kind} of R that holds no draws by itself; expected a matrix with one row "
        "per draw, a data frame, a list of label vectors or of one matrix per chain."
    )


def _concat_chains(parts: list[Draws], names: tuple[str, ...] | None) -> Draws:
    """Chains by the names of the list, or numbered."""
    if any(part.chain is not None for part in parts):
        return Draws.concat(parts)
    ids = names if names and len(set(names)) == len(parts) and all(names) else range(len(parts))
    chains = [np.full(part.n_draws, each) for part, each in zip(parts, ids, strict=True)]
    return Draws.concat(
        [with_fields(part, chain=chain) for part, chain in zip(parts, chains, strict=True)]
    )


def _from_frame(node: RList, options: ReadOptions) -> Draws:
    columns = [part.values for part in node.parts if isinstance(part, RVector)]
    if len(columns) < len(node.parts) or len({column.size for column in columns}) != 1:
        raise InvalidLabelsError("a data frame of R has columns that are not plain vectors.")
    names = list(node.names or ())
    if options.transpose:
        return draws_from_array(np.ma.stack([*columns]), transpose=False)
    rows = _texts(node.attributes.get("row.names"))
    return draws_from_table(LabelTable(columns, names, rows), var_name=options.var_name)


def _from_vector(node: RVector, options: ReadOptions, name: str) -> Draws:
    values = node.values
    if values.ndim == 3:
        return _from_cube(node, options, name)
    if values.ndim != 2:
        raise InvalidLabelsError(
            f"{name} holds an array of shape {values.shape}; expected a matrix with one row per "
            "draw and one column per item."
        )
    rows = node.dimnames[0] if node.dimnames else None
    columns = node.columns
    if options.transpose:
        values, rows, columns = values.T, columns, rows
    if columns is None:
        refuse_var_name(options.var_name, f"{name}, a matrix whose columns have no names")
        warn_of_items_in_rows(rows, *values.shape, named_columns=False)
        return _apply_attributes(draws_from_array(values), node)
    table = LabelTable([values[:, i] for i in range(values.shape[1])], list(columns), rows)
    return _apply_attributes(draws_from_table(table, var_name=options.var_name), node)


def _apply_attributes(draws: Draws, node: RVector) -> Draws:
    """With chains, weights and kind that partita wrote, or with chains by posterior's note."""
    for name in ("chain", "weights"):
        beside = node.attributes.get(name)
        if not isinstance(beside, RVector):
            continue
        if beside.values.shape != (draws.n_draws,):
            raise InvalidInputError(
                f"the attribute {name!r} of the matrix has {beside.values.size:,} entries for "
                f"{draws.n_draws:,} draws; expected one per draw. Remove or correct it.",
                argument=name,
            )
        values = beside.values
        if name == "chain" and _number(node.attributes.get("chain_from")) == 0:
            values = values - 1  # written from 1, as R counts
        draws = with_fields(draws, **{name: values})
    said = node.attributes.get("kind")
    if isinstance(said, RVector) and said.values.tolist() in (["ensemble"], ["tilted"]):
        return with_fields(draws, kind=said.values.tolist()[0])
    return draws if draws.chain is not None else _split_chains(draws, node)


def _number(node: Any) -> int | None:
    """The number that is all there is of an attribute."""
    return int(node.values[0]) if isinstance(node, RVector) and node.values.size == 1 else None


def _split_chains(draws: Draws, node: RVector | RList) -> Draws:
    """With chains of equal length, as many as posterior noted."""
    n_chains = _number(node.attributes.get("nchains")) or 1
    if n_chains < 2 or draws.n_draws % n_chains:
        return draws
    chain = np.repeat(np.arange(1, n_chains + 1), draws.n_draws // n_chains)
    return with_fields(draws, chain=chain)


def _from_cube(node: RVector, options: ReadOptions, name: str) -> Draws:
    """(iteration, chain, variable) of rstan and posterior, (item, iteration, chain) of rjags."""
    order = _cube_order(node, name)
    values = np.transpose(node.values, order)
    names = node.dimnames[order[2]] if node.dimnames else None
    chains = node.dimnames[order[1]] if node.dimnames else None
    parts = []
    for i in range(values.shape[1]):
        part = RVector(values[:, i, :], () if names is None else (None, names))
        text = str(i + 1) if chains is None else chains[i].removeprefix("chain:")
        ids = np.full(len(values), int(text) if text.isdigit() else text)
        parts.append(with_fields(_from_vector(part, options, name), chain=ids))
    return Draws.concat(parts)


def _cube_order(node: RVector, name: str) -> tuple[int, int, int]:
    """Positions of the draws, the chains and the items."""
    named = [each.lower() for each in node.dimension_names]
    draw = [i for i, each in enumerate(named) if each in _DRAW_DIMS]
    chain = [i for i, each in enumerate(named) if each in _CHAIN_DIMS]
    if len(draw) == 1 and len(chain) == 1:
        return draw[0], chain[0], 3 - draw[0] - chain[0]
    if "mcarray" in node.classes:
        return 1, 2, 0
    if node.columns is not None and any("[" in each for each in node.columns):
        return 0, 1, 2
    raise InvalidInputError(
        f"{name} is an array of shape {node.values.shape} whose dimensions have no names, so "
        "draws, chains and items cannot be told apart. In R: names(dimnames(x)) <- "
        'c("iteration", "chain", "variable"), or save one matrix per chain in a list.'
    )


def _from_rvar(node: RList, name: str) -> Draws:
    drawn = node.attributes.get("draws")
    if not isinstance(drawn, RVector) or drawn.values.ndim != 2:
        raise InvalidLabelsError(
            f"{name} is an rvar that is not a vector; expected one label per item in each draw."
        )
    return _split_chains(draws_from_array(drawn.values), node)


def _from_rvars(node: RList, options: ReadOptions, name: str) -> Draws:
    def fits(part: Any) -> bool:
        drawn = part.attributes.get("draws") if isinstance(part, RList) else None
        return isinstance(drawn, RVector) and drawn.values.ndim == 2 and is_whole(drawn.values)

    found = dict(zip(node.names or (), node.parts, strict=True))
    fitting = [each for each, part in found.items() if fits(part)]
    chosen = choose_variable(
        {each: each for each in found}, fitting, options.var_name, f"{name} holds no labels"
    )
    return _from_rvar(found[chosen], name)
