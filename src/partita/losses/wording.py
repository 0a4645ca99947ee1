"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Sequence


def in_list(names: Sequence[str]) -> str:
    """Names as one reads them: "a", "a and b", "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(share: float) -> str:
    """A share as a percentage of at most two digits."""
    return "under 1%" if 0.0 < share < 0.01 else f"{100 * share:.0f}%"
