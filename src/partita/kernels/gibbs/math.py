"""Logarithm and exponential in plain arithmetic, so that loops over clusters vectorise.

A call into the C library is scalar and ends vectorisation; these run four or
eight clusters at a time, and give the same bits on every machine. Errors are
below 1 ulp (log) and 2 ulp (exp). The logarithm follows the classical fdlibm scheme.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from partita.kernels.gibbs.jit import Index, inlined

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
