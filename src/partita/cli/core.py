"""``partita core``: the items whose grouping holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from partita.cli.directories import check_file
from partita.cli.options import (
    debug_option,
    force_option,
    jobs_option,
    json_option,
    read_options,
    seed_option,
)
from partita.cli.show import say, show

if TYPE_CHECKING:
    from partita.credible.core_result import CredibleCore


@click.command(
    short_help="The largest set of items whose grouping holds.",
    epilog="""\b
Examples:
  $ partita core draws.csv
  $ partita core draws.csv --prob 0.5 --out core.csv
  $ partita core draws.csv --noise -1:singletons --json""",
)
@click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")
@click.option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    metavar="P",
    help="Probability with which the grouping holds.",
)
@click.option(
    "--bound",
    type=click.Choice(("fast", "tight", "none")),
    default="fast",
    show_default=True,
    help="How hard to prove that no larger set exists.",
)
@click.option(
    "--starts", type=click.IntRange(1), metavar="N", help="First items to try. Default: every one."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Seconds for the search; then the best so far is taken.",
)
@click.option("--weights", metavar="FILE", help="One weight per draw.")
@click.option(
    "--out", type=click.Path(), metavar="FILE", help="Write one row per item: cluster, probability."
)
@json_option
@force_option
@read_options
@seed_option("search")
@jobs_option
@debug_option
def command(
    sources: tuple[str, ...],
    prob: float,
    bound: str,
    starts: int | None,
    time_limit: float | None,
    weights: str | None,
    out: str | None,
    as_json: bool,
    force: bool,
    seed: int,
    jobs: int | None,
    **choices: Any,
) -> None:
    """The largest set of items that is grouped in one way with probability P.

    What may be stated as fact: with that probability these items are grouped exactly so, all at
    once. DRAWS is as in partita summarize.
    """
    from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin
    from partita.credible.core import credible_core

    check_file(out, force=force)
    refuse_two_readers_of_stdin(*sources, weights)
    draws = read_draws_of(sources, weights=weights, **choices)
    found = credible_core(
        draws,
        prob=prob,
        bound=None if bound == "none" else bound,  # type: ignore[arg-type]
        n_starts=starts,
        time_limit=time_limit,
        rng=seed,
        n_jobs=jobs,
    )
    if out is not None:
        _write(found, out, force=force)
    if as_json:
        click.echo(json.dumps(_plain(found), indent=1, ensure_ascii=False))
    else:
        show(str(found))


def _write(found: CredibleCore, out: str, *, force: bool) -> None:
    from partita._files import atomic_path
    from partita.cli.outputs import item_names, write_table

    names = item_names(found.draws)
    rows = zip(names, found.labels.tolist(), found.if_added.tolist(), strict=True)
    with atomic_path(out, overwrite=force) as temporary:
        write_table(temporary, ("item", "core", "probability_with_item"), rows)
    say(f"wrote {out}")


def _plain(found: CredibleCore) -> dict[str, Any]:
    error = found.probability_mcse
    return {
        "prob": found.prob,
        "size": found.size,
        "n_items": found.draws.n_items,
        "items": found.items.tolist(),
        "labels": found.labels.tolist(),
        "probability": found.probability,
        "probability_mcse": error if error == error else None,
        "cluster_probability": found.cluster_probability.tolist(),
        "upper_bound": found.upper_bound,
        "is_proven": found.is_proven,
        "curve": found.curve.tolist(),
        "auchips": found.auchips,
        "n_starts": found.n_starts,
        "rounds": found.rounds,
    }
