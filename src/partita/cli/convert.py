"""``partita convert``: draws from one format into another."""

from __future__ import annotations

from typing import Any

import click

from partita.cli.directories import check_file
from partita.cli.options import FORMATS, debug_option, force_option, read_options
from partita.cli.show import say


@click.command(
    epilog="""\b
Examples:
  $ partita convert draws.csv draws.rds
  $ partita convert chain1.csv chain2.csv both.npz --burn-in 100
  $ partita convert samples.csv z.csv --format cmdstan --var-name z
  $ cat draws.csv | partita convert - - --to tsv"""
)
@click.argument("sources", nargs=-1, required=True, metavar="IN...")
@click.argument("target", metavar="OUT")
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="Format to write. Default: by the suffix of OUT; csv for standard output.",
)
@click.option("--one-based", is_flag=True, help="Count labels from 1. For R's formats always.")
@read_options
@force_option
@debug_option
def command(
    sources: tuple[str, ...],
    target: str,
    to: str | None,
    one_based: bool,
    force: bool,
    **choices: Any,
) -> None:
    """Convert draws between csv, tsv, npy, npz, parquet, nc, zarr, rds and RData.

    Several IN files are several chains. - is standard input or output. Labels are written in
    order of first appearance; weights, chains and item names are kept. For R the draws are an
    integer matrix, with attr(x, "chain") and attr(x, "weights") where there are any.
    """
    from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin
    from partita.io.files import write_draws

    refuse_two_readers_of_stdin(*sources)
    zarr = to == "zarr" or (to is None and target.lower().endswith(".zarr"))
    check_file(target, force=force, directory=zarr, kind="draws")
    draws = read_draws_of(sources, **choices)
    write_draws(draws, target, format=to, overwrite=force, one_based=one_based)
    if target != "-":
        say(f"wrote {target}: {repr(draws)[8:-1]}")
