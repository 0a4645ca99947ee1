"""Arrays with named dimensions: xarray, and ArviZ objects of both generations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._dask import current_client
from partita.errors import FileFormatError, InvalidInputError
from partita.io.collect import collect, rows_per_block
from partita.io.ids import clean_ids
from partita.partitions.draws import Draws

_DRAW_NAMES = ("draw", "sample", "iteration")
CHAIN_FROM, WEIGHTED, KIND = "partita_chain", "partita_weighted", "partita_kind"
"""Attributes of arrays that partita wrote: where chain ids are, whether draws weigh, their kind."""


def draws_from_named(
    obj: Any, *, var_name: str | None = None, check: Callable[[str, str], None] | None = None
) -> Draws:
    """Draws from a DataArray, Dataset, DataTree or InferenceData, by dimension name.

    ``check`` is called with the group and the name of each stored array before it is read.
    """
    kinds = {cls.__name__ for cls in type(obj).__mro__}
    if "DataArray" in kinds:
        if var_name is not None and var_name != obj.name:
            raise InvalidInputError(
                f"var_name={var_name!r} was given for a DataArray named {obj.name!r}; a "
                "DataArray is a single variable.",
                argument="var_name",
            )
        return _draws_from_array(obj)
    if "Dataset" in kinds:
        return _draws_from_array(_choose(obj, var_name))
    group, posterior, stats = posterior_of(obj)
    array = _choose(posterior, var_name)
    if check is not None:
        chain, _, item = _dims(array)
        for name in (array.name, *({chain, item} & set(array.coords))):
            check(group, str(name))
    if CHAIN_FROM in array.attrs:
        return _draws_of_partita(array, stats, check)
    return _draws_from_array(array)


def posterior_of(tree: Any) -> tuple[str, Any, Any]:
    """The group of the posterior, its Dataset, and that of the sample statistics."""
    names = list(tree.children) if hasattr(tree, "children") else list(tree.groups())
    posterior, stats = (
        getattr(tree[name], "dataset", tree[name]) if name in names else None
        for name in ("posterior", "sample_stats")
    )
    if posterior is None:
        root = getattr(tree, "dataset", None)
        if root is None or not len(root.data_vars):
            raise InvalidInputError(
                f"there is no group 'posterior'; the groups are {', '.join(names) or 'none'}. "
                "Pass the Dataset that holds the labels."
            )
        return "", root, stats
    return "posterior", posterior, stats


def named_dims(array: Any) -> tuple[str | None, list[str], list[str]]:
    """The chain dimension if there is one, the dimensions named as draws are, and all others."""
    dims = [str(dim) for dim in array.dims]
    draw = [dim for dim in dims if dim in _DRAW_NAMES]
    rest = [dim for dim in dims if dim != "chain" and dim not in draw]
    return ("chain" if "chain" in dims else None), draw, rest


def _dims(array: Any) -> tuple[str | None, str, str]:
    """Names of the chain, draw and item dimensions."""
    chain, draw, item = named_dims(array)
    if len(draw) != 1 or len(item) != 1:
        raise InvalidInputError(
            f"the dimensions are ({', '.join(map(str, array.dims))}); expected (chain, draw, "
            "item), (draw, item) or (sample, item) in any order, with 'chain' and 'draw' or "
            "'sample' so named and any name for the item. Rename them with .rename(...)."
        )
    return chain, draw[0], item[0]


def _fits(array: Any) -> bool:
    """Whether labels could be in this variable: the right dimensions, whole in the first draw."""
    try:
        chain, draw, _ = _dims(array)
    except InvalidInputError:
        return False
    if array.dtype.kind in "iub":
        return True
    if array.dtype.kind != "f" or 0 in array.shape:
        return False
    first = array.isel({dim: 0 for dim in (chain, draw) if dim}).values
    return bool((first == np.floor(first)).all())


def _choose(dataset: Any, var_name: str | None) -> Any:
    names = [str(name) for name in dataset.data_vars]
    if var_name is not None:
        if var_name not in names:
            raise InvalidInputError(
                f"there is no variable {var_name!r}; "
                f"the variables are {', '.join(names) or 'none'}."
            )
        return dataset[var_name]
    candidates = [name for name in names if _fits(dataset[name])]
    if len(candidates) == 1:
        return dataset[candidates[0]]
    problem = (
        f"several variables could hold the labels: {', '.join(candidates)}"
        if candidates
        else "no variable has the dimensions (chain, draw, item) and whole numbers"
    )
    raise InvalidInputError(
        f"{problem}. Choose one with var_name=...; the variables are {', '.join(names) or 'none'}."
    )


def _draws_from_array(array: Any) -> Draws:
    chain, draw, item = _dims(array)
    n_draws = array.sizes[draw]
    ids: NDArray[Any] | None = None
    if chain is not None:
        per_chain = array["chain"].values
        ids = np.repeat(clean_ids(np.asarray(per_chain)), n_draws)
    elif "chain" in array.coords and array.coords["chain"].dims == (draw,):
        ids = clean_ids(np.asarray(array.coords["chain"].values))
    rows = n_draws * (array.sizes[chain] if chain else 1)
    names = item_names(array, item)
    client = None if array.chunks is None else current_client()
    if client is not None:
        from partita.io.on_workers import draws_on_workers

        order = [dim for dim in (chain, draw, item) if dim]
        labels = array.transpose(*order).data.reshape(-1, array.sizes[item])
        return draws_on_workers(labels, client, chain=ids, item_names=names)
    blocks = _blocks(array, chain, draw, item)
    return collect(blocks, array.sizes[item], expected=rows, chain=ids, item_names=names)


def _blocks(array: Any, chain: str | None, draw: str, item: str) -> Iterator[NDArray[Any]]:
    """Rows in blocks, so that a file-backed or dask array is never loaded whole."""
    step = rows_per_block(array.sizes[item])
    parts = (
        [array] if chain is None else [array.isel({chain: i}) for i in range(array.sizes[chain])]
    )
    for part in parts:
        for start in range(0, array.sizes[draw], step):
            yield part.isel({draw: slice(start, start + step)}).transpose(draw, item).values


def item_names(array: Any, item: str) -> list[str] | None:
    """The coordinate of the items, unless it only counts them."""
    if item not in array.coords:
        return None
    values = array.coords[item].values
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(values.size)):
        return None
    return [str(value) for value in values.tolist()]


def _draws_of_partita(array: Any, stats: Any, check: Any) -> Draws:
    """What ``write_draws`` wrote: with weights, and with chains of any shape or none."""
    from partita.partitions.convert import with_fields

    draws = _draws_from_array(array)
    source = array.attrs[CHAIN_FROM]
    # Files written before the attribute was have weights where there are any.
    weighted = array.attrs.get(WEIGHTED, int(stats is not None and "weight" in stats))
    if not weighted and stats is not None and "weight" in stats:
        raise FileFormatError(
            "the labels say that draws have no weights, and the group sample_stats has some. Copy "
            "or write the file again."
        )
    weights = _statistic(stats, "weight", check) if weighted else None
    kind = array.attrs.get(KIND, "posterior")
    if source == "dimension":
        return with_fields(draws, weights=weights, kind=kind)
    chain = None if source == "none" else clean_ids(_statistic(stats, "chain_id", check))
    return draws._with(weights=weights, chain=chain, kind=kind)


def _statistic(stats: Any, name: str, check: Any) -> NDArray[Any]:
    if stats is None or name not in stats:
        raise FileFormatError(
            f"the labels were written with {name!r} in the group sample_stats, which is not there. "
            "Copy or write the file again."
        )
    if check is not None:
        check("sample_stats", name)
    return np.asarray(stats[name].values.ravel())
