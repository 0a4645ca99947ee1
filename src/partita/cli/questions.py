"""Commands that ask one question of draws: core, path, representatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import (
    LossName,
    all_of,
    bound_option,
    debug_option,
    force_option,
    jobs_option,
    json_option,
    one_based_option,
    read_options,
    seed_option,
    time_limit_option,
    value_option,
    weights_option,
    whole_option,
)
from partita.cli.outputs import check_file, show_either, write_table_to
from partita.losses.names import LOSSES

if TYPE_CHECKING:
    from partita.draws import Draws


@dataclass(frozen=True)
class Answer:
    """What a command found, in its three forms.

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
    *, bound: str, stopped: str, out: str
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Make a function of draws a command: it gets the shared options, and its answer is shown.

    The function takes the draws and, by name, ``bound`` (None for "none"),
    ``time_limit``, ``rng``, ``n_jobs``, ``one_based`` (for the table) and the options of its own.

    Parameters
    ----------
    bound : str
        What is to be proven, for the help.
    stopped : str
        What is taken when time is up.
    out : str
        What ``--out`` writes.
    """

    def asked(function: Callable[..., Answer]) -> Callable[..., None]:
        own: list[click.Parameter] = getattr(function, "__click_params__", [])

        @wraps(function)
        def command(
            sources: tuple[str, ...],
            bound: str,
            time_limit: float | None,
            weights: str | None,
            out: str | None,
            as_json: bool,
            force: bool,
            one_based: bool,
            seed: int,
            jobs: int | None,
            **choices: Any,
        ) -> None:
            from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin

            check_file(out, force=force, inputs=(*sources, weights))
            refuse_two_readers_of_stdin(*sources, weights)
            wishes = {str(option.name): choices.pop(str(option.name)) for option in own}
            answer = function(
                read_draws_of(sources, weights=weights, **choices),
                bound=None if bound == "none" else bound,
                time_limit=time_limit,
                rng=seed,
                n_jobs=jobs,
                one_based=one_based,
                **wishes,
            )
            if out is not None:
                write_table_to(out, answer.header, answer.rows, force=force)
            show_either(answer.text, answer.plain, as_json=as_json)

        command.__click_params__ = []  # type: ignore[attr-defined]
        all_of(
            command,
            bound_option(f"How hard to prove {bound}."),
            time_limit_option(f"Seconds for the search; then {stopped} is taken."),
            weights_option,
            click.option("--out", type=click.Path(), metavar="FILE", help=f"Write {out}."),
            one_based_option,
            json_option,
            force_option,
            read_options,
            seed_option("search"),
            jobs_option,
            debug_option,
        )
        command.__click_params__ += own  # type: ignore[attr-defined]
        return click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")(command)

    return asked


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
    bound="of how many items reach it in these draws",
    stopped="the best so far",
    out="one row per item: cluster, probability",
)
@value_option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    metavar="P",
    help="Probability of the grouping, which its lower 95% limit must reach.",
)
@click.option(
    "--held-out/--in-sample",
    default=None,
    help="Measure on draws held out (default), or describe these draws only.",
)
@whole_option("--starts", "n_starts", help="Number of items to grow cores from. Default: all.")
def core(draws: Draws, one_based: bool, **wishes: Any) -> Answer:
    """A large set of items that are grouped in one way with probability P, all at once.

    The set is found on one part of the draws; its probability is measured on the other, and is at
    least P with 95% confidence. DRAWS is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.credible.core import credible_core

    found = credible_core(draws, **wishes)
    columns = (
        item_names(draws, one_based),
        numbered(found.labels, one_based),
        found.probability_with_item.tolist(),
    )
    return Answer(
        text=found.screen(one_based=one_based),
        plain={
            "prob": found.prob,
            "size": found.size,
            "n_items": draws.n_items,
            **fields_of(found, *_CORE_FIELDS),
        },
        header=("item", "core", "probability_with_item"),
        rows=zip(*columns, strict=True),
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
    bound="that nothing better exists",
    stopped="the path so far",
    out="one row per optimal clustering: prices, clusters, labels",
)
@value_option(
    "--loss",
    type=LossName(("vi", "binder"), case_sensitive=False),
    default="vi",
    help="A loss with a price; entropy(1.5) too.",
)
@value_option("--low", type=click.FloatRange(0, 2), default=0.0, metavar="A", help="Lowest price.")
@value_option(
    "--high", type=click.FloatRange(0, 2), default=2.0, metavar="A", help="Highest price."
)
def path(draws: Draws, one_based: bool, **wishes: Any) -> Answer:
    """How many clusters, and would another weighting of the errors give another number?

    The price a says how much splitting a true cluster costs against merging two; the usual loss
    has a = 1. An estimate that is optimal over a wide range of prices is robust to the price. DRAWS
    is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.search.price_path import price_path

    found = price_path(draws, **wishes)
    names = map(str, item_names(draws, one_based))
    return Answer(
        text=str(found),
        plain={"loss": repr(found.loss), **fields_of(found, *_PATH_FIELDS)},
        header=("low", "high", "n_clusters", "is_proven", *names),
        rows=[
            (c.low, c.high, c.n_clusters, c.is_proven, *numbered(c.labels, one_based))
            for c in found
        ],
    )


METRICS = tuple(name for name, home in LOSSES.items() if home.metric)
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
    bound="how near N clusterings can be",
    stopped="the best so far",
    out="one column per representative",
)
@whole_option("--n", help="Number of representatives. Default: chosen on held-out draws.")
@value_option(
    "--loss",
    type=LossName(METRICS, case_sensitive=False),
    default="vi",
    help="Distance between clusterings; entropy(1.5) too.",
)
@click.option("--modes", "with_modes", is_flag=True, help="Also report the number of modes.")
def representatives(
    draws: Draws, with_modes: bool, loss: str, one_based: bool, **wishes: Any
) -> Answer:
    """One answer or several? A few clusterings that together lie near to all draws.

    Each comes with the mass of the draws that are nearest to it, what differs, and, where there
    are several chains, which of them it holds. DRAWS is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.representative.modes import modes
    from partita.representative.representatives import representatives

    found = representatives(draws, loss=loss, **wishes)
    text = str(found)
    plain = fields_of(found, *_REPRESENTATIVE_FIELDS) | {
        "chains": dict(zip(found.chain_names, found.chains, strict=True)),
        "differences": [found.explain(r).in_words() for r in range(1, found.n)],
        "limits": found.limits,
    }
    if with_modes:
        peaks = modes(draws, loss=loss, n_jobs=wishes["n_jobs"])
        text = f"{text}\n\n{peaks}"
        plain["modes"] = fields_of(peaks, "labels", "weights")
    return Answer(
        text=text,
        plain=plain,
        header=("item", *(f"representative.{r}" for r in range(found.n))),
        rows=zip(item_names(draws, one_based), *numbered(found.labels, one_based), strict=True),
    )
