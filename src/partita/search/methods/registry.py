"""The search methods by name. A new method is found everywhere once it stands here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partita.errors import UnknownNameError
from partita.search.methods import auto, draws, enumerate_all, hasse, ilp, linkage, sweep
from partita.search.task import Candidate, Task

Method = Callable[[Task], Sequence[Candidate]]
"""Proposes partitions; the front door evaluates them and keeps the best."""

METHODS: dict[str, Method] = {
    "auto": auto.search,
    "sweep": sweep.search,
    "hasse": hasse.search,
    "draws": draws.search,
    "average": linkage.search_average,
    "complete": linkage.search_complete,
    "ilp": ilp.search,
    "enumerate": enumerate_all.search,
}


def as_method(name: str) -> Method:
    """A method by its name."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    known = ", ".join(repr(m) for m in METHODS)
    raise UnknownNameError(f"unknown method {name!r}; expected one of {known}.")
