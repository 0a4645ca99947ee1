"""Rival answers in a paragraph, for summaries and reports."""

from __future__ import annotations

import numpy as np

from partita._text import in_list
from partita.rivals.result import Representatives


def rivals_in_words(found: Representatives) -> str:
    """Which representatives there are, which chains each holds, which mass, and what differs."""
    if found.n == 1:
        return (
            "One representative is enough for all of the draws, so the chains differ in detail, "
            "not in their answer."
        )
    told = [f"representative {r} has {_mass(found, r)}" for r in range(found.n)]
    differences = [f"{r} differs from 0: {found.explain(r).in_words()}" for r in range(1, found.n)]
    text = f"There are {found.n} rival answers: {'; '.join(told)}. {'. '.join(differences)}."
    if found.chains_are_separate:
        text += (
            " No chain crosses from one to another: their masses say how many chains went where, "
            "not how probable each is."
        )
    return text


def _mass(found: Representatives, number: int) -> str:
    mass = f"{100 * found.weights[number]:.3g}% of the mass"
    owners = found.owners
    if owners is None:
        return mass
    mine = [str(found.chain_names[c]) for c in np.flatnonzero(owners == number)]
    if not mine:
        return f"{mass} and no chain of its own"
    return f"{mass} ({'chain' if len(mine) == 1 else 'chains'} {in_list(mine)})"
