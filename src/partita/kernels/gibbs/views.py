"""Views into arrays without bounds, copies or reference counts: a few additions each."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.jit import Index, inlined
from partita.kernels.gibbs.types import (
    CACHE,
    HYPER,
    N_CACHE,
    N_HYPER,
    N_STATS,
    N_TABLES,
    STATS,
    TABLES,
    Block,
    Likelihood,
)

_ROW = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
_BYTES = 8


def _view(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """A C-contiguous array of that shape at a pointer; it owns nothing."""
    word = shape[0].type
    strides = [word(_BYTES)] if len(shape) == 1 else [builder.mul(shape[1], word(_BYTES)), word(8)]
    view = make_array(kind)(context, builder)
    populate_array(view, data, shape, strides, word(_BYTES), None)
    return view._getvalue()


@intrinsic
def _rows(typing: Any, table: Any, first: Any, n: Any) -> Any:  # noqa: ARG001
    """Rows first … first + n − 1 of a table."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        source = make_array(_TABLE)(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, source.shape, 2)[1]
        data = builder.gep(source.data, [builder.mul(args[1], width)])
        return _view(context, builder, _TABLE, data, [args[2], width])

    return _TABLE(_TABLE, types.int64, types.int64), build


@intrinsic
def _part(typing: Any, row: Any, first: Any, n: Any) -> Any:  # noqa: ARG001
    """Entries first … first + n − 1 of a row."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        source = make_array(_ROW)(context, builder, args[0])
        data = builder.gep(source.data, [args[1]])
        return _view(context, builder, _ROW, data, [args[2]])

    return _ROW(_ROW, types.int64, types.int64), build


@intrinsic
def cells(typing: Any, table: Any, i: Any, first: Any, n: Any) -> Any:  # noqa: ARG001
    """Entries first … first + n − 1 of row i of a table."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        source = make_array(_TABLE)(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, source.shape, 2)[1]
        at = builder.add(builder.mul(args[1], width), args[2])
        return _view(context, builder, _ROW, builder.gep(source.data, [at]), [args[3]])

    return _ROW(_TABLE, types.int64, types.int64, types.int64), build


@inlined
def block_of(model: Likelihood, b: Index, store: Floats, work: Floats) -> Block:
    """Block b of a model, its statistics in that store."""
    blocks = model.blocks
    return Block(
        _part(model.hyper, blocks[b, HYPER], blocks[b, N_HYPER]),
        _rows(model.tables, blocks[b, TABLES], blocks[b, N_TABLES]),
        _rows(store, blocks[b, STATS], blocks[b, N_STATS]),
        _rows(store, blocks[b, CACHE], blocks[b, N_CACHE]),
        work,
    )
