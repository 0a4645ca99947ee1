"""Random numbers from an explicit state: xoshiro256++ and the variates the samplers need.

The state is four words owned by one chain, so that a chain's numbers do not
depend on threads, and a stored state continues exactly where it stopped.
Reference: Blackman and Vigna (2021), Scrambled linear pseudorandom number
generators; Marsaglia and Tsang (2000) for the gamma variates.
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels.arrays import Ints, UInt64s
from partita.kernels.gibbs.jit import Index, inlined, step

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
