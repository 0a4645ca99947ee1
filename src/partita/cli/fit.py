"""``partita fit``: from a table of data to draws, and on to the summary."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from partita._wording import counted
from partita.cli.cluster import cluster_of, cluster_options
from partita.cli.data import Understood, data_options, understand
from partita.cli.directories import new_directory
from partita.cli.failures import INTERRUPTED, watch_interrupts
from partita.cli.model import KERNELS, PRIOR_OPTIONS, PRIORS, make_kernel, make_prior
from partita.cli.options import (
    debug_option,
    jobs_option,
    result_options,
    seed_option,
    summary_options,
    value_option,
    whole_option,
)
from partita.cli.outputs import check_outputs, write_figures, write_fit, write_report, write_summary
from partita.cli.show import say
from partita.cli.summarize import make_summary, print_summary

if TYPE_CHECKING:
    from partita.samplers.fit import Fit
    from partita.samplers.kernel import Kernel
    from partita.samplers.partition_prior import PartitionPrior

_RUN_OPTIONS = ("draws", "burn_in", "thin", "chains", "checkpoint_every")


@click.command(
    epilog="""\b
Examples:
  $ partita fit data.csv --names id
  $ partita fit data.csv --names id --dry-run
  $ partita fit data.csv --columns x,y --names id --kernel wishart --out fit
  $ partita fit data.csv --columns x --prior py --discount 0.1 --draws 2000 --force
  $ partita fit data.csv --columns x,y --kernel normal --set precision=0.1 --out tight
  $ partita fit data.csv --names id --kernel hierarchical --prior mfm --weight F --out learned
  $ partita fit data.csv --names id --checkpoint run.npz --out long
  $ partita fit data.csv --names id --resume run.npz --draws 2000 --out longer"""
)
@click.argument("source", metavar="DATA")
@data_options
@value_option(
    "--kernel",
    type=click.Choice(KERNELS),
    default="auto",
    help="Density of a cluster; auto goes by the columns' types, hierarchical is normal with a "
    "scale that is learned.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=X",
    help="A hyperparameter of the kernel, in place of the empirical rule's.",
)
@value_option(
    "--prior",
    type=click.Choice(PRIORS),
    default="dp",
    help="Dirichlet process, Pitman-Yor process, or mixture of finite mixtures.",
)
@click.option(
    "--concentration",
    metavar="A|S,R",
    help="Of dp and py: a number, or shape and rate of its gamma prior. Default: 1,1.",
)
@click.option("--discount", type=float, metavar="D", help="Of py, in [0, 1). Default: 0.25.")
@click.option(
    "--mean-components", type=float, metavar="M", help="Of mfm: expected components. Default: 5."
)
@whole_option("--components", metavar="K", help="Of mfm: exactly K components.")
@click.option(
    "--weight",
    metavar="W|S,R|F",
    help="Of mfm: Dirichlet weight, shape and rate of its gamma prior, or F: F(6, 3). Default: 1.",
)
@click.option(
    "--dynamic", is_flag=True, help="Of mfm: the weight is divided by the number of components."
)
@whole_option("--draws", help="Draws to keep from each chain.", default=2_000)
@whole_option(
    "--burn-in", help="Iterations of each chain before the first draw.", least=0, default=1_000
)
@whole_option("--chains", help="Chains.", default=4)
@whole_option("--thin", help="Keep every N-th iteration.", default=1)
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep the run in this file while it lasts.",
)
@value_option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=60.0,
    metavar="S",
    help="Seconds between writings of the checkpoint.",
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Continue the run in this checkpoint, all else as before; --draws may be larger.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what was understood of DATA and the model, and stop."
)
@click.option(
    "--out", type=click.Path(), metavar="DIR", help="Where results go. Default: NAME-fit of DATA."
)
@result_options
@summary_options
@seed_option("chains and the search")
@jobs_option
@cluster_options
@debug_option
def command(
    source: str,
    columns: tuple[str, ...],
    names: str | None,
    kernel: str,
    settings: tuple[str, ...],
    prior: str,
    checkpoint: str | None,
    resume: str | None,
    dry_run: bool,
    out: str | None,
    report: str | None,
    similarity: str | None,
    figures: str | None,
    one_based: bool,
    as_json: bool,
    force: bool,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    workers: int | None,
    **choices: Any,
) -> None:
    """Fit a Bayesian mixture model to DATA by Gibbs sampling, and summarize its clusterings.

    DATA is a csv, tsv, parquet or npy file with one row per item; - is standard input. The
    directory gets the draws, the fit, labels, bounds, items, clusters, the summary and report.

    Ctrl-C ends the sampling and summarizes the draws made so far; the exit code is then 130. With
    --checkpoint the run can be continued by --resume, which goes on writing to the same file.
    """
    out = out or f"{'data' if source == '-' else Path(source).stem}-fit"
    check_outputs(None if dry_run else out, report, figures, force=force)
    chosen_prior = make_prior(prior, {name: choices.pop(name) for name in PRIOR_OPTIONS})
    run = {name: choices.pop(name) for name in _RUN_OPTIONS}
    with cluster_of(scheduler, workers) as client, watch_interrupts() as interrupts:
        understood = understand(source, columns, names, choices)
        run["kernel"] = _kernel(kernel, settings, understood, chosen_prior)
        if dry_run:  # otherwise the sampler tells them
            for note in understood.table.notes:
                say(note)
            return
        run |= {"checkpoint": checkpoint or resume, "resume": resume, "n_jobs": jobs, "rng": seed}
        run["engine"] = client
        fit = sample_named(understood.table, understood.item_names, prior=chosen_prior, **run)
        with new_directory(out) as directory:  # before anything else can fail
            write_fit(fit, directory)
        if interrupts.came:
            say(f"{out} has the draws made so far; summarizing them. Ctrl-C again stops this.")
        try:
            summary = make_summary(fit, None, choices, seed=seed, jobs=jobs)
            with new_directory(out, adds=True) as directory:
                write_summary(summary, directory, similarity, one_based=one_based)
                if figures is not None:
                    write_figures(summary, fit, directory, figures)
                if report is None:
                    write_report(summary, directory / "report.html")
            if report is not None:
                summary.to_html(report, overwrite=force)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; {out} has the draws and the fit, not the summary."
            ) from None
    print_summary(summary, as_json=as_json, one_based=one_based)
    say(f"wrote {', '.join(filter(None, (out, report)))}")
    if interrupts.came:
        raise click.exceptions.Exit(INTERRUPTED)


def _kernel(
    name: str, settings: tuple[str, ...], understood: Understood, prior: PartitionPrior
) -> Kernel:
    """The kernel for the columns; shows what was understood of them."""
    from partita.samplers.choice import choose_kernel

    table = understood.table
    kernel = make_kernel(name, settings, table) or choose_kernel(table)[0]
    kernel = kernel.bind(table)
    click.echo(understood.show(kernel), err=True)
    click.echo(f"{counted(table.n_rows, 'item')}; prior of the clustering: {prior!r}", err=True)
    for warning in understood.warnings:
        say(warning)
    return kernel


def sample_named(table: Any, item_names: tuple[str, ...] | None, **options: Any) -> Fit:
    """A fit whose draws carry the names; says what was chosen for the user."""
    from partita.partitions.convert import as_draws
    from partita.samplers.sample import sample

    fit = sample(table, **options)
    if not sys.stderr.isatty():  # on a terminal the sampler has said so itself
        for note in fit.notes:
            say(note)
    if item_names is None:
        return fit
    return replace(fit, draws=as_draws(fit.draws, item_names=item_names))
