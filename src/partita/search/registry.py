"""The search methods by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partita._validate import shown
from partita.errors import NotSupportedError, UnknownNameError
from partita.losses.base import Loss
from partita.search import best_draw, blackbox, exact, hasse, ilp, large, linkage, settings
from partita.search.task import Candidate, Task

Method = Callable[[Task], Sequence[Candidate]]
"""Proposes partitions; `estimate` evaluates them and keeps the best."""


def search_auto(task: Task) -> Sequence[Candidate]:
    """The exact minimum of few items; iterated local search for more."""
    found = exact.search_few(task) if task.n_items <= settings.EXACT_ITEMS else None
    return large.search(task) if found is None else found


def search_brief(task: Task) -> Sequence[Candidate]:
    """The same; but where labels are many, items are not moved on all draws."""
    return (
        search_auto(task)
        if task.n_items <= settings.EXACT_ITEMS
        else large.search(task, brief=True)
    )


METHODS: dict[str, Method] = {
    "auto": search_auto,
    "brief": search_brief,
    "sweep": large.search,
    "hasse": hasse.search,
    "draws": best_draw.search,
    "average": linkage.search_average,
    "complete": linkage.search_complete,
    "ilp": ilp.search,
    "enumerate": exact.search,
}


BY_EVALUATION: dict[str, Method] = {
    "auto": blackbox.search,
    "brief": blackbox.search,
    "draws": best_draw.search,
}
"""The methods for losses that are not a function of the three sums."""


def as_method(name: str, loss: Loss) -> Method:
    """A method by its name, for a loss."""
    if isinstance(name, str) and name in METHODS:
        if loss.form(1) is not None:
            return METHODS[name]
        if name in BY_EVALUATION:
            return BY_EVALUATION[name]
        raise NotSupportedError(
            f"method={name!r} needs a loss of cluster sizes and their intersections, and "
            f"{loss!r} is measured by evaluation; use method='auto' or 'draws'.",
            argument="method",
        )
    known = ", ".join(repr(m) for m in METHODS)
    raise UnknownNameError(
        f"unknown method {shown(name)}; expected one of {known}.", argument="method"
    )
