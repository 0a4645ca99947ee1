"""The search methods by name. A new method is found everywhere once it stands here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partita._validate import shown
from partita.errors import NotSupportedError, UnknownNameError
from partita.losses.base import Loss
from partita.search.methods import (
    draws,
    enumerate_all,
    evaluation,
    few_items,
    hasse,
    ilp,
    linkage,
    many_labels,
)
from partita.search.task import Candidate, Task

Method = Callable[[Task], Sequence[Candidate]]
"""Proposes partitions; the front door evaluates them and keeps the best."""

ENUMERATED_ITEMS = 8
"""Up to so many items all partitions (at most 4,140) are tried, which is instant and exact."""

MORE_ITEMS, FEW_DRAWS = 10, 1_000
"""Up to so many items (115,975 partitions) too, where few draws or none must be looked at; by
tables of sets of items where draws are many."""


def search_auto(task: Task) -> Sequence[Candidate]:
    """The exact minimum of tiny problems; the others are swept from many starts that agree."""
    n_draws = 0 if task.draws is None or task.loss.uses_similarity else task.draws.n_draws
    most = MORE_ITEMS if n_draws <= FEW_DRAWS else ENUMERATED_ITEMS
    if task.n_items <= most:
        return enumerate_all.search(task)
    exact = few_items.search(task) if task.n_items <= MORE_ITEMS else None
    return many_labels.search(task) if exact is None else exact


def search_brief(task: Task) -> Sequence[Candidate]:
    """The same; but where labels are many, items are not moved on all draws."""
    return search_auto(task) if task.n_items <= MORE_ITEMS else many_labels.search(task, brief=True)


METHODS: dict[str, Method] = {
    "auto": search_auto,
    "brief": search_brief,
    "sweep": many_labels.search,
    "hasse": hasse.search,
    "draws": draws.search,
    "average": linkage.search_average,
    "complete": linkage.search_complete,
    "ilp": ilp.search,
    "enumerate": enumerate_all.search,
}


BY_EVALUATION: dict[str, Method] = {
    "auto": evaluation.search,
    "brief": evaluation.search,
    "draws": draws.search,
}
"""The methods for losses that are no function of the three sums."""


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
