"""One timed job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Setup = Callable[[], Callable[[], Any]]
"""Prepares everything that is not timed, and returns what is."""


@dataclass(frozen=True)
class Job:
    """What to time, and what to compare it with.

    Attributes
    ----------
    name : str
        What is done, with its size.
    setup : callable
        Returns the call to time. That is made once before timing, to compile.
    target_u : float, optional
        Yardstick units we want to stay below.
    peer : str, optional
        Key of the same job in ``peers.toml``.
    baseline : callable, optional
        Setup of a competitor that is timed here and now; the target is to be no slower.
    show : callable, optional
        Text for the table from what the timed call returned, such as a loss reached.
    """

    name: str
    setup: Setup
    target_u: float | None = None
    peer: str | None = None
    baseline: Setup | None = None
    show: Callable[[Any], str] | None = None
