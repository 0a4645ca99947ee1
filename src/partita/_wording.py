"""Numbers, nouns and the words for draws and ensembles, as every page and figure writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple
from unicodedata import category


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 item, 2,000 items.

    Examples
    --------
    >>> from partita._wording import counted
    >>> counted(1, "cluster"), counted(2039, "cluster")
    ('1 cluster', '2,039 clusters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def counts(numbers: Sequence[int], noun: str) -> str:
    """Several numbers before their noun, equal ones once.

    Examples
    --------
    >>> from partita._wording import counts
    >>> counts([2, 3], "cluster"), counts([2, 2], "cluster"), counts([1], "cluster")
    ('2, 3 clusters', '2 clusters', '1 cluster')
    """
    if len(set(numbers)) == 1:
        return counted(numbers[0], noun)
    listed = ", ".join(f"{number:,}" for number in numbers)
    return f"{listed} {noun}s"


def span(low: int, high: int, noun: str) -> str:
    """A range of numbers before its noun: 4 to 10 clusters, 1 cluster.

    Examples
    --------
    >>> from partita._wording import span
    >>> span(4, 10, "cluster"), span(1, 1, "cluster")
    ('4 to 10 clusters', '1 cluster')
    """
    return counted(low, noun) if low == high else f"{low:,} to {counted(high, noun)}"


def percent(probability: float) -> str:
    """A probability as it is said: 0.95 is 95%."""
    return f"{100.0 * probability:.4g}%"


def roughly(part: float) -> str:
    """A share as a percentage of two digits, or whole from 100% on.

    Examples
    --------
    >>> from partita._wording import roughly
    >>> roughly(0.0123), roughly(1.0), roughly(2.34)
    ('1.2%', '100%', '234%')
    """
    return f"{100.0 * part:.2g}%" if part < 0.995 else f"{100.0 * part:.0f}%"


def short(value: float) -> str:
    """A number of two digits, without powers of ten; rounding is 0.

    Examples
    --------
    >>> from partita._wording import short
    >>> short(0.0123), short(110.0), short(2e-16)
    ('0.012', '110', '0')
    """
    if abs(value) < 1e-4:
        return "0"
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:,.0f}"


def rhat_in_words(value: float) -> str:
    """An R-hat of three decimals; of chains that each stay at a value of their own, a limit.

    Examples
    --------
    >>> from partita._wording import rhat_in_words
    >>> rhat_in_words(1.0123), rhat_in_words(9.8e15)
    ('1.012', 'over 1,000')
    """
    return f"{value:.3f}" if value <= 1_000.0 else "over 1,000"


def printable(text: str, keep: str = "") -> str:
    """The text with control characters as escapes: a name must not steer a terminal.

    Examples
    --------
    >>> from partita._wording import printable
    >>> print(printable("red\\x1b[31m"))
    red\\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or sign in keep or category(sign) == "Zs"
        else sign.encode("unicode_escape").decode()
        for sign in text
    )


def clip(text: str, length: int) -> str:
    """A name for a line of text: cut to a length, without line ends and terminal codes.

    Examples
    --------
    >>> from partita._wording import clip
    >>> clip("ENSG00000000000000000001", 12)
    'ENSG0000000…'
    """
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def upper_percent(part: float) -> str:
    """A share as a percentage of two digits that is never below it: a limit stays one.

    Examples
    --------
    >>> from partita._wording import upper_percent
    >>> upper_percent(0.0603), upper_percent(4.79), upper_percent(0.05)
    ('6.1%', '480%', '5%')
    """
    amount = 100.0 * part
    unit = 10.0 ** (math.floor(math.log10(amount)) - 1) if amount > 0.0 else 1.0
    # What rounding adds to a whole number of units is not worth the next one.
    return f"{math.ceil(amount / unit - 1e-9) * unit:,.10g}%"


def above_minimum(gap: float) -> str:
    """How far a loss can be above the minimum when its gap to a lower bound is this share of it.

    Examples
    --------
    >>> from partita._wording import above_minimum
    >>> above_minimum(0.5), above_minimum(0.057)
    ('at most 100% above the minimum', 'at most 6.1% above the minimum')
    """
    if gap >= 1.0:
        return "the lower bound is 0, which proves nothing"
    return f"at most {upper_percent(gap / (1.0 - gap))} above the minimum"


def share(part: float) -> str:
    """A share as a whole percentage; only all of it is 100%, and only none is 0%.

    Examples
    --------
    >>> from partita._wording import share
    >>> share(0.004), share(0.123), share(0.9995), share(1.0)
    ('under 1%', '12%', 'over 99%', '100%')
    """
    if 0.0 < part < 0.01:
        return "under 1%"
    return "over 99%" if 0.995 <= part < 1.0 - 1e-9 else f"{100 * part:.0f}%"


def brief(value: float, decimals: int = 2) -> str:
    """Two decimals where that says enough, else three digits."""
    return f"{value:.{decimals}f}" if value >= 1.0 or value == 0.0 else f"{value:.3g}"


def in_unit(amount: str, unit: str) -> str:
    """An amount of something that may have no unit: 1.2 bits."""
    return f"{amount} {unit}" if unit else amount


def with_unit(name: str, unit: str) -> str:
    """What is measured, and in what: variation of information (bits)."""
    return f"{name} ({unit})" if unit else name


def of_sizes(sizes: Iterable[int], most: int = 10) -> str:
    """Cluster sizes from the largest on: size 178; sizes 72, 7, 3.

    Examples
    --------
    >>> from partita._wording import of_sizes
    >>> of_sizes([178]), of_sizes([7, 72, 3]), of_sizes([1200, 9, 9], most=1)
    ('size 178', 'sizes 72, 7, 3', 'sizes 1,200 and 2 smaller')
    >>> of_sizes([1] * 30)
    'size 1 each'
    """
    ordered = sorted(sizes, reverse=True)
    if len(ordered) > most and ordered[0] == ordered[-1]:
        return f"size {ordered[0]:,} each"
    shown = ", ".join(f"{size:,}" for size in ordered[:most])
    more = ""
    if len(ordered) > most:
        word = "smaller" if ordered[most] < ordered[most - 1] else "more"
        more = f" and {len(ordered) - most:,} {word}"
    return f"size{'' if len(ordered) == 1 else 's'} {shown}{more}"


def sized(sizes: Sequence[int], part: str = "cluster", most: int = 10) -> str:
    """Number and sizes of clusters: 3 clusters of sizes 72, 7, 3.

    Examples
    --------
    >>> from partita._wording import sized
    >>> sized([178]), sized([7, 72, 3])
    ('1 cluster of size 178', '3 clusters of sizes 72, 7, 3')
    """
    return f"{counted(len(sizes), part)} of {of_sizes(sizes, most)}"


def in_list(names: Sequence[str], last: str = "and") -> str:
    """Names as one reads them: "a", "a and b", "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def listed(values: Sequence[object], most: int = 5) -> str:
    """The first few values for a message."""
    shown = ", ".join(str(v) for v in values[:most])
    return shown + (f" and {len(values) - most} more" if len(values) > most else "")


Kind = Literal["posterior", "ensemble", "tilted"]


class Words(NamedTuple):
    """The words of one kind, by default of a posterior; a number or a name goes into braces."""

    draw: str = "draw"
    draws: str = "draws"
    of_all: str = "of the draws"
    """After a share: of what it is."""
    source: str = "posterior"
    """What the rows come from."""
    expected: str = "expected"
    """Of a loss: averaged over the rows."""
    mean_of: str = "E[{}]"
    """A loss averaged over the rows, in a heading."""
    ball: str = "credible ball"
    core: str = "credible core"
    level: str = "Credible probability"
    """What chooses the size of a ball."""
    lies: str = "With {} posterior probability the clustering lies"
    """The sentence on the ball up to "within"."""
    equals: str = "With at least {} posterior probability the clustering is"
    """The sentence on a ball of radius 0."""
    probability: str = "probability"
    """Of an event: the weight of the rows in which it occurs."""
    posterior_probability: str = "posterior probability"
    event: str = "P({})"
    """The weight of an event, in a heading."""
    together: str = "probability of being in one cluster"
    """The weight of the rows in which two items are in one cluster."""
    together_with: str = "together with probability"
    """Phrase before the weight of an event."""
    holding: str = "with probability {}"
    """In how much of the rows something holds."""
    error: str = "standard error"
    order_holds: str = "More draws would hardly change this order."
    """All differences exceed two standard errors."""
    unsettled: str = "The posterior does not settle the number of clusters."
    """No number of clusters has nearly all rows."""
    truth: str = "Where could the truth be?"
    """What is asked of the ball."""
    could_be: str = "what the clustering could still be"
    fact: str = "Items whose grouping is certain enough"
    """What is asked of the core."""


def _words_of_weight(weight: str, draw: str, **own: str) -> Words:
    """Where rows have a weight and no probability."""
    share = f"share of {weight}"
    return Words(
        draw=draw,
        draws=f"{draw}s",
        of_all=f"of {weight}",
        mean_of="mean {}",
        ball="ball",
        core="core",
        level=share.capitalize(),
        probability=share,
        posterior_probability=share,
        event="Share {}",
        together=f"{share} with both in one cluster",
        together_with=f"together, {share}",
        **own,
    )


_WORDS: dict[str, Words] = {
    "posterior": Words(),
    "ensemble": _words_of_weight(
        "the runs",
        "run",
        source="ensemble",
        expected="mean",
        lies="{} of the runs lie",
        equals="{} of the runs equal",
        holding="in {} of the runs",
        error="standard error over the runs",
        order_holds="Each difference exceeds two standard errors over the runs.",
        unsettled="The runs do not agree on the number of clusters.",
        truth="How far apart are the runs?",
        could_be="the extremes among the runs inside",
        fact="What nearly all runs share",
    ),
    "tilted": _words_of_weight(
        "the tilted weight",
        "draw",
        source="tilted draws",
        expected="tilted mean",
        lies="Draws with {} of the tilted weight lie",
        equals="Draws with {} of the tilted weight equal",
        holding="in draws with {} of the tilted weight",
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
    >>> from partita._wording import words
    >>> words("ensemble").lies.format("95%")
    '95% of the runs lie'
    """
    return _WORDS[kind]


def origin_in_words(origin: str, kind: Kind) -> str:
    """Where a search began, as it is called: at a draw, or at a run."""
    return words(kind).draw if origin == "draw" else origin
