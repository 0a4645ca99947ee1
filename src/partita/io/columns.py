"""Which columns of a table with named columns are labels of items."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from partita._vocabulary import Kind
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.partitions.draws import Draws

CHAIN, WEIGHT, RUN, TILTED = ".chain", ".weight", ".run", ".tilted"
_CHAINS = frozenset({CHAIN, "chain", "chain__", "chain_id"})
_DRAWS = frozenset(
    {".iteration", ".draw", "iter", "iteration", "iterations", "draw", "iter__", RUN}
)
_QUANTITIES = frozenset(
    {
        *("lp__", "lp", "k", "n_clusters", "nclusters", "num_clusters"),
        *("loglik", "log_lik", "logpost", "log_posterior", "deviance"),
    }
)
"""Names, in small letters, of what samplers write beside labels: never the name of an item."""
_LONG = frozenset({".chain", ".iteration", ".draw"})
_BRACKET = re.compile(r"(.+)\[(\d+)\]")
_MANGLED = re.compile(r"(.+?)\.(\d+)\.")  # what R's data frames make of z[1]
_DOT = re.compile(r"(.+)\.(\d+)")
_PLACEHOLDER = re.compile(r"\.item\d+")


@dataclass(frozen=True)
class Columns:
    """Positions of the columns that matter, and the items' names if they have any."""

    items: list[int]
    names: tuple[str, ...] | None
    chain: int | None
    weight: int | None
    kind: Kind = "posterior"


def placeholder_names(n_items: int) -> list[str]:
    """The column names that stand for items without names."""
    return [f".item{i}" for i in range(1, n_items + 1)]


def columns_beside(draws: Draws) -> dict[str, NDArray[Any]]:
    """What tables hold beside the labels, by heading: chain, number of the run and weight."""
    runs = np.arange(1, draws.n_draws + 1) if draws.kind == "ensemble" else None
    tilted = np.ones(draws.n_draws, np.int64) if draws.kind == "tilted" else None
    columns = {CHAIN: draws.chain, RUN: runs, TILTED: tilted, WEIGHT: draws.weights}
    return {name: values for name, values in columns.items() if values is not None}


def long_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of index and value in tidybayes' long format, told by its dotted names."""
    rest = [i for i, name in enumerate(names) if name not in _LONG]
    is_long = {".chain", ".iteration", ".draw"} <= set(names) and len(rest) == 2
    return (rest[0], rest[1]) if is_long else None


def draw_number(names: Sequence[str]) -> int | None:
    """Position of the last column that numbers draws, where but two others are no ids."""
    ids = [i for i, name in enumerate(names) if name.lower() in _DRAWS]
    rest = [name for name in names if name.lower() not in _DRAWS | _CHAINS]
    return ids[-1] if ids and len(rest) == 2 else None


def refuse_long(name: str) -> NoReturn:
    """Refuse a table whose numbers of draws repeat from row to row: one row per draw and item."""
    raise InvalidInputError(
        f"the column {name!r} repeats its number from row to row, so this is a long table, with "
        "one row per draw and item. Name its columns .chain, .iteration, .draw, item and label as "
        "tidybayes does, or pivot it to one row per draw and one column per item."
    )


def choose_columns(
    names: Sequence[str],
    *,
    var_name: str | None,
    is_whole: Callable[[int], bool],
    one_variable: bool = False,
) -> Columns:
    """Sort the columns of a table into items, chain and weight.

    ``.weight`` is what it says, ``.chain`` or ``chain`` the chain; ``.draw``,
    ``.iteration``, ``iter`` and the like number the draws and are passed over, and
    ``.run`` numbers the runs of an ensemble, which it says these are; ``.tilted``
    says that the weights are not those of the posterior. A
    table of variables (``var_name`` or ``one_variable`` given, a column
    ``lp__``, or a column named like ``z[1]``) gives the columns of one indexed
    variable in the order of its index: ``var_name``, or the only one that is
    whole in the first draw, as ``is_whole(position)`` tells. In any other table
    every remaining column is an item of that name, except that ``.item1,
    .item2, …`` stand for items without names; quantities that samplers write
    beside labels (``K``, ``lp``) are refused there.
    """
    names = [str(name) for name in names]
    chain = _single(names, [i for i, name in enumerate(names) if name.lower() in _CHAINS])
    weight = _single(names, [i for i, name in enumerate(names) if name == WEIGHT])
    kind: Kind = "ensemble" if RUN in names else "tilted" if TILTED in names else "posterior"
    beside = _DRAWS | {TILTED}
    rest = [
        i for i, name in enumerate(names) if i not in (chain, weight) and name.lower() not in beside
    ]
    if (
        var_name is not None
        or one_variable
        or "lp__" in names
        or any(_BRACKET.fullmatch(names[i]) for i in rest)
        or (rest and all(_MANGLED.fullmatch(names[i]) for i in rest))
    ):
        variables = _indexed(names, rest)
        chosen = _named(variables, var_name) if var_name else _only_whole(variables, is_whole)
        return Columns(chosen, None, chain, weight, kind)
    if not rest:
        raise InvalidLabelsError(
            f"there are no items: the table has only the columns {names}. "
            "Expected one column of labels per item."
        )
    item_names = tuple(names[i] for i in rest)
    _refuse_quantities(item_names)
    _refuse_repeated(item_names)
    unnamed = list(item_names) == placeholder_names(len(rest))
    if not unnamed and (odd := next(filter(_PLACEHOLDER.fullmatch, item_names), None)):
        raise InvalidInputError(
            f"the column {odd!r} stands for an item without a name, but the columns are not "
            f".item1, .item2, … in order: {_listed(item_names[:4])}, …. A column was lost, moved "
            "or renamed; name all items or none."
        )
    return Columns(rest, None if unnamed else item_names, chain, weight, kind)


def _single(names: Sequence[str], positions: list[int]) -> int | None:
    if len(positions) > 1:
        raise InvalidInputError(
            f"the columns {', '.join(repr(names[i]) for i in positions)} would all be the same; "
            "a table has one column of chains and one of weights. Drop or rename the others."
        )
    return positions[0] if positions else None


def _refuse_quantities(names: tuple[str, ...]) -> None:
    for name in names:
        # Items named …, j, k, l, … by the alphabet are items.
        beside = len(name) == 1 and {chr(ord(name) - 1), chr(ord(name) + 1)} & set(names)
        if name.lower() in _QUANTITIES and not beside:
            raise InvalidInputError(
                f"the column {name!r} has the name of a quantity that samplers write beside the "
                "labels. Drop it, or rename it if it is an item."
            )


def _refuse_repeated(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInputError(
                f"the name {name!r} stands over several columns; every item needs its own."
            )
        seen.add(name)


def _indexed(names: Sequence[str], positions: Sequence[int]) -> dict[str, list[int]]:
    """Variables with one index that runs from 0 or 1 without gaps, columns in index order."""
    _refuse_repeated([names[i] for i in positions])
    found: dict[str, dict[int, int]] = {}
    for position in positions:
        name = names[position]
        match = _BRACKET.fullmatch(name) or _MANGLED.fullmatch(name) or _DOT.fullmatch(name)
        if match and not _DOT.fullmatch(match[1]):  # mu.1.1 has two indices
            found.setdefault(match[1], {})[int(match[2])] = position
    return {
        name: [by_index[i] for i in sorted(by_index)]
        for name, by_index in found.items()
        if sorted(by_index) in (list(range(len(by_index))), list(range(1, len(by_index) + 1)))
    }


def _named(variables: dict[str, list[int]], var_name: str) -> list[int]:
    if var_name not in variables:
        raise InvalidInputError(
            f"var_name={var_name!r} is not an indexed variable of this table; "
            f"the indexed variables are {_listed(variables)}.",
            argument="var_name",
        )
    return variables[var_name]


def _only_whole(variables: dict[str, list[int]], is_whole: Callable[[int], bool]) -> list[int]:
    candidates = [name for name, columns in variables.items() if all(map(is_whole, columns))]
    if len(candidates) == 1:
        return variables[candidates[0]]
    if candidates:
        raise InvalidInputError(
            f"several variables could hold the labels; choose one by var_name=...: "
            f"{_listed(candidates)}."
        )
    raise InvalidInputError(
        "no variable of this table has one index and whole numbers in its first draw; expected "
        "columns such as z.1, z.2, … or z[1], z[2], …. "
        f"The indexed variables are {_listed(variables)}."
    )


def _listed(names: Sequence[str] | dict[str, list[int]]) -> str:
    shown = [repr(str(name)) for name in names]
    more = f" and {len(shown) - 20} more" if len(shown) > 20 else ""
    return (", ".join(shown[:20]) or "none") + more
