"""Draws of feature allocations of which much is known."""

from __future__ import annotations

import partita as pt

F5 = [[{0, 1}, {2}], [{0, 1}, {2, 3}], [{0}, {2, 3}], [{0, 1, 2}, {3}], [{0, 1}, {1, 2}, {3}]]
"""The five draws of four items of which every distance and minimum is known."""


def f5(**fields):
    return pt.FeatureDraws.from_sets(F5, n_items=4, **fields)
