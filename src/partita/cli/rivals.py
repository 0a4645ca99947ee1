"""``partita rivals``: several representative clusterings, or the modes."""

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
    from partita.rivals.result import Representatives

METRICS = ("vi", "binder", "nvi", "id", "nid")


@click.command(
    short_help="Several representative clusterings, with masses and a proof.",
    epilog="""\b
Examples:
  $ partita rivals draws.csv
  $ partita rivals draws.csv --n 3 --out rivals.csv
  $ partita rivals chain1.csv chain2.csv --n 2 --json
  $ partita rivals draws.csv --modes""",
)
@click.argument("sources", nargs=-1, required=True, metavar="DRAWS...")
@click.option(
    "--n",
    type=click.IntRange(1),
    metavar="N",
    help="Number of representatives. Default: chosen on held-out draws.",
)
@click.option(
    "--loss",
    type=click.Choice(METRICS, case_sensitive=False),
    default="vi",
    show_default=True,
    help="Distance between clusterings.",
)
@click.option(
    "--bound",
    type=click.Choice(("fast", "tight", "none")),
    default="fast",
    show_default=True,
    help="How hard to prove how near N clusterings can be.",
)
@click.option(
    "--modes", "with_modes", is_flag=True, help="Also say how many modes the posterior has."
)
@click.option("--weights", metavar="FILE", help="One weight per draw.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Seconds for the search; then the best so far is taken.",
)
@click.option(
    "--out", type=click.Path(), metavar="FILE", help="Write one column per representative."
)
@json_option
@force_option
@read_options
@seed_option("search")
@jobs_option
@debug_option
def command(
    sources: tuple[str, ...],
    n: int | None,
    loss: str,
    bound: str,
    with_modes: bool,
    weights: str | None,
    time_limit: float | None,
    out: str | None,
    as_json: bool,
    force: bool,
    seed: int,
    jobs: int | None,
    **choices: Any,
) -> None:
    """Are there rival answers? A few clusterings that together lie near to all draws.

    Each comes with the mass of the draws that are nearest to it, what differs, and, where there
    are several chains, which of them it holds. DRAWS is as in partita summarize.
    """
    from partita.cli.reading import read_draws_of, refuse_two_readers_of_stdin
    from partita.rivals.modes import modes
    from partita.rivals.representatives import representatives

    check_file(out, force=force)
    refuse_two_readers_of_stdin(*sources, weights)
    draws = read_draws_of(sources, weights=weights, **choices)
    found = representatives(
        draws,
        n=n,
        loss=loss,
        bound=None if bound == "none" else bound,  # type: ignore[arg-type]
        time_limit=time_limit,
        rng=seed,
        n_jobs=jobs,
    )
    peaks = modes(draws, loss=loss, n_jobs=jobs) if with_modes else None
    if out is not None:
        _write(found, out, force=force)
    if as_json:
        plain = _plain(found)
        if peaks is not None:
            plain["modes"] = {"labels": peaks.labels.tolist(), "weights": peaks.weights.tolist()}
        click.echo(json.dumps(plain, indent=1, ensure_ascii=False))
    else:
        show(str(found) if peaks is None else f"{found}\n\n{peaks}")


def _write(found: Representatives, out: str, *, force: bool) -> None:
    from partita._files import atomic_path
    from partita.cli.outputs import item_names, write_table

    header = ("item", *(f"representative.{r}" for r in range(found.n)))
    rows = zip(item_names(found.draws), *found.labels.tolist(), strict=True)
    with atomic_path(out, overwrite=force) as temporary:
        write_table(temporary, header, rows)
    say(f"wrote {out}")


def _plain(found: Representatives) -> dict[str, Any]:
    return {
        "n": found.n,
        "labels": found.labels.tolist(),
        "weights": found.weights.tolist(),
        "distance": found.distance,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "expected_loss": found.expected_loss.tolist(),
        "radius": found.radius.tolist(),
        "chains": {
            str(name): shares.tolist()
            for name, shares in zip(found.chain_names, found.chains, strict=True)
        },
        "differences": [found.explain(r).in_words() for r in range(1, found.n)],
        "limits": list(found.limits),
    }
