"""``partita fit``: from a table of data to draws, and on to the summary; ``partita demo``."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import partita as pt
from partita._wording import counted
from partita.cli import options, outputs
from partita.cli.options import Work, say
from partita.cli.outputs import Results
from partita.cli.reading import InterpretedTable, data_options, interpret_table
from partita.cli.summarize import make_summary, summary_options
from partita.errors import MissingDependencyError
from partita.io.data_table import Table
from partita.labels import Labels
from partita.samplers.chains import SAMPLERS
from partita.samplers.sample import KERNELS, named_kernel

if TYPE_CHECKING:
    from partita.samplers.compare import ModelComparison

PRIORS: dict[str, Any] = {"dp": pt.DirichletProcess, "py": pt.PitmanYor, "mfm": pt.FiniteMixture}
PRIOR_OPTIONS = (
    *("concentration", "discount", "mean_components", "components", "weight", "dynamic"),
)
DRAWS, BURN_IN, CHAINS = 2_500, 1_000, 4
_ROW_VISITS, _FEWEST_ITERATIONS = 60_000_000, 60
"""Rows times iterations of a chain, at most, unless told otherwise, and its fewest iterations.
Chains of many rows start from a chain on a sample, so that few iterations of all rows do."""
DATA_SEED = 1


@click.command(
    epilog="""\b
Examples:
  $ partita fit data.csv --names id
  $ partita fit data.csv --names id --dry-run
  $ partita fit data.csv --columns x,y --names id --kernel wishart --out fit
  $ partita fit data.csv --names id --compare normal,wishart,hierarchical --out best
  $ partita fit data.csv --columns x --prior py --discount 0.1 --draws 2000 --force
  $ partita fit data.csv --columns x,y --kernel empirical --set precision=0.1 --out tight
  $ partita fit data.csv --names id --kernel hierarchical --prior mfm --weight F --out learned
  $ partita fit data.csv --names id --concentration 1 --sensitivity --out priors
  $ partita fit data.csv --names id --checkpoint run.npz --out long
  $ partita fit data.csv --names id --resume run.npz --draws 2000 --out longer"""
)
@click.argument("source", metavar="DATA")
@data_options
@options.of(
    pt.sample,
    kernel={
        "help": "Density of a cluster. auto goes by the columns' types; numbers get wishart "
        "(normals with a full covariance), hierarchical (independent normals) or adaptive (the "
        "same for clusters of similar widths), the best by held-out density; all learn how wide "
        "clusters are. types takes wishart without comparing; empirical is the paper's rule.",
        "type": click.Choice((*KERNELS, "normal")),  # an older name
        "default": "auto",
    },
)
@options.text(
    "--compare",
    "A,B,…",
    "Kernels to compare by rows held out in five folds; the best one is fitted.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=X",
    help="A hyperparameter of the kernel, in place of the empirical rule's.",
)
@click.option(
    "--prior",
    type=click.Choice(tuple(PRIORS)),
    default="dp",
    help="Dirichlet process, Pitman-Yor process, or mixture of finite mixtures.",
)
@options.text(
    "--concentration",
    "A|S,R",
    "For dp and py: a number, or shape and rate of its gamma prior. Default: 1,1.",
)
@options.text("--discount", "D", "For py, in [0, 1). Default: 0.25.", type=float)
@options.text(
    "--mean-components", "M", "For mfm: expected number of components. Default: 5.", type=float
)
@options.text("--components", "K", "For mfm: exactly K components.", type=click.IntRange(1))
@options.text(
    "--weight",
    "W|S,R|F",
    "For mfm: Dirichlet weight, shape and rate of its gamma prior, or F: F(6, 3). Default: 1.",
)
@options.of(pt.FiniteMixture, dynamic="For mfm: divide the weight by the number of components.")
@options.of(
    pt.summarize,
    sensitivity="Report under which other priors the estimate stays the same. Default: where "
    "cheap.",
)
@options.of(
    pt.sample,
    draws="Draws to keep from each chain; fewer above 20,000 rows.",
    burn_in="Iterations of each chain before the first draw; fewer above 20,000 rows.",
    chains="Chains.",
    thin="Keep every N-th iteration.",
    sampler={
        "help": "How items are reassigned: one by one, or all at once, which is faster for many "
        "rows.",
        "type": click.Choice(SAMPLERS),
    },
    checkpoint="Save the state of the run to this file regularly.",
    checkpoint_every="Seconds between writes of the checkpoint.",
    resume="Continue the run in this checkpoint, all else as before; --draws may be larger.",
)
@options.flag("--dry-run", "Show how DATA and the model were understood, and stop.")
@options.written("--out", "DIR", "Directory for the results. Default: NAME-fit.")
@click.option(
    "--similarity",
    type=click.Choice(("csv", "npy")),
    help="Write the similarity matrix into the directory too.",
)
@outputs.results
@summary_options
@options.of(pt.sample, rng=options.seed("chains and the search"), n_jobs=options.THREADS)
@options.cluster
@options.debug
def fit(
    source: str,
    columns: tuple[str, ...],
    names: str | None,
    kernel: str,
    compare: str | None,
    settings: tuple[str, ...],
    prior: str,
    checkpoint: str | None,
    resume: str | None,
    dry_run: bool,
    results: Results,
    work: AbstractContextManager[Work],
    rng: int,
    n_jobs: int | None,
    **choices: Any,
) -> None:
    """Fit a Bayesian mixture model to DATA by Gibbs sampling, and summarise its clusterings.

    DATA is a csv, tsv, parquet or npy file with one row per item; - is standard input. The
    directory gets the draws, the fit, labels, bounds, items, clusters, the summary and report.

    Ctrl-C ends the sampling and summarises the draws made so far; the exit code is then 130. With
    --checkpoint the run can be continued by --resume, which goes on writing to the same file.
    """
    out = results.out or f"{'data' if source == '-' else Path(source).stem}-fit"
    results = replace(results, out=out)
    outputs.check_file(checkpoint or resume, force=True, inputs=(source,))
    compared = _compared_names(compare, kernel, settings)
    replace(results, out=None if dry_run else out).check(
        *outputs.FIT_FILES,
        *outputs.SUMMARY_FILES,
        *(("report.html",) if results.report is None else ()),
        *(("models.csv",) if compared else ()),
        *(("sensitivity.csv",) if (sensitivity := choices["sensitivity"]) else ()),
        inputs=(source, resume),
    )
    chosen_prior = make_prior(prior, {name: choices.pop(name) for name in PRIOR_OPTIONS})
    run = options.take(pt.sample, choices) | {"rng": rng, "n_jobs": n_jobs}
    from partita.io.write import check_names

    with work as at:
        interpreted = interpret_table(source, columns, names, choices)
        check_names(interpreted.item_names or ())  # not when the draws are written
        models = None
        if compared and not dry_run:
            models = _compare(compared, interpreted.table, chosen_prior, rng, n_jobs)
            kernel = models.best
        run["kernel"] = _kernel(kernel, settings, interpreted, chosen_prior, n_jobs)
        if dry_run:  # otherwise the sampler tells them
            for note in interpreted.table.notes:
                say(note)
            return
        run |= _reduce_iterations(interpreted.table.n_rows)
        run |= {"checkpoint": checkpoint or resume, "resume": resume, "engine": at.client}
        made = sample_named(interpreted.table, interpreted.item_names, prior=chosen_prior, **run)
        with results.directory() as directory:  # before anything else can fail
            outputs.write_fit(made, directory)
            if models is not None:
                table = {"model": models.names, **models.to_columns()}
                outputs.write_columns(directory / "models.csv", table)
        if at.interrupted:
            say(f"{out} has the draws made so far; summarising them. Ctrl-C again stops this.")
        try:
            summary = make_summary(made, choices, rng=rng, n_jobs=n_jobs)
            with results.directory() as directory:
                results.write(summary, directory, made, n_jobs)
                if sensitivity and (priors := summary.sensitivity) is not None:
                    table = {"prior": priors.priors, **priors.to_columns()}
                    outputs.write_columns(directory / "sensitivity.csv", table)
                if results.report is None:
                    outputs.write_report(summary, directory / "report.html")
            if results.report is not None:
                summary.to_html(results.report, overwrite=results.force)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; {out} has the draws and the fit, not the summary."
            ) from None
        results.show(summary)
        say(f"wrote {', '.join(filter(None, (out, results.report)))}")


def _reduce_iterations(n_rows: int) -> dict[str, int]:
    """Fewer draws and less burn-in for many rows, where neither was given; says so."""
    iterations = max(_FEWEST_ITERATIONS, _ROW_VISITS // n_rows)
    if iterations >= 3_000 or any(map(options.was_given, ("draws", "burn_in", "thin", "resume"))):
        return {}
    burn_in = iterations // 3
    say(
        f"{n_rows:,} rows: each chain keeps {iterations - burn_in:,} draws after {burn_in:,} "
        "iterations of burn-in. --draws and --burn-in ask for more."
    )
    return {"draws": iterations - burn_in, "burn_in": burn_in}


def _compared_names(compare: str | None, kernel: str, settings: tuple[str, ...]) -> tuple[str, ...]:
    """The kernels of --compare."""
    if compare is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in compare.split(",")))
    known = (*KERNELS[2:], "normal")
    unknown = [name for name in names if name not in known]
    if unknown or len(names) < 2:
        wrong = f"unknown kernel {unknown[0]!r}" if unknown else "one kernel"
        raise click.UsageError(f"--compare {compare}: {wrong}; expected two of {', '.join(known)}.")
    if kernel != "auto" or settings:
        raise click.UsageError("--compare chooses the kernel: leave --kernel and --set out.")
    return names


def _compare(
    names: tuple[str, ...], table: Table, prior: pt.PartitionPrior, rng: int, n_jobs: int | None
) -> ModelComparison:
    """The kernels by their log predictive density of held-out rows; shows the table."""
    from partita.samplers.compare import cross_validate

    say(f"comparing {', '.join(names)} by rows held out in five folds …")
    kernels = {name: named_kernel(name, table)[0].bind(table) for name in names}
    discrete = {name: kernel.discrete(table.n_columns) for name, kernel in kernels.items()}
    if len(set(discrete.values())) > 1:
        raise click.UsageError(
            "--compare: some of these kernels give probabilities and others densities, which "
            "cannot be compared."
        )
    models = {name: (kernel, prior, kernel.encode(table)) for name, kernel in kernels.items()}
    found = cross_validate(models, rng=rng, n_jobs=n_jobs)
    click.echo(str(found), err=True)
    return found


def _kernel(
    name: str,
    settings: tuple[str, ...],
    interpreted: InterpretedTable,
    prior: pt.PartitionPrior,
    n_jobs: int | None,
) -> pt.Kernel:
    """The kernel for the columns; shows what was understood of them."""
    table = interpreted.table
    kernel, note = named_kernel(name, table, prior, n_jobs)
    kernel = with_settings(kernel, name, settings).bind(table)
    click.echo(interpreted.show(kernel), err=True)
    if "held-out" in note:
        say(note)
    click.echo(f"{counted(table.n_rows, 'item')}; prior of the clustering: {prior!r}", err=True)
    for warning in interpreted.warnings:
        say(warning)
    return kernel


def sample_named(table: Any, item_names: tuple[str, ...] | None, **run: Any) -> pt.Fit:
    """A fit whose draws carry the names; says what was chosen for the user."""
    fit = pt.sample(table, **run)
    if not sys.stderr.isatty():  # on a terminal the sampler has said so itself
        for note in fit.notes:
            say(note)
    return replace(fit, draws=pt.as_draws(fit.draws, item_names=item_names))


def with_settings(kernel: pt.Kernel, name: str, settings: tuple[str, ...]) -> pt.Kernel:
    """The kernel with the hyperparameters that are set."""
    if not settings:
        return kernel
    if name in ("types", "auto"):
        raise click.UsageError("--set needs a kernel; name one with --kernel.")
    if kernel.kind == "Product":
        raise click.UsageError("--set needs columns of one type; select them with --columns.")
    known = tuple(field.name for field in fields(kernel) if field.name != "levels")  # type: ignore[arg-type]
    chosen = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key, numbers = key.strip(), _numbers_in(text)
        if not equals or not numbers:
            raise click.UsageError(
                f"--set {setting}: expected NAME=NUMBER, or NAME=NUMBER,NUMBER,… with one per "
                "column."
            )
        if key not in known:
            raise click.UsageError(
                f"--set {setting}: kernel {name} has no {key!r}. It has {', '.join(known)}."
            )
        chosen[key] = numbers[0] if len(numbers) == 1 else numbers
    return replace(kernel, **chosen)  # type: ignore[type-var]


def make_prior(name: str, chosen: dict[str, Any]) -> pt.PartitionPrior:
    """The prior of that name; an option of another prior is wrong usage."""
    for option, value in chosen.items():
        priors = [each for each, kind in PRIORS.items() if option in signature(kind).parameters]
        if value not in (None, False) and name not in priors:
            shown = option.replace("_", "-")
            raise click.UsageError(f"--{shown} belongs to --prior {' or '.join(priors)}.")
    if name == "mfm":
        weight, dynamic = _number_or_law("weight", chosen["weight"] or "1"), chosen["dynamic"]
        if chosen["components"] is not None:
            return pt.FiniteMixture.exactly(chosen["components"], weight=weight, dynamic=dynamic)
        mean = chosen["mean_components"] or 5.0
        return pt.FiniteMixture(weight, mean_components=mean, dynamic=dynamic)
    concentration: Any = _number_or_law("concentration", chosen["concentration"] or "1,1")
    if name == "dp":
        return pt.DirichletProcess(concentration)
    discount = chosen["discount"]
    return pt.PitmanYor(concentration, 0.25 if discount is None else discount)


_LAWS = {
    "concentration": "a number, or SHAPE,RATE of a gamma prior",
    "weight": "a number, SHAPE,RATE of a gamma prior, or F for F(6, 3)",
}
"""What options of priors may be."""


def _number_or_law(option: str, text: str) -> float | pt.Gamma | pt.F:
    if option == "weight" and text.strip().lower() == "f":
        return pt.F(6, 3)
    numbers = _numbers_in(text)
    if len(numbers) not in (1, 2):
        raise click.UsageError(f"--{option} {text}: expected {_LAWS[option]}.")
    return numbers[0] if len(numbers) == 1 else pt.Gamma(*numbers)


def _numbers_in(text: str) -> tuple[float, ...]:
    """Numbers between commas; empty if one of them is not a number."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()


@click.command(
    epilog="""\b
Examples:
  $ partita demo
  $ partita demo example2 --out another-demo
  $ partita demo galaxies --force"""
)
@click.argument("name", type=click.Choice(("galaxies", "example1", "example2")), default="galaxies")
@click.option("--out", type=click.Path(), default="partita-demo", metavar="DIR")
@options.force
@options.of(pt.sample, rng=options.seed("chains and the search"), n_jobs=options.THREADS)
@options.debug
def demo(name: str, out: str, force: bool, rng: int, n_jobs: int | None) -> None:
    """Sampling, estimate, credible ball, figures and report on data of the paper.

    galaxies are the velocities of 82 galaxies; example1 and example2 are 200 points from four
    normals in the plane, the same in every run. The first run compiles and takes longer.
    """
    results = Results(out, force)
    figures = tuple(f"figures/{name}.pdf" for name in outputs.FIGURES)
    results.check("data.csv", "report.html", *outputs.FIT_FILES, *outputs.SUMMARY_FILES, *figures)
    title, table, truth = _example(name)
    say(f"{title}: sampling {CHAINS} chains of {DRAWS:,} draws …")
    run = {"draws": DRAWS, "burn_in": BURN_IN, "chains": CHAINS, "rng": rng, "n_jobs": n_jobs}
    made = sample_named(table, None, kernel="empirical", **run)  # the paper's model
    say("searching for the estimate, proving how good it is, measuring the credible ball …")
    summary = pt.summarize(made, rng=rng, n_jobs=n_jobs)
    say("writing tables, figures and the report …")
    with results.directory() as directory:
        values = [column.tolist() for column in table.columns]
        outputs.write_columns(directory / "data.csv", dict(zip(table.names, values, strict=True)))
        outputs.write_fit(made, directory)
        results.write(summary, directory)
        outputs.write_report(summary, directory / "report.html")
        try:
            outputs.write_figures(summary, made, directory, "pdf", n_jobs=n_jobs)
        except MissingDependencyError as error:
            say(f"no figures: {error}")
    outputs.show_summary(summary)
    if truth is not None:
        ball = summary.ball
        outputs.show(
            f"Truth: {counted(int(truth.max()) + 1, 'cluster')}, "
            f"{pt.distance(truth, ball.center):.3g} bits from the estimate, "
            f"{'inside' if ball.contains(truth) else 'outside'} the ball\n"
            f"  (which contains it from probability {ball.credible_level(truth):.3g} on)"
        )
    place = Path(out)
    say("")
    if (place / "report.html").exists():
        say(f"Open {place / 'report.html'} in a browser.")
    if (place / "figures").is_dir():
        say(f"Figures for a paper are in {place / 'figures'}/, tables and labels in {out}/.")
    else:
        say(f"Tables and labels are in {out}/.")
    say(f"The same for your own draws: partita summarize {place / 'draws.npz'}")
    say(f"and for your own data:       partita fit {place / 'data.csv'}")


def _example(name: str) -> tuple[str, Table, Labels | None]:
    """A title, the data, and the truth where it is known."""
    if name == "galaxies":
        title = "Velocities of 82 galaxies in 1,000 km/s"
        return title, Table(("velocity",), (pt.datasets.galaxies(),)), None
    simulated = pt.datasets.four_normals(example=int(name[-1]), rng=DATA_SEED)
    table = Table(("x1", "x2"), tuple(column.copy() for column in simulated.data.T))
    return "200 points from four normals", table, simulated.labels
