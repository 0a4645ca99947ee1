"""Losses between partitions, as small frozen values, and their expectations."""

from __future__ import annotations

from typing import NamedTuple

# ------------------------------------------------------------------ losses by name


class Home(NamedTuple):
    """Module of a loss and its description in help."""

    module: str
    """Its file in this folder."""
    kind: str
    """Its class, a public name."""


LOSSES = {
    "vi": Home("builtin", "VI"),
    "binder": Home("builtin", "Binder"),
    "vi_lb": Home("builtin", "VILowerBound"),
    "nvi": Home("builtin", "NVI"),
    "id": Home("builtin", "ID"),
    "nid": Home("builtin", "NID"),
    "one_minus_ari": Home("builtin", "OneMinusARI"),
    "one_minus_pear": Home("builtin", "OneMinusPEAR"),
    "faro": Home("builtin", "FARO"),
}
"""Losses that a name alone makes. A new one is found everywhere once it stands here."""

WITH_ARGUMENTS = {
    "entropy": Home("builtin", "Entropy"),
    "additive": Home("user", "Additive"),
}
"""Losses that have to be given something, in brackets or in Python."""


def homes() -> dict[str, str]:
    """Every class of the tables, and its module below ``partita``."""
    rows = (*LOSSES.values(), *WITH_ARGUMENTS.values())
    return {home.kind: f"losses.{home.module}" for home in rows}
