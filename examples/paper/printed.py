"""What the paper prints, digit by digit.

Numbers are kept as text, because how many digits were printed matters.

References
----------
Wade and Ghahramani (2018), Bayesian cluster analysis: Point estimation and credible balls,
section 6 and the supplementary material.
"""

from __future__ import annotations

from typing import Literal

LossName = Literal["binder", "vi"]
Row = dict[str, str]
CrossTable = tuple[tuple[int, ...], ...]

ESTIMATE_COLUMNS = {
    "k": "k",
    "misclassified": "N_I",
    "expected_binder": "E[B̃]",
    "binder_to_truth": "B̃ to truth",
    "expected_vi_lb": "E[VI_LB]",
    "expected_vi": "E[VI]",
    "vi_to_truth": "VI to truth",
}
"""Columns of Tables 1 and 2, by the names used in this package."""

BOUND_COLUMNS = {
    "upper_k": "k upper",
    "upper_distance": "d upper",
    "lower_k": "k lower",
    "lower_distance": "d lower",
    "horizontal_k": "k horizontal",
    "horizontal_distance": "d horizontal",
}
"""Columns of Table 3."""

LOSS_TITLES = {"binder": "B̃", "vi": "VI"}


def _row(columns: dict[str, str], text: str) -> Row:
    return dict(zip(columns, text.split(), strict=True))


_EXAMPLE_1: dict[LossName, Row] = {
    "binder": _row(ESTIMATE_COLUMNS, "9 13 0.062 0.045 0.545 0.816 0.643"),
    "vi": _row(ESTIMATE_COLUMNS, "4 9 0.064 0.044 0.426 0.77 0.569"),
}

ESTIMATES: dict[int, dict[LossName, Row]] = {
    1: _EXAMPLE_1,
    2: {
        "binder": _row(ESTIMATE_COLUMNS, "12 18 0.088 0.056 0.846 1.068 0.764"),
        "vi": _row(ESTIMATE_COLUMNS, "4 10 0.093 0.049 0.668 0.99 0.561"),
    },
}
"""Table 1, by example."""

SIZES: dict[int, dict[LossName, Row]] = {
    200: _EXAMPLE_1,
    400: {
        "binder": _row(ESTIMATE_COLUMNS, "17 31 0.068 0.052 0.674 1.0 0.769"),
        "vi": _row(ESTIMATE_COLUMNS, "4 18 0.073 0.044 0.505 0.933 0.54"),
    },
    800: {
        "binder": _row(ESTIMATE_COLUMNS, "24 62 0.068 0.061 0.615 1.016 0.903"),
        "vi": _row(ESTIMATE_COLUMNS, "4 47 0.069 0.056 0.477 0.943 0.742"),
    },
    1600: {
        "binder": _row(ESTIMATE_COLUMNS, "41 93 0.058 0.044 0.551 0.898 0.719"),
        "vi": _row(ESTIMATE_COLUMNS, "4 49 0.0596 0.045 0.403 0.814 0.629"),
    },
}
"""Table 2: Example 1, by number of items."""

BOUNDS: dict[int, dict[LossName, Row]] = {
    1: {
        "binder": _row(BOUND_COLUMNS, "4 0.097 18 0.097 11 0.097"),
        "vi": _row(BOUND_COLUMNS, "4 1.02 16 1.152 11 1.213"),
    },
    2: {
        "binder": _row(BOUND_COLUMNS, "4 0.137 19 0.131 10 0.137"),
        "vi": _row(BOUND_COLUMNS, "3 1.043 16 1.342 6 1.403"),
    },
}
"""Table 3, by example."""

GALAXY_COLUMNS = {
    name: ESTIMATE_COLUMNS[name]
    for name in ("k", "expected_binder", "expected_vi_lb", "expected_vi")
}

GALAXY_ESTIMATES: dict[LossName, Row] = {
    "binder": _row(GALAXY_COLUMNS, "7 0.218 0.746 1.014"),
    "vi": _row(GALAXY_COLUMNS, "3 0.237 0.573 0.939"),
}
"""Table 4."""

GALAXY_BOUNDS: Row = _row(BOUND_COLUMNS, "2 1.364 15 1.669 8 1.832")
"""Table 5, under VI."""

GALAXY_TEXT = {"partitions": "9636", "singletons": "4", "radius": "1.832"}
"""Said in section 6.2: distinct partitions among the draws, singletons of Binder's estimate."""

EXAMPLE_1_TEXT = {"visited twice": "1", "visited more often": "0"}
"""Said in section 6.1: partitions of Example 1 by how often the sampler visited them."""

LATTICE_HEIGHTS: dict[LossName, tuple[str, ...]] = {
    "vi": ("0", "0.811", "1", "1.5", "2"),
    "binder": ("0", "0.375", "0.5", "0.625", "0.75"),
}
"""Scales of Figures 2 and 3: distances from one cluster of the partitions of four items."""


def _table(text: str) -> CrossTable:
    return tuple(tuple(int(n) for n in line.split()) for line in text.strip().splitlines())


TRUTH_TABLES: dict[tuple[int, LossName, str], CrossTable] = {
    (1, "binder", "estimate"): _table("""
        41 1 0 0 0 0 1 0 1
        1 52 0 0 1 0 0 0 0
        1 0 44 3 1 0 0 0 0
        0 1 0 0 50 1 0 1 0"""),
    (1, "vi", "estimate"): _table("""
        42 2 0 0
        1 52 0 1
        1 0 45 3
        0 1 0 52"""),
    (2, "binder", "estimate"): _table("""
        44 0 0 0 0 0 0 0 0 0 0 0
        0 0 0 0 0 1 0 53 0 0 0 0
        0 0 0 45 2 0 0 0 1 1 0 0
        0 1 1 2 2 40 2 3 0 0 1 1"""),
    (2, "vi", "estimate"): _table("""
        44 0 0 0
        0 53 0 1
        0 0 47 2
        0 4 3 46"""),
    (1, "binder", "upper"): _table("""
        43 1 0 0
        0 52 0 2
        1 0 29 19
        1 2 0 50"""),
    (1, "binder", "lower"): _table("""
        39 3 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0 0
        0 43 0 0 0 0 0 1 1 3 0 5 1 0 0 0 0 0
        2 0 40 1 2 0 0 0 0 0 0 0 0 2 1 0 0 1
        0 1 0 0 23 1 1 20 0 0 1 2 0 0 2 1 1 0"""),
    (1, "binder", "horizontal"): _table("""
        41 1 0 0 0 1 0 0 1 0 0
        0 36 0 1 0 11 2 0 4 0 0
        1 0 43 0 2 1 0 1 0 0 1
        0 0 3 4 42 0 3 0 0 1 0"""),
    (1, "vi", "upper"): _table("""
        40 2 2 0
        0 52 0 2
        1 0 43 5
        0 6 4 43"""),
    (1, "vi", "lower"): _table("""
        27 3 12 0 0 0 0 0 1 0 1 0 0 0 0 0
        1 43 0 0 0 1 4 0 1 0 0 3 1 0 0 0
        0 0 0 44 1 1 0 0 0 1 0 0 0 1 0 1
        0 0 0 0 0 45 1 6 0 0 0 0 0 0 1 0"""),
    (1, "vi", "horizontal"): _table("""
        35 1 2 0 0 0 4 0 1 0 1
        1 50 0 0 0 1 0 0 1 1 0
        0 0 0 15 32 1 1 0 0 0 0
        0 2 0 0 4 21 1 25 0 0 0"""),
    (2, "binder", "upper"): _table("""
        44 0 0 0
        0 25 29 0
        0 3 0 46
        0 49 1 3"""),
    (2, "binder", "lower"): _table("""
        44 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
        0 34 0 0 10 1 1 4 0 3 0 0 1 0 0 0 0 0 0
        0 0 39 0 0 0 0 0 0 0 0 2 0 6 0 1 0 0 1
        0 1 17 1 1 14 0 3 11 0 1 0 0 0 1 0 2 1 0"""),
    (2, "binder", "horizontal"): _table("""
        44 0 0 0 0 0 0 0 0 0
        0 42 0 2 2 3 2 1 2 0
        0 1 24 23 0 0 0 0 1 0
        0 2 1 30 3 14 0 0 0 3"""),
    (2, "vi", "upper"): _table("""
        44 0 0
        0 53 1
        1 1 47
        0 36 17"""),
    (2, "vi", "lower"): _table("""
        43 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0
        0 42 0 0 0 1 1 3 4 0 0 0 1 0 1 1
        0 0 41 0 0 0 0 0 0 4 1 1 0 2 0 0
        0 0 3 2 1 27 2 4 13 0 0 0 0 0 1 0"""),
    (2, "vi", "horizontal"): _table("""
        43 1 0 0 0 0
        0 53 0 0 1 0
        0 1 26 21 0 1
        0 11 2 28 12 0"""),
}
"""Supplement: true clusters (rows) against estimates and bounds, by example, loss and partition."""

GALAXY_TABLES: dict[str, CrossTable] = {
    "upper": _table("""
        7 0
        30 42
        3 0"""),
    "lower": _table("""
        2 1 3 1 0 0 0 0 0 0 0 0 0 0 0
        2 0 0 0 1 11 1 50 3 1 1 1 1 0 0
        0 0 0 0 0 0 0 0 0 0 0 0 0 2 1"""),
    "horizontal": _table("""
        7 0 0 0 0 0 0 0
        6 1 31 1 28 4 1 0
        0 0 0 0 0 0 1 2"""),
}
"""Supplement: the VI estimate of the galaxies (rows) against the bounds of its ball."""
