"""Tolerances of comparisons: how far apart two numbers may be that are equal but for rounding."""

from __future__ import annotations

MASS = 1e-9
"""A share of the draws this much below a probability reaches it: sums of up to 1e7 weights."""

DISTANCE = 1e-10
"""Distances in bits that tie: sums of x log2 x round by less than 1e-11 for 1e5 items."""

SUM = 1e-12
"""Relative rounding of a sum of many terms, such as an expected loss."""

LAST_DIGITS = 1e-13
"""Relative rounding of a few operations on exact terms, and of sums that may be 0."""

CLAIM = 1e-9
"""Tolerated violation of a law (metric, linear, …) that a loss claims."""

MATRIX = 1e-8
"""Deviation from symmetry and a unit diagonal that a user's similarity matrix may have."""
