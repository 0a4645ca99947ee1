"""What draws, and what is said of them, are called: by kind, in one place.

Draws of a posterior have probabilities and chains; the runs of an ensemble have shares; draws that
were tilted (``Draws.reweighted``) have weights that are not those of the posterior. Texts that
depend on it take their words from here, by ``words(draws.kind)``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["posterior", "ensemble", "tilted"]


class Words(NamedTuple):
    """The words of one kind; where there are braces, a number or a name goes."""

    draw: str
    draws: str
    of_all: str
    """After a share: of what it is."""
    source: str
    """What the rows come from."""
    expected: str
    """Of a loss: averaged over the rows."""
    mean_of: str
    """A loss averaged over the rows, in a heading."""
    ball: str
    core: str
    level: str
    """What chooses the size of a ball."""
    lies: str
    """The sentence on the ball up to "within"."""
    probability: str
    """Of an event: the weight of the rows in which it occurs."""
    posterior_probability: str
    event: str
    """The weight of an event, in a heading."""
    together: str
    """The weight of the rows in which two items are in one cluster."""
    together_with: str
    """What comes before that weight."""
    holding: str
    """In how much of the rows something holds."""
    error: str
    order_holds: str
    """All differences exceed two standard errors."""
    unsettled: str
    """No number of clusters has nearly all rows."""
    truth: str
    """What is asked of the ball."""
    could_be: str
    fact: str
    """What is asked of the core."""


_WORDS: dict[str, Words] = {
    "posterior": Words(
        draw="draw",
        draws="draws",
        of_all="of the draws",
        source="posterior",
        expected="expected",
        mean_of="E[{}]",
        ball="credible ball",
        core="credible core",
        level="Credible probability",
        lies="With {} posterior probability the clustering lies",
        probability="probability",
        posterior_probability="posterior probability",
        event="P({})",
        together="probability of being in one cluster",
        together_with="together with probability",
        holding="with probability {}",
        error="standard error",
        order_holds="More draws would hardly change this order.",
        unsettled="The posterior does not settle the number of clusters.",
        truth="Where could the truth be?",
        could_be="what the clustering could still be",
        fact="Items whose grouping is certain enough",
    ),
    "ensemble": Words(
        draw="run",
        draws="runs",
        of_all="of the runs",
        source="ensemble",
        expected="mean",
        mean_of="mean {}",
        ball="ball",
        core="core",
        level="Share of the runs",
        lies="{} of the runs lie",
        probability="share of the runs",
        posterior_probability="share of the runs",
        event="Share {}",
        together="share of the runs with both in one cluster",
        together_with="together, share of the runs",
        holding="in {} of the runs",
        error="standard error over the runs",
        order_holds="Each difference exceeds two standard errors over the runs.",
        unsettled="The runs do not agree on the number of clusters.",
        truth="How far apart are the runs?",
        could_be="the extremes among the runs inside",
        fact="What nearly all runs share",
    ),
    "tilted": Words(
        draw="draw",
        draws="draws",
        of_all="of the tilted weight",
        source="tilted draws",
        expected="tilted mean",
        mean_of="mean {}",
        ball="ball",
        core="core",
        level="Share of the tilted weight",
        lies="Draws with {} of the tilted weight lie",
        probability="share of the tilted weight",
        posterior_probability="share of the tilted weight",
        event="Share {}",
        together="share of the tilted weight with both in one cluster",
        together_with="together, share of the tilted weight",
        holding="in draws with {} of the tilted weight",
        error="standard error",
        order_holds="More draws would hardly change this order.",
        unsettled="The tilted draws do not settle the number of clusters.",
        truth="How far apart are the tilted draws?",
        could_be="the extremes among the draws inside",
        fact="What nearly all of the tilted weight shares",
    ),
}

KINDS: tuple[Kind, ...] = ("posterior", "ensemble", "tilted")


def words(kind: Kind) -> Words:
    """The words for draws of that kind.

    Examples
    --------
    >>> from partita._vocabulary import words
    >>> words("ensemble").lies.format("95%")
    '95% of the runs lie'
    """
    return _WORDS[kind]


def origin_in_words(origin: str, kind: Kind) -> str:
    """Where a search began, as it is called: at a draw, or at a run."""
    return words(kind).draw if origin == "draw" else origin
