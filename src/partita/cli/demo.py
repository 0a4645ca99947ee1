"""``partita demo``: the whole way on data of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita._wording import counted
from partita.cli.directories import check_directory, new_directory
from partita.cli.fit import sample_named
from partita.cli.options import debug_option, force_option, jobs_option, seed_option
from partita.cli.outputs import (
    check_libraries,
    write_figures,
    write_fit,
    write_report,
    write_summary,
    write_table,
)
from partita.cli.precompile import compiled_ahead
from partita.cli.show import say, show, show_summary
from partita.errors import MissingDependencyError

if TYPE_CHECKING:
    from partita.partitions.labels import Labels
    from partita.samplers.table import Table
    from partita.summary.result import Summary

DRAWS, BURN_IN, CHAINS = 2_500, 1_000, 4
DATA_SEED = 1
_LIBRARIES = {"figures": "matplotlib", "the report": "bokeh"}
"""What each kind of picture needs."""


@click.command(
    epilog="""\b
Examples:
  $ partita demo
  $ partita demo example2 --out another-demo
  $ partita demo galaxies --force"""
)
@click.argument("name", type=click.Choice(("galaxies", "example1", "example2")), default="galaxies")
@click.option("--out", type=click.Path(), default="partita-demo", show_default=True, metavar="DIR")
@force_option
@seed_option("chains and the search")
@jobs_option
@debug_option
def command(name: str, out: str, force: bool, seed: int, jobs: int | None) -> None:
    """Sampling, estimate, credible ball, figures and report on data of the paper.

    galaxies are the velocities of 82 galaxies; example1 and example2 are 200 points from four
    normals in the plane, the same in every run. The first run compiles and takes longer.
    """
    check_directory(out, force=force)
    example = _example(name)
    say(f"{example.title}: sampling {CHAINS} chains of {DRAWS:,} draws …")
    run = {"draws": DRAWS, "burn_in": BURN_IN, "chains": CHAINS, "rng": seed, "n_jobs": jobs}
    with compiled_ahead():
        fit = sample_named(example.table, None, **run)
    say("searching the estimate, proving how good it is, measuring the credible ball …")
    from partita.summary.summarize import summarize

    summary = summarize(fit, rng=seed, n_jobs=jobs)
    drawn = [what for what, library in _LIBRARIES.items() if find_spec(library) is not None]
    if drawn:
        say(f"drawing {' and '.join(drawn)} …")
    with new_directory(out) as directory:
        rows = zip(*(column.tolist() for column in example.table.columns), strict=True)
        write_table(directory / "data.csv", example.table.names, rows)
        write_fit(fit, directory)
        write_summary(summary, directory, None)
        write_report(summary, directory / "report.html")
        try:
            check_libraries(None, "pdf")
            write_figures(summary, fit, directory, "pdf", n_jobs=jobs)
        except MissingDependencyError as error:
            say(f"no figures: {error}")
    show_summary(summary)
    if example.truth is not None:
        show(_against_truth(summary, example.truth))
    _say_what_to_open(Path(out))


@dataclass(frozen=True)
class _Example:
    title: str
    table: Table
    truth: Labels | None


def _example(name: str) -> _Example:
    from partita.datasets import four_normals, galaxies
    from partita.samplers.table import Table

    if name == "galaxies":
        title = "Velocities of 82 galaxies in 1,000 km/s"
        return _Example(title, Table(("velocity",), (galaxies(),)), None)
    simulated = four_normals(example=int(name[-1]), rng=DATA_SEED)
    table = Table(("x1", "x2"), (simulated.data[:, 0].copy(), simulated.data[:, 1].copy()))
    return _Example("200 points from four normals", table, simulated.labels)


def _against_truth(summary: Summary, truth: Labels) -> str:
    from partita.losses.evaluate import distance

    ball = summary.ball
    level = ball.credible_level(truth)
    where = "inside" if ball.contains(truth) else "outside"
    return (
        f"Truth: {counted(int(truth.max()) + 1, 'cluster')}, {distance(truth, ball.center):.3g} "
        f"bits from the estimate, {where} the ball\n"
        f"  (which contains it from probability {level:.3g} on)"
    )


def _say_what_to_open(out: Path) -> None:
    say("")
    if (out / "report.html").exists():
        say(f"Open {out / 'report.html'} in a browser.")
    if (out / "figures").is_dir():
        say(f"Figures for a paper are in {out / 'figures'}/, tables and labels in {out}/.")
    else:
        say(f"Tables and labels are in {out}/.")
    say(f"The same for your own draws: partita summarize {out / 'draws.npz'}")
    say(f"and for your own data:       partita fit {out / 'data.csv'}")
