"""What R's packages make of draws: each shape that can be told apart, as Draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError, InvalidLabelsError
from partita.io.frames import ForeignTable, draws_from_table
from partita.io.ids import clean_ids
from partita.io.r_objects import PAIRS, RList, ROther, RVector
from partita.io.registry import ReadOptions
from partita.partitions.convert import draws_from_array, with_fields
from partita.partitions.draws import Draws

LABELS_OF_CLASS = {"BNPdens": "clust", "dirichletprocess": "labelsChain", "AM_mcmc_output": "CI"}
"""Where the fits of BNPmix, dirichletprocess and AntMAN keep their labels."""

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
        return _is_list_of_draws(node.parts) or _is_list_of_chains(node.parts)
    return False


def is_whole(values: NDArray[Any]) -> bool:
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


def _is_list_of_chains(parts: list[Any]) -> bool:
    shapes = {part.values.shape[1:] for part in parts}
    return all(part.values.ndim == 2 for part in parts) and len(shapes) == 1


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
            return _joined([_from_frame(part, options) for part in node.parts], node.names)
        if node.parts and all(isinstance(part, RVector) for part in node.parts):
            if _is_list_of_draws(node.parts):
                values = np.stack([part.values for part in node.parts])
                return draws_from_array(values, transpose=options.transpose)
            if _is_list_of_chains(node.parts):
                return _joined([draws_of(p, options, name) for p in node.parts], node.names)
    kind = node.kind if isinstance(node, ROther) else "list"
    raise InvalidLabelsError(
        f"{name} is a {kind} of R that holds no draws by itself; expected a matrix with one row "
        "per draw, a data frame, a list of label vectors or of one matrix per chain."
    )


def _joined(parts: list[Draws], names: tuple[str, ...] | None) -> Draws:
    """Chains by the names of the list, or numbered."""
    if any(part.chain is not None for part in parts):
        return Draws.concat(parts)
    ids = names if names and len(set(names)) == len(parts) and all(names) else range(len(parts))
    chains = [np.full(part.n_draws, each) for part, each in zip(parts, ids, strict=True)]
    return Draws.concat(
        [with_fields(part, chain=chain) for part, chain in zip(parts, chains, strict=True)]
    )


class NamedColumns(ForeignTable):
    """Columns of equal length under names, as ``draws_from_table`` wants them."""

    def __init__(
        self, columns: list[NDArray[Any]], names: list[str], rows: tuple[str, ...] | None
    ) -> None:
        self._columns, self.names, self._rows = columns, names, rows
        self.n_rows = len(columns[0]) if columns else 0

    def rows(self, columns: list[int], start: int, stop: int) -> NDArray[Any]:
        """Some columns of some rows, none of them missing."""
        parts = [self._columns[i][start:stop] for i in columns]
        for position, part in zip(columns, parts, strict=True):
            _refuse_missing(part, self.names[position], start)
        return np.column_stack([np.ma.getdata(part) for part in parts])

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return self._columns[position]

    def row_names(self) -> list[str] | None:
        """The names of the rows, if there are any."""
        return None if self._rows is None else list(self._rows)


def _refuse_missing(part: NDArray[Any], name: str, start: int) -> None:
    missing = np.ma.getmaskarray(part)
    if part.dtype.kind == "O":
        missing = np.array([value is None for value in part])
    if missing.any():
        row = start + int(np.flatnonzero(missing)[0])
        raise InvalidLabelsError(
            f"the label in row {row}, column {name!r} is missing (NA); every item needs a label "
            "in every draw. Drop the item or the draw."
        )


def _from_frame(node: RList, options: ReadOptions) -> Draws:
    columns = [part.values for part in node.parts if isinstance(part, RVector)]
    if len(columns) < len(node.parts) or len({column.size for column in columns}) != 1:
        raise InvalidLabelsError("a data frame of R has columns that are no plain vectors.")
    names = list(node.names or ())
    if options.transpose:
        return draws_from_array(np.ma.stack([*columns]), transpose=False)
    rows = node.attributes.get("row.names")
    texts = None
    if isinstance(rows, RVector) and rows.values.dtype.kind == "O":
        texts = tuple(map(str, rows.values))
    return draws_from_table(NamedColumns(columns, names, texts), var_name=options.var_name)


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
        if options.var_name is not None:
            raise InvalidInputError(
                f"var_name={options.var_name!r} was given, but {name} holds a single array "
                "whose columns have no names.",
                argument="var_name",
            )
        return _with_chains(draws_from_array(values), node)
    table = NamedColumns([values[:, i] for i in range(values.shape[1])], list(columns), rows)
    return _with_chains(draws_from_table(table, var_name=options.var_name), node)


def _with_chains(draws: Draws, node: RVector) -> Draws:
    """With chains, weights and kind that partita wrote, or with chains by posterior's note."""
    for field in ("chain", "weights"):
        beside = node.attributes.get(field)
        if isinstance(beside, RVector) and beside.values.shape == (draws.n_draws,):
            values = clean_ids(beside.values) if field == "chain" else beside.values
            draws = with_fields(draws, **{field: values})
    said = node.attributes.get("kind")
    if isinstance(said, RVector) and said.values.tolist() in (["ensemble"], ["tilted"]):
        return with_fields(draws, kind=said.values.tolist()[0])
    noted = node.attributes.get("nchains")
    if draws.chain is not None or not isinstance(noted, RVector):
        return draws
    return _split_chains(draws, int(noted.values[0]))


def _split_chains(draws: Draws, n_chains: int) -> Draws:
    if n_chains < 2 or draws.n_draws % n_chains:
        return draws
    return with_fields(
        draws, chain=np.repeat(np.arange(1, n_chains + 1), draws.n_draws // n_chains)
    )


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
        ids = clean_ids(np.full(len(values), int(text) if text.isdigit() else text))
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
            f"{name} is an rvar that is no vector; expected one label per item in each draw."
        )
    noted = node.attributes.get("nchains")
    draws = draws_from_array(drawn.values)
    return _split_chains(draws, int(noted.values[0])) if isinstance(noted, RVector) else draws


def _from_rvars(node: RList, options: ReadOptions, name: str) -> Draws:
    def fits(part: Any) -> bool:
        drawn = part.attributes.get("draws") if isinstance(part, RList) else None
        return isinstance(drawn, RVector) and drawn.values.ndim == 2 and is_whole(drawn.values)

    found = dict(zip(node.names or (), node.parts, strict=True))
    if options.var_name is not None:
        chosen = [options.var_name] if options.var_name in found else []
    else:
        chosen = [each for each, part in found.items() if fits(part)]
    if len(chosen) != 1:
        raise InvalidInputError(
            f"{name} holds the variables {', '.join(found)}, of which {len(chosen)} could be the "
            f"labels. Choose one with var_name=...."
        )
    return _from_rvar(found[chosen[0]], name)
