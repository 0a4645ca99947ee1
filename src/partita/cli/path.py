"""``partita path``: every clustering that is optimal at some price."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from partita.cli.directories import check_file
from partita.cli.options import (
    LossName,
    debug_option,
    force_option,
    jobs_option,
    json_option,
    read_options,
    seed_option,
)
from partita.cli.show import say, show

if TYPE_CHECKING:
    from partita.search.path_result import PricePath


@click.command(
    short_help="Every clustering that is optimal at some price of splitting.",
    epilog="""\b
Examples:
  $ partita path draws.csv
  $ partita path draws.csv --loss binder --low 0.5 --high 1.5
  $ partita path draws.csv --bound none --out path.csv --json""",
)
@click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")
@click.option(
    "--loss",
    type=LossName(("vi", "binder"), case_sensitive=False),
    default="vi",
    show_default=True,
    help="A loss with a price; entropy(1.5) too.",
)
@click.option(
    "--low",
    type=click.FloatRange(0, 2),
    default=0.0,
    show_default=True,
    metavar="A",
    help="Lowest price.",
)
@click.option(
    "--high",
    type=click.FloatRange(0, 2),
    default=2.0,
    show_default=True,
    metavar="A",
    help="Highest price.",
)
@click.option(
    "--bound",
    type=click.Choice(("fast", "tight", "none")),
    default="fast",
    show_default=True,
    help="How hard to prove that nothing better exists.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Seconds for the search; then the path so far is taken.",
)
@click.option("--weights", metavar="FILE", help="One weight per draw.")
@click.option(
    "--out",
    type=click.Path(),
    metavar="FILE",
    help="Write one row per optimal clustering: prices, clusters, labels.",
)
@json_option
@force_option
@read_options
@seed_option("search")
@jobs_option
@debug_option
def command(
    sources: tuple[str, ...],
    loss: str,
    low: float,
    high: float,
    bound: str,
    time_limit: float | None,
    weights: str | None,
    out: str | None,
    as_json: bool,
    force: bool,
    seed: int,
    jobs: int | None,
    **choices: Any,
) -> None:
    """How many clusters, and would someone with another taste get another number?

    The price a says how much splitting a true cluster costs against merging two; the usual loss
    has a = 1. An estimate that is optimal over a wide range of prices is robust. DRAWS is as in
    partita summarize.
    """
    from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin
    from partita.search.price_path import price_path

    check_file(out, force=force)
    refuse_two_readers_of_stdin(*sources, weights)
    draws = read_draws_of(sources, weights=weights, **choices)
    found = price_path(
        draws,
        loss=loss,
        low=low,
        high=high,
        bound=None if bound == "none" else bound,  # type: ignore[arg-type]
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


def _write(found: PricePath, out: str, *, force: bool) -> None:
    from partita._files import atomic_path
    from partita.cli.outputs import write_table

    names = found.item_names or tuple(map(str, range(found.labels.shape[1])))
    rows = [(c.low, c.high, c.n_clusters, c.is_proven, *c.labels.tolist()) for c in found]
    with atomic_path(out, overwrite=force) as temporary:
        write_table(temporary, ("low", "high", "n_clusters", "is_proven", *names), rows)
    say(f"wrote {out}")


def _plain(found: PricePath) -> dict[str, Any]:
    return {
        "loss": repr(found.loss),
        "low": found.low,
        "high": found.high,
        "breakpoints": found.breakpoints.tolist(),
        "n_clusters": found.n_clusters.tolist(),
        "splitting": found.splitting.tolist(),
        "merging": found.merging.tolist(),
        "labels": found.labels.tolist(),
        "item_names": found.item_names,
        "is_proven": found.is_proven.tolist(),
        "gap": found.gap,
        "interrupted": found.interrupted,
        "seconds": found.seconds,
    }
