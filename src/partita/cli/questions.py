"""Commands that ask one question of draws: core, path, representatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

import partita as pt
from partita._result import fields_of
from partita.cli import options, outputs, reading
from partita.losses import LOSSES
from partita.losses.evaluate import class_of


@dataclass(frozen=True)
class Answer:
    """The answer of a command, in its three forms.

    Attributes
    ----------
    text : str
    plain : dict
        For ``--json``; arrays may stand in it.
    header, rows
        For the table of ``--out``.
    """

    text: str
    plain: dict[str, Any]
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def question(
    asked: Callable[..., Any], *, bound: str, stopped: str, out: str
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Make a function of draws a command: it gets the shared options, and its answer is shown.

    The function takes the draws and, by name, what ``asked`` takes, ``one_based`` (for the table)
    and the options of its own.

    Parameters
    ----------
    asked : callable
        The question, whose signature the options follow.
    bound : str
        What is to be proven, for the help.
    stopped : str
        What is taken when time is up.
    out : str
        What ``--out`` writes.
    """
    shared = options.several(
        options.of(
            asked,
            bound=f"How hard to prove {bound}.",
            time_limit=f"Seconds for the search; then {stopped} is taken.",
        ),
        options.weights,
        options.written("--out", "FILE", f"Write {out}."),
        options.one_based,
        options.as_json,
        options.force,
        reading.draws_options,
        options.of(asked, rng=options.seed("search"), n_jobs=options.THREADS),
        options.debug,
    )

    def make_command(function: Callable[..., Answer]) -> Callable[..., None]:
        own: list[click.Parameter] = getattr(function, "__click_params__", [])

        @wraps(function)
        def command(
            sources: tuple[str, ...],
            weights: str | None,
            out: str | None,
            as_json: bool,
            force: bool,
            **choices: Any,
        ) -> None:
            outputs.check_file(out, force=force, inputs=(*sources, weights))
            draws = reading.read_draws_of(sources, choices, weights=weights)
            answer = function(draws, **choices)
            if out is not None:
                outputs.write_table_to(out, answer.header, answer.rows, force=force)
            outputs.show_either(answer.text, answer.plain, as_json=as_json)

        command.__click_params__ = []  # type: ignore[attr-defined]
        shared(command).__click_params__ += own  # type: ignore[attr-defined]
        return click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")(command)

    return make_command


_CORE_FIELDS = (
    *("items", "labels", "probability", "probability_mcse", "probability_low"),
    *("in_sample_probability", "cluster_probability", "n_effective", "upper_bound", "is_proven"),
    *("curve", "in_sample_curve", "auchips", "n_starts", "rounds", "limits", "sentence"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita core draws.csv
  $ partita core draws.csv --prob 0.5 --out core.csv
  $ partita core draws.csv --noise -1:singletons --json"""
)
@question(
    pt.credible_core,
    bound="that no larger set reaches P in these draws",
    stopped="the best so far",
    out="one row per item: cluster, probability",
)
@options.of(
    pt.credible_core,
    prob="Probability of the grouping, which its lower 95% limit must reach.",
    held_out="Measure on draws held out (default), or describe these draws only.",
    n_starts="Number of items to grow cores from. Default: all.",
)
def core(draws: pt.Draws, one_based: bool, **wishes: Any) -> Answer:
    """A large set of items that are grouped in one way with probability P, all at once.

    The set is found on one part of the draws; its probability is measured on the other, and is at
    least P with 95% confidence. DRAWS is as in partita summarize.
    """
    found = pt.credible_core(draws, **wishes)
    names, labels = outputs.item_names(draws, one_based), outputs.numbered(found.labels, one_based)
    return Answer(
        text=found.screen(one_based=one_based),
        plain=fields_of(found, "prob", "size", *_CORE_FIELDS) | {"n_items": draws.n_items},
        header=("item", "core", "probability_with_item"),
        rows=zip(names, labels, found.probability_with_item.tolist(), strict=True),
    )


_PATH_FIELDS = (
    *("low", "high", "breakpoints", "n_clusters", "splitting", "merging"),
    *("labels", "item_names", "is_proven", "gap", "interrupted", "seconds"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita path draws.csv
  $ partita path draws.csv --loss binder --low 0.5 --high 1.5
  $ partita path draws.csv --bound none --out path.csv --json"""
)
@question(
    pt.price_path,
    bound="that nothing better exists",
    stopped="the path so far",
    out="one row per optimal clustering: prices, clusters, labels",
)
@options.loss("A loss with a price; entropy(1.5) too.", ("vi", "binder"))
@options.of(pt.price_path, low="Lowest price.", high="Highest price.")
def path(draws: pt.Draws, one_based: bool, **wishes: Any) -> Answer:
    """How many clusters, and would another weighting of the errors give another number?

    The price a says how much splitting a true cluster costs against merging two; the usual loss
    has a = 1. An estimate that is optimal over a wide range of prices is robust to the price. DRAWS
    is as in partita summarize.
    """
    found = pt.price_path(draws, **wishes)
    names = map(str, outputs.item_names(draws, one_based))
    return Answer(
        text=str(found),
        plain={"loss": repr(found.loss), **fields_of(found, *_PATH_FIELDS)},
        header=("low", "high", "n_clusters", "is_proven", *names),
        rows=[
            (c.low, c.high, c.n_clusters, c.is_proven, *outputs.numbered(c.labels, one_based))
            for c in found
        ],
    )


METRICS = tuple(name for name in LOSSES if class_of(name)().is_metric)
_REPRESENTATIVE_FIELDS = (
    *("n", "labels", "weights", "distance"),
    *("lower_bound", "gap", "expected_loss", "radius"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita representatives draws.csv
  $ partita representatives draws.csv --n 3 --out representatives.csv
  $ partita representatives chain1.csv chain2.csv --n 2 --json
  $ partita representatives draws.csv --modes"""
)
@question(
    pt.representatives,
    bound="that no other N clusterings are nearer to the draws",
    stopped="the best so far",
    out="one column per representative",
)
@options.of(pt.representatives, n="Number of representatives. Default: chosen on held-out draws.")
@options.loss("Distance between clusterings; entropy(1.5) too.", METRICS)
@options.flag("--modes", "Also report the number of modes.", "with_modes")
def representatives(
    draws: pt.Draws, with_modes: bool, loss: str, one_based: bool, **wishes: Any
) -> Answer:
    """One answer or several? A few clusterings that together lie near to all draws.

    Each comes with the mass of the draws that are nearest to it, what differs, and, where there
    are several chains, which of them it holds. DRAWS is as in partita summarize.
    """
    found = pt.representatives(draws, loss=loss, **wishes)
    text = str(found)
    plain = fields_of(found, *_REPRESENTATIVE_FIELDS) | {
        "chains": dict(zip(found.chain_names, found.chains, strict=True)),
        "differences": [found.explain(r).in_words() for r in range(1, found.n)],
        "limits": found.limits,
    }
    if with_modes:
        peaks = pt.modes(draws, loss=loss, n_jobs=wishes["n_jobs"])
        text = f"{text}\n\n{peaks}"
        plain["modes"] = fields_of(peaks, "labels", "weights")
    return Answer(
        text=text,
        plain=plain,
        header=("item", *(f"representative.{r}" for r in range(found.n))),
        rows=zip(
            outputs.item_names(draws, one_based),
            *outputs.numbered(found.labels, one_based),
            strict=True,
        ),
    )
