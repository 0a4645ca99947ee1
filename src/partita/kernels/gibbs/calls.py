"""Functions of users' kernels, called by address, so that the loops are compiled once for all.

A kernel is five functions, and all families share their signatures:

- ``add(x, n, block, j)``: take the cells x into the statistics of cluster j, which has n items
  with them; ``remove(x, n, block, j)``: take them out again, leaving n.
- ``refresh(n, block, j)``: fill cluster j's cache from its statistics.
- ``log_predictive(x, k, block, out)``: add the log predictive density of x under each of the
  clusters 0 … k − 1 to ``out``; caches are fresh.
- ``log_marginal(n, block, j)``: the log density of all items of cluster j together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partita.kernels.gibbs.types import Block

_ROW = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
_BLOCK = types.NamedTuple([_ROW, _TABLE, _TABLE, _TABLE, _TABLE], Block)
_N, _J, _NOTHING = types.float64, types.int64, types.none

_ARGUMENTS = {
    "add": (_ROW, _N, _BLOCK, _J),
    "remove": (_ROW, _N, _BLOCK, _J),
    "refresh": (_N, _BLOCK, _J),
    "log_predictive": (_ROW, _J, _BLOCK, _ROW),
    "log_marginal": (_N, _BLOCK, _J),
}
_RESULT = dict.fromkeys(_ARGUMENTS, _NOTHING) | {"log_marginal": types.float64}


def _caller(name: str) -> Any:
    """A compiled function that calls the one at an address; its errors are passed on."""
    arguments, result = _ARGUMENTS[name], _RESULT[name]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        kind = context.call_conv.get_function_type(result, arguments)
        function = builder.inttoptr(args[0], kind.as_pointer())
        status, found = context.call_conv.call_function(
            builder, function, result, arguments, args[1:]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return found

    signature = result(types.int64, *arguments)
    if len(arguments) == 4:

        def typed(typing: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:  # noqa: ARG001
            return signature, build

        return intrinsic(typed)

    def typed_short(typing: Any, address: Any, a: Any, b: Any, c: Any) -> Any:  # noqa: ARG001
        return signature, build

    return intrinsic(typed_short)


call_add = _caller("add")
call_remove = _caller("remove")
call_refresh = _caller("refresh")
call_log_predictive = _caller("log_predictive")
call_log_marginal = _caller("log_marginal")


class CompilationError(TypeError):
    """A function does not compile for its place in a kernel, or returns something else."""


_alive: dict[tuple[str, Callable[..., Any]], tuple[int, Any]] = {}
"""Addresses with the compiled functions, which must not be freed while they may be called."""


def address(name: str, function: Callable[..., Any]) -> int:
    """Where the compiled function stands in this process; compiles it when it is not."""
    if (name, function) in _alive:
        return _alive[name, function][0]
    arguments = _ARGUMENTS[name]
    try:
        dispatcher: Any = function if hasattr(function, "py_func") else numba.njit(function)
        dispatcher.compile(arguments)
    except Exception as error:  # a wrong number of arguments is none of Numba's own
        raise CompilationError(f"{name}: {error}") from error
    compiled = dispatcher.overloads[arguments]
    returned = compiled.signature.return_type
    if returned != _RESULT[name]:
        raise CompilationError(f"{name} returns {returned}; expected {_RESULT[name]}")
    found = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    _alive[name, function] = found, dispatcher
    return found
