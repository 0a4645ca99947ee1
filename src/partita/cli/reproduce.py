"""``partita reproduce``: the numbers of the paper, recomputed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita._files import FileMissingError
from partita.cli.directories import check_directory, new_directory
from partita.cli.failures import FAILED, INTERRUPTED, watch_interrupts
from partita.cli.options import debug_option, force_option, jobs_option, seed_option
from partita.cli.show import say

if TYPE_CHECKING:
    from partita.reproduce.pages import Page

_FOLDER = "partita-reproduction"
_OF_THE_CLONE = ""
"""Stands for the draws kept among the tests of a clone."""


@click.command(
    epilog="""\b
Examples:
  $ partita reproduce --quick
  $ partita reproduce --out reproduction --seed 1
  $ partita reproduce --paper-draws
  $ partita reproduce --paper-draws draws"""
)
@click.option(
    "--out",
    type=click.Path(),
    metavar="DIR",
    help=f"Directory of the page and its figures. Default: {_FOLDER}; with --paper-draws none.",
)
@click.option("--quick", is_flag=True, help="Few draws: every table and figure within a minute.")
@click.option(
    "--paper-draws",
    type=click.Path(),
    is_flag=False,
    flag_value=_OF_THE_CLONE,
    metavar="[DIR]",
    help="The paper's own draws, example1.npz and galaxy.npz: check every printed digit. "
    "In a clone of the repository DIR may be left out.",
)
@jobs_option
@seed_option("simulated data, the sampler and the searches")
@force_option
@debug_option
def command(
    out: str | None, quick: bool, paper_draws: str | None, jobs: int | None, seed: int, force: bool
) -> None:
    """Recompute the paper's tables, cross tabulations and figures, beside its printed values.

    From simulated data, the embedded galaxies, partita's sampler and search; every value stands
    beside the paper's with what the difference is. A full run takes some minutes. The directory
    gets reproduction.md, reproduction.html and the figures as SVG.

    With --paper-draws the numbers come from the paper's own draws and must agree in every digit:
    one line per number, and exit code 1 if one differs.
    """
    if paper_draws is not None:
        if quick:
            raise click.UsageError("--quick is for own draws; leave it out with --paper-draws.")
        check_directory(out, force=force)
        draws = paper_draws if paper_draws != _OF_THE_CLONE else str(_draws_of_the_clone())
        click.get_current_context().exit(_check_digits(draws, out, seed, jobs))
    target = out or _FOLDER
    check_directory(target, force=force)
    click.get_current_context().exit(_run(target, quick=quick, seed=seed, jobs=jobs))


def _draws_of_the_clone() -> Path:
    """The paper's draws in the clone that is running, or in the one we stand in."""
    here = Path.cwd()
    for root in (Path(__file__).resolve().parents[3], here, *here.parents):
        found = root / "tests" / "data" / "paper" / "draws"
        if (found / "galaxy.npz").is_file():
            return found
    raise FileMissingError(
        "the paper's draws are in a clone of the repository, in tests/data/paper/draws, and not in "
        "the installed package. Call this inside a clone, or name their directory: "
        "--paper-draws DIR."
    )


def _run(out: str, *, quick: bool, seed: int, jobs: int | None) -> int:

    from partita._progress import Status
    from partita.reproduce.own_draws import introduction, sections
    from partita.reproduce.pages import section_text
    from partita.reproduce.plan import FULL, QUICK

    plan = replace(QUICK if quick else FULL, seed=seed, n_jobs=jobs)
    page = introduction(plan, quick=quick)
    with (
        watch_interrupts() as interrupts,
        new_directory(out) as folder,
        Status("reproduce") as status,
    ):
        stopped = False
        try:
            for section in sections(plan, folder / "figures", status.say):
                if interrupts.came:  # computed from what Ctrl-C left, not from what it claims
                    break
                click.echo(section_text(section))
                page = replace(page, sections=(*page.sections, section))
        except KeyboardInterrupt:
            stopped = True
        stopped = stopped or interrupts.came
        if stopped and not page.sections:
            raise KeyboardInterrupt
        if stopped:
            note = "Interrupted: later sections are missing."
            page = replace(page, text=(note, *page.text))
        _write(page, folder)
    say(f"wrote {Path(out) / 'reproduction.html'}, reproduction.md and figures")
    if stopped:
        say("interrupted: the sections printed so far are there, the others are missing")
        return INTERRUPTED
    return 0


def _write(page: Page, folder: Path) -> None:
    from partita.reproduce.pages import to_html, to_markdown

    (folder / "reproduction.md").write_text(to_markdown(page), encoding="utf-8", newline="\n")
    (folder / "reproduction.html").write_text(to_html(page), encoding="utf-8", newline="\n")


def _check_digits(directory: str, out: str | None, seed: int, jobs: int | None) -> int:
    from partita._progress import Status
    from partita.reproduce.pages import table_text
    from partita.reproduce.paper_draws import (
        check_paper_draws,
        checked_page,
        compare_searches,
        search_table,
    )

    checks = []
    for check in check_paper_draws(directory, seed=seed, n_jobs=jobs):
        click.echo(str(check))
        checks.append(check)
    with Status("comparing searches") as status:
        status.say("the paper's greedy search and ours")
        searches = list(compare_searches(directory, seed=seed, n_jobs=jobs))
    click.echo(f"\n{table_text(search_table(searches))}")
    wrong = sum(not check.same for check in checks)
    click.echo(f"{len(checks) - wrong} of {len(checks)} agree with the paper")
    if out is not None:
        with new_directory(out) as folder:
            _write(checked_page(checks, searches), folder)
        say(f"wrote {Path(out) / 'reproduction.html'} and reproduction.md")
    return FAILED if wrong else 0
