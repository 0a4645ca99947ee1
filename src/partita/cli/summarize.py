"""``partita summarize``: from draws, or a similarity matrix alone, to all that can be said."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

import partita as pt
from partita._result import fields_of
from partita.cli import options, outputs, reading
from partita.cli.options import Work, say
from partita.cli.outputs import Results
from partita.labels import items_from_one
from partita.losses.evaluate import as_loss, loss_names
from partita.search.estimate import METHODS

summary_options = options.several(
    options.loss("What the estimate minimises; with a parameter too, as in vi(0.7), entropy(1.5)."),
    options.of(
        pt.summarize,
        prob="Probability of the credible ball.",
        method={"help": "Search method.", "type": click.Choice(tuple(METHODS))},
        bound="How hard to prove that nothing better exists.",
        max_clusters="Maximum number of clusters.",
        n_clusters="Exactly this many clusters.",
        min_size="Smallest size of a cluster.",
    ),
    options.flag("--path", "Report what other numbers of clusters cost. Takes longer."),
    options.text(
        "--path-range",
        "LOW HIGH",
        "As --path, for prices of splitting between these only; 1 is the usual loss.",
        nargs=2,
        type=click.FloatRange(0, 2),
    ),
    options.of(pt.summarize, time_limit="Seconds for each search; then the best so far is taken."),
)
"""Options of summaries."""


@click.command(
    epilog="""\b
Examples:
  $ partita summarize draws.csv
  $ partita summarize draws.csv --data data.csv --report report.html
  $ partita summarize chain1.csv chain2.csv --burn-in 100 --out results
  $ partita summarize draws.npz --loss binder --prob 0.9 --json
  $ partita summarize part1.npy part2.npy --workers 2
  $ partita summarize draws.csv --n-clusters 2 --min-size 3 --path
  $ partita summarize draws.csv --out results --similarity csv --force
  $ partita summarize --similarity results/similarity.csv --loss binder
  $ partita summarize allocations.npz --features
  $ cat draws.csv | partita summarize -"""
)
@click.argument("sources", nargs=-1, metavar="DRAWS...")
@options.text(
    "--data",
    "FILE",
    "The observations, one row per item, for the report; no number depends on them.",
)
@options.weights
@options.flag(
    "--features",
    "DRAWS are feature allocations, in which an item may be in several features: npz, rds, "
    "RData, or a long table with the columns draw, feature, item.",
)
@options.written(
    "--out",
    "DIR",
    "Write labels, bounds, items, clusters (csv) and summary (json, txt) into DIR. Nothing "
    "else in it is touched; files that exist need --force.",
)
@options.text(
    "--similarity",
    "csv|npy|FILE",
    "csv or npy: write the similarity matrix into the directory too. "
    "FILE: summarise this matrix, in place of draws.",
)
@outputs.results
@summary_options
@reading.draws_options
@options.of(pt.summarize, rng=options.seed("search"), n_jobs=options.THREADS)
@options.cluster
@options.debug
def summarize(
    sources: tuple[str, ...],
    data: str | None,
    weights: str | None,
    features: bool,
    results: Results,
    work: AbstractContextManager[Work],
    n_jobs: int | None,
    **choices: Any,
) -> None:
    """Point estimate, credible ball and uncertainty from posterior draws.

    DRAWS is a file with one row per draw and one column per item; several files are several
    chains, and - is standard input. Formats: csv, tsv, npy, npz, parquet, nc, zarr, rds, RData.

    The summary is printed. Ctrl-C ends the search and summarises with the best so far; the exit
    code is then 130.
    """
    if results.similarity not in (None, "csv", "npy"):
        summarize_matrix(sources, data or weights, results)
        return
    if not sources:
        raise click.UsageError("Missing argument 'DRAWS...'.")
    if features:
        _refuse_for_features()
    for option in ("similarity", "figures"):
        if getattr(results, option) and results.out is None:
            raise click.UsageError(f"--{option} writes into a directory; name one with --out DIR.")
    inputs = (*sources, data, weights)
    results.check(*(outputs.FEATURE_FILES if features else outputs.SUMMARY_FILES), inputs=inputs)
    with work as at:
        draws: Any
        if features:
            choices["loss"] = choices["loss"] if options.was_given("loss") else None
            draws = reading.read_features_of(sources, choices, weights=weights)
        else:
            draws = reading.read_draws_of(sources, choices, weights=weights, engine=at.client)
        observed = None if data is None else reading.read_observations(data)
        summary = make_summary(draws, choices, data=observed, n_jobs=n_jobs)
        try:
            if results.out is not None:
                with results.directory() as directory:
                    results.write(summary, directory, n_jobs=n_jobs)
            if results.report is not None:
                summary.to_html(results.report, overwrite=results.force)
        finally:  # what was computed is shown even where it cannot be written
            results.show(summary)
        for place in filter(None, (results.out and str(Path(results.out) / ""), results.report)):
            say(f"wrote {place}")


def make_summary(draws: Any, choices: dict[str, Any], **others: Any) -> Any:
    """A summary as the options ask for it; without --path, the path where it is cheap."""
    choices["path"] = choices.pop("path_range") or choices["path"] or None
    return pt.summarize(draws, **options.take(pt.summarize, choices), **others)


def summarize_matrix(sources: tuple[str, ...], others: object, results: Results) -> None:
    """Print the estimate and write labels.csv; a ball needs draws, which a matrix has lost."""
    if sources or others or results.report or results.figures:
        raise click.UsageError(
            "--similarity FILE replaces the draws: leave out DRAWS, --data, --weights, "
            "--report and --figures. To write the matrix of DRAWS, give --similarity csv or npy."
        )
    path, out, one = str(results.similarity), results.out, results.one_based
    outputs.check_directory(out, ("labels.csv",), force=results.force, inputs=(path,))
    params = click.get_current_context().params
    matrix, names = reading.read_similarity(path)
    wishes = {**options.take(pt.estimate, dict(params)), "similarity": matrix}
    found = pt.estimate(**{**wishes, "loss": _loss(params)})
    document = {"loss": repr(found.loss), "item_names": names}
    document |= fields_of(found, "labels", "n_clusters", "expected_loss")
    document |= fields_of(found, "lower_bound", "gap")
    outputs.show_either(str(found), document, as_json=results.as_json)
    if out is not None:
        with results.directory() as directory:
            items = items_from_one(names, found.labels.size, one)
            columns = {"item": items, "cluster": outputs.numbered(found.labels, one)}
            outputs.write_columns(directory / "labels.csv", columns)
        say(f"wrote {out}")


def _loss(params: dict[str, Any]) -> str:
    """The loss asked for; without a wish the one closest to VI that a matrix gives."""
    if not options.was_given("loss"):
        say("a matrix does not give the expected VI; minimising its bound vi_lb (--loss vi_lb)")
        return "vi_lb"
    if not as_loss(params["loss"]).uses_similarity:
        raise click.UsageError(
            f"--loss {params['loss']} needs draws; from a matrix there are "
            f"{loss_names(lambda known: known.uses_similarity)}."
        )
    return str(params["loss"])


_NOT_OF_FEATURES = (
    *("data", "similarity", "scheduler", "workers", "path_range"),
    *("max_clusters", "n_clusters"),
)


def _refuse_for_features() -> None:
    params = click.get_current_context().params
    given = [name for name in _NOT_OF_FEATURES if params[name]]
    given += [name for name in ("method", "min_size") if options.was_given(name)]
    if given:
        option = given[0].replace("_", "-")
        raise click.UsageError(
            f"--{option} is for partitions and does not go together with --features."
        )
