"""Building blocks of the samplers' loops: tuples of arrays, decorators, arithmetic, random numbers.

A model is a list of column blocks, each of one family. A row of ``blocks`` says where a
block's numbers stand; its entries are named below. Clusters live in a store, side by side:
column j belongs to the cluster at position j, so that a loop over clusters runs over
neighbours in memory. Row 0 is the number of items, row 1 the log prior weight of joining.

Logarithm and exponential in plain arithmetic, so that loops over clusters vectorise.

A call into the C library is scalar and ends vectorisation; these run four or
eight clusters at a time, and give the same bits on every machine. Errors are
below 1 ulp (log) and 2 ulp (exp). The logarithm follows the classical fdlibm scheme.

Random numbers from an explicit state: xoshiro256++ and the variates the samplers need.

The state is four words owned by one chain, so that a chain's numbers do not
depend on threads, and a stored state continues exactly where it stopped.
Reference: Blackman and Vigna (2021), Scrambled linear pseudorandom number
generators; Marsaglia and Tsang (2000) for the gamma variates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from partita.kernels._jit import _compile
from partita.kernels.arrays import Floats, Ints, UInt64s

Random = UInt64s


class Layout(NamedTuple):
    """Entries of a row of ``blocks``: where a block's numbers stand.

    first, n_columns : columns of the data. counter : row of the store that counts the block's
    items, 0 unless cells are missing and the family does not count its own. stats, n_stats, cache,
    n_cache : rows of the store. hyper … n_tables : hyperparameters and tables. address : of the
    five functions of the block's kernel, from here on; see ``family.py``.
    """

    family: int
    first: int
    n_columns: int
    counter: int
    stats: int
    n_stats: int
    cache: int
    n_cache: int
    hyper: int
    n_hyper: int
    tables: int
    n_tables: int
    address: int


AT = Layout(*range(13))
WIDTH = AT.address + 5


class Families(NamedTuple):
    """Codes of the families."""

    normal: int
    wishart: int
    categorical: int
    poisson: int
    incomplete: int
    user: int


CODE = Families(*range(6))


class Rates(NamedTuple):
    """Rates of normal columns that are learned: block, column in it, and their gamma priors."""

    block: Ints
    column: Ints
    shape: Floats
    rate: Floats


class Likelihood(NamedTuple):
    """Data, columns of a block side by side, and the blocks' constants.

    A store has ``n_rows`` rows, and scratch beside it ``n_work``.
    """

    data: Floats
    blocks: Ints
    hyper: Floats
    tables: Floats
    n_rows: int
    n_work: int
    rates: Rates


class Block(NamedTuple):
    """One column block as its family's functions see it.

    hyper : hyperparameters. tables : one row per table, by a cluster's number of items.
    stats, cache : one row per number, one column per cluster. work : scratch of that width.
    """

    hyper: Floats
    tables: Floats
    stats: Floats
    cache: Floats
    work: Floats


class Prior(NamedTuple):
    """A prior for N items; see ``prior.py``.

    ``log_size[0]`` is 0, ``shape`` 0 for a fixed parameter. ``components`` are the log
    probabilities of K = 0, 1, … components, of which ``n_terms`` from K = k on count; empty for
    priors without. ``dynamic``: the Dirichlet weight is α/K. ``is_f``: shape and rate are the
    degrees of freedom of an F distribution.
    """

    sigma: float
    log_size: Floats
    log_block: Floats
    open_table: Floats
    shape: float
    rate: float
    components: Floats = np.empty(0)
    n_terms: int = 0
    dynamic: bool = False
    is_f: bool = False


class Parameters(NamedTuple):
    """Parameters learned beside the partitions, draw by draw.

    The prior's parameter and the number of components, (n_draws,), and rates, (n_draws, n_rates).
    """

    prior: Floats
    components: Ints
    rates: Floats

    def of(self, draws: slice | Ints) -> Parameters:
        """The parameters of some draws."""
        return Parameters(self.prior[draws], self.components[draws], self.rates[draws])


class Clusters(NamedTuple):
    """The clusters of a chain, and scratch as wide as their store.

    Items carry the ``names`` of their clusters. Names stay, positions close up when a cluster
    dies: ``name_at`` is a permutation of all names, those of the living clusters at their
    positions, then the free ones; ``position_of`` is its inverse.
    """

    names: Ints
    store: Floats
    work: Floats
    weights: Floats
    name_at: Ints
    position_of: Ints


class Proposal(NamedTuple):
    """A split or merge under way: its two halves and the merged cluster, and the items in it."""

    halves: Floats
    members: Ints
    side: Ints


class Plan(NamedTuple):
    """Iterations first + 1 … last of a chain, and what each of them does."""

    first: int
    last: int
    burn_in: int
    thin: int
    n_sweeps: int
    n_split_merge: int


P = ParamSpec("P")
R = TypeVar("R")

Index = int | np.int64
"""Positions and counts. A constant is written ``np.int64(0)``, because Numba compiles a function
anew for a literal argument."""


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without reference counting, which would cost more than the arithmetic.

    For functions that neither make nor return arrays.
    """
    return _compile(function, _nrt=False)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like a step, into its caller: for what runs once per item or more often."""
    return _compile(function, _nrt=False, forceinline=True)


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
def table_rows(typing: Any, table: Any, first: Any, n: Any) -> Any:  # noqa: ARG001
    """Rows first … first + n − 1 of a table."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        source = make_array(_TABLE)(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, source.shape, 2)[1]
        data = builder.gep(source.data, [builder.mul(args[1], width)])
        return _view(context, builder, _TABLE, data, [args[2], width])

    return _TABLE(_TABLE, types.int64, types.int64), build


@intrinsic
def row_part(typing: Any, row: Any, first: Any, n: Any) -> Any:  # noqa: ARG001
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
        row_part(model.hyper, blocks[b, AT.hyper], blocks[b, AT.n_hyper]),
        table_rows(model.tables, blocks[b, AT.tables], blocks[b, AT.n_tables]),
        table_rows(store, blocks[b, AT.stats], blocks[b, AT.n_stats]),
        table_rows(store, blocks[b, AT.cache], blocks[b, AT.n_cache]),
        work,
    )


_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOG2_E = 1.44269504088896338700
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves a rounded integer in the low bits
_MANTISSA = 4503599627370496.0  # 2⁵²
_MANTISSA_BITS = 0x4330000000000000
_ONE_BITS = 0x3FF0000000000000
_TO_SQRT_HALF = _ONE_BITS - 0x3FE6A09E667F3BCD

LANES = 8
"""Loops over clusters run to a multiple of this, because a scalar rest would take as long as the
vector part. A store has room for it; what stands in columns without a cluster is computed and
ignored."""


TILE = 64
"""Items whose densities are computed side by side, in the sweep given parameters."""


@intrinsic
def _bits(typing: Any, x: Any) -> Any:  # noqa: ARG001
    """The 64 bits of a float as an integer."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), build


@intrinsic
def _float(typing: Any, bits: Any) -> Any:  # noqa: ARG001
    """The float with these 64 bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), build


@inlined
def full_lanes(k: Index) -> Index:
    """The multiple of LANES at or above k."""
    return (k + LANES - 1) // LANES * LANES


@inlined
def log(x: float) -> float:
    """Natural logarithm of a positive, finite, not subnormal x."""
    bits = _bits(x)
    biased = (bits + _TO_SQRT_HALF) >> 52
    exponent = _float(biased | _MANTISSA_BITS) - (_MANTISSA + 1023.0)
    f = _float(bits - ((biased - 1023) << 52)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    r = 2.222219843214978396e-01 + z * (
        1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    )
    r = z * (
        6.666666666666735130e-01
        + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 + z * r))
    )
    half = 0.5 * f * f
    return float(exponent * _LN2_HIGH - (half - (s * (half + r) + exponent * _LN2_LOW) - f))


@inlined
def exp(x: float) -> float:
    """Exponential of −700 ≤ x ≤ 700."""
    shifted = x * _LOG2_E + _ROUND
    whole = shifted - _ROUND
    r = x - whole * _LN2_HIGH - whole * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    # Taylor polynomial of degree 13 on |r| ≤ log(2)/2, in pairs, to shorten the chain of sums.
    low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0))
    middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0))
    high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0))
    top = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
    value = low + r4 * (middle + r4 * (high + r4 * top))
    return float(value * _float((_bits(shifted) + 1023) << 52))


_UNIT = 1.0 / 9007199254740992.0
_TINY = 1e-300


@inlined
def next_bits(state: UInt64s) -> np.uint64:
    """64 random bits; advances the state."""
    s0 = state[0]
    s1 = state[1]
    s2 = state[2]
    s3 = state[3]
    mixed = s0 + s3
    bits = ((mixed << np.uint64(23)) | (mixed >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    state[0] = s0
    state[1] = s1
    state[2] = s2
    state[3] = s3
    return np.uint64(bits)


@inlined
def uniform(state: UInt64s) -> float:
    """Uniform on [0, 1)."""
    return np.float64(next_bits(state) >> np.uint64(11)) * _UNIT


@step
def below(state: UInt64s, n: Index) -> Index:
    """A whole number 0 … n − 1; the bias is below n/2⁵³."""
    return int(uniform(state) * n)


@step
def normal(state: UInt64s) -> float:
    """Standard normal, by the polar method."""
    while True:
        a = 2.0 * uniform(state) - 1.0
        b = 2.0 * uniform(state) - 1.0
        square = a * a + b * b
        if 0.0 < square < 1.0:
            return a * math.sqrt(-2.0 * math.log(square) / square)


@step
def gamma(state: UInt64s, shape: float) -> float:
    """Gamma with the given shape and rate 1; positive even where the exact value underflows."""
    boost = 1.0
    if shape < 1.0:
        boost = math.pow(1.0 - uniform(state), 1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = normal(state)
        v = 1.0 + c * z
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(state)
        if math.log(u) < 0.5 * z * z + d - d * v + d * math.log(v):
            return max(boost * d * v, _TINY)


@step
def shuffle(state: UInt64s, items: Ints, n: Index) -> None:
    """Put the first n items into uniformly random order."""
    for last in range(n - 1, 0, -1):
        other = below(state, last + 1)
        items[last], items[other] = items[other], items[last]
