"""``partita convert``: draws from one format into another; ``partita warmup``: compile ahead."""

from __future__ import annotations

import time
from typing import Any

import click

from partita._warmup import PARTS
from partita.cli.options import FORMAT, debug_option, force_option, read_options
from partita.cli.outputs import check_file, say


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
    type=FORMAT,
    help="Format to write. Default: by the suffix of OUT; csv for standard output.",
)
@click.option("--one-based", is_flag=True, help="Count labels from 1. For R's formats always.")
@read_options
@force_option
@debug_option
def convert(
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
    from partita.io.write import write_draws

    refuse_two_readers_of_stdin(*sources)
    zarr = to == "zarr" or (to is None and target.lower().endswith(".zarr"))
    check_file(target, force=force, inputs=sources, directory=zarr)
    draws = read_draws_of(sources, **choices)
    write_draws(draws, target, format=to, overwrite=force, one_based=one_based)
    if target != "-":
        say(f"wrote {target}: {repr(draws)[8:-1]}")


@click.command(
    epilog="""\b
Examples:
  $ partita warmup
  $ partita warmup summarize fit core"""
)
@click.argument("parts", nargs=-1, type=click.Choice(tuple(PARTS)), metavar="[PART]...")
@debug_option
def warmup(parts: tuple[str, ...]) -> None:
    """Compile PARTS for this machine.

    PARTS are summarize, losses, fit, core, representatives, path; all of them by default.

    It takes up to a few minutes once; afterwards every run starts at once. What is compiled
    already is only loaded.
    """
    for part in parts or tuple(PARTS):
        start = time.monotonic()
        say(f"compiling {part} …")
        PARTS[part]()
        say(f"  ready after {time.monotonic() - start:.0f} s")
