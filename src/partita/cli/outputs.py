"""Results on standard output, messages on standard error, and the files that commands write.

A command writes files of fixed names and touches nothing else in their directory. A file that
exists is replaced only with ``--force``, and never where the command reads it.
"""

from __future__ import annotations

import csv
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from functools import partial, wraps
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

import partita as pt
from partita import _files
from partita._files import FileAccessError, FileOverwriteError, atomic_path
from partita._imports import require
from partita._wording import printable
from partita.cli import options
from partita.cli.options import F, say
from partita.errors import InvalidInputError, MissingDependencyError
from partita.kernels.arrays import Array
from partita.labels import from_one, items_from_one

if TYPE_CHECKING:
    from partita.summary.features import FeatureSummary
    from partita.summary.result import AnySummary

_STYLES: dict[str, dict[str, Any]] = {
    "warning": {"fg": "yellow"},
    "rule": {"dim": True},
    "heading": {"bold": True},
}
"""How kinds of lines look on a coloured terminal."""


def width(*, elsewhere: int = 80) -> int:
    """Columns of the terminal that results go to, at most 100; ``elsewhere`` when it is none."""
    if not sys.stdout.isatty():
        return elsewhere
    return min(100, options.terminal_width())


def coloured() -> bool:
    """Whether colours are wanted: a terminal, no NO_COLOR, not a dumb one."""
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def show(text: str) -> None:
    """Print a result."""
    click.echo(printable(text, keep="\n\t"))


def show_either(text: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Print a result as text, or as JSON."""
    if not as_json:
        show(text)
        return
    from partita._result import json_text, plain

    click.echo(json_text(plain(document)))


def wrapped(columns: int, *lines: str) -> str:
    """Lines broken where the terminal ends, their continuations indented."""
    return "\n".join(
        part
        for line in lines
        for part in textwrap.wrap(line, columns, subsequent_indent="  ", break_on_hyphens=False)
    )


def show_summary(summary: AnySummary, *, first: int = 0) -> None:
    """Print a summary, its clusters numbered from ``first`` on.

    On a coloured terminal headings are bold and warnings yellow.
    """
    from partita.summary.text import screen_lines

    colours = coloured()
    for line in screen_lines(summary, width(), first=first):
        lead, rest = printable(line.text[: line.lead]), printable(line.text[line.lead :])
        if colours:
            lead = click.style(lead, bold=True, fg="cyan") if lead else ""
            rest = click.style(rest, **_STYLES[line.kind]) if line.kind in _STYLES else rest
        click.echo(lead + rest)


# ---------------------------------------------------------------- what may be written

SUMMARY_FILES = (
    *("labels.csv", "bounds.csv", "items.csv", "clusters.csv", "profiles.csv"),
    *("summary.json", "summary.txt"),
)
FEATURE_FILES = (
    *("memberships.csv", "features.csv", "bounds.csv"),
    *("summary.json", "summary.txt"),
)
FIT_FILES = ("draws.npz", "fit.npz")
FIGURES = (
    *("similarity", "ball", "distances", "n_clusters", "items", "posterior_map", "ensemble_map"),
    *("traces", "core", "profiles", "estimate", "sensitivity", "memberships", "n_features"),
)

_PROFILES = 12
"""Rows of the profiles that follow a summary on the screen."""


@dataclass(frozen=True)
class Results:
    """Where the results of a command go, by its options."""

    out: str | None
    force: bool
    report: str | None = None
    similarity: str | None = None
    figures: str | None = None
    one_based: bool = False
    as_json: bool = False

    def check(self, *names: str, inputs: Iterable[str | None] = ()) -> None:
        """Refuse early what could not be made or written at the end."""
        check_file(self.report, force=self.force, inputs=inputs)
        for library in ("bokeh", "matplotlib") if self.report is not None else ():
            if find_spec(library) is None:
                require(library, extra="report", purpose="a report")
        if self.similarity is not None:
            names += (f"similarity.{self.similarity}",)
        if self.figures is not None:
            if find_spec("matplotlib") is None:
                require("matplotlib", extra="plot", purpose="drawing figures")
            names += tuple(f"figures/{name}.{self.figures}" for name in FIGURES)
        check_directory(self.out, names, force=self.force, inputs=inputs)

    def directory(self) -> AbstractContextManager[Path]:
        """The directory to fill; see :func:`fill_directory`."""
        return fill_directory(str(self.out), force=self.force)

    def write(
        self,
        summary: AnySummary,
        directory: Path,
        fit: pt.Fit | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """The tables of a summary and its figures into the directory."""
        write_summary(summary, directory, self.similarity, one_based=self.one_based)
        if self.figures is not None:
            write_figures(summary, fit, directory, self.figures, n_jobs=n_jobs)

    def show(self, summary: AnySummary) -> None:
        """The summary on standard output, as JSON or fitted to the terminal."""
        if self.as_json:
            click.echo(summary.to_json())
            return
        show_summary(summary, first=int(self.one_based))
        if (profiles := getattr(summary, "profiles", None)) is not None:
            place = "the profiles.csv of --out DIRECTORY"
            if self.out is not None:
                place = str(Path(self.out) / "profiles.csv")
            rows = profiles._screen(_PROFILES, f"in {place}", int(self.one_based))
            show(f"\nProfiles: what each cluster is like\n{rows}")


def results(function: F) -> F:
    """What is printed and written: the command gets it as :class:`Results`."""

    @wraps(function)
    def command(**given: Any) -> None:
        wanted = {field.name: given.pop(field.name) for field in fields(Results)}
        function(results=Results(**wanted), **given)

    return options.several(
        options.written("--report", "FILE", "Write an interactive HTML report."),
        click.option(
            "--figures",
            type=click.Choice(("pdf", "svg", "png")),
            help="Write figures for a paper into the directory too.",
        ),
        options.one_based,
        options.as_json,
        options.force,
    )(cast("F", command))


def check_directory(
    out: str | None, names: Iterable[str], *, force: bool, inputs: Iterable[str | None] = ()
) -> None:
    """Refuse early what could not be written at the end: files that exist, or that are read."""
    _refuse_two_readers_of_stdin(inputs)
    if out is None:
        return
    _files.check_directory(Path(out) if Path(out).is_dir() else Path(out).absolute().parent, out)
    if Path(out).is_file():
        raise FileAccessError(f"{out} is a file; expected a directory to write results into.")
    for name in names:
        _check_place(Path(out) / name, force=force, inputs=inputs)


def check_file(
    path: str | None, *, force: bool, inputs: Iterable[str | None] = (), directory: bool = False
) -> None:
    """Refuse early a file, or a directory of a format, that could not be written."""
    _refuse_two_readers_of_stdin(inputs)
    if path is None or path == "-":
        return
    _files.check_directory(Path(path).absolute().parent, path)
    _check_place(Path(path), force=force, inputs=inputs, directory=directory)


def _refuse_two_readers_of_stdin(inputs: Iterable[str | None]) -> None:
    if sum(path == "-" for path in inputs) > 1:
        raise InvalidInputError(
            "standard input (-) was given twice; it can stand for one file. Name the other."
        )


def _check_place(
    place: Path, *, force: bool, inputs: Iterable[str | None], directory: bool = False
) -> None:
    if not (place.is_file() or place.is_dir()):  # devices and pipes are written to
        return
    # A column may follow the name of a file, as in labels.csv:cluster.
    read = (part for text in inputs if text for part in (text, text.rpartition(":")[0]) if part)
    if any(os.path.exists(part) and place.samefile(part) for part in read):
        raise FileOverwriteError(
            f"{place} is read by this command, so it cannot be written. Choose another name."
        )
    _files.check_target(place, place, force, lambda _: directory)


@contextmanager
def fill_directory(out: str, *, force: bool) -> Iterator[Path]:
    """A directory to fill, whose files become those of ``out``, each whole, when the block ends."""
    target = Path(os.path.realpath(out))
    # On the same disk as the target, which may be a mount of its own.
    with (
        _files.translate_os_errors(out),
        _files.scratch_path(target / "out" if target.is_dir() else target) as temporary,
    ):
        temporary.mkdir()
        yield temporary
        made = [file for file in temporary.rglob("*") if file.is_file()]
        places = [target / file.relative_to(temporary) for file in made]
        for place in places:  # another process may have written meanwhile
            _check_place(place, force=force, inputs=())
        for file, place in zip(made, places, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, place)


# ---------------------------------------------------------------- what is written

_BLOCK = 50_000
"""Rows of a table that are made at a time."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A csv file; numbers with all their digits.

    Text that a spreadsheet would take for a formula gets a leading apostrophe,
    as spreadsheets advise; ``PARTITA_RAW_CSV=1`` in the environment writes it as
    it is.
    """
    _write_rows(path, map(_escape_formulas, chain([header], rows)))


def write_columns(path: Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """A csv file of columns under their headings."""
    write_table(path, tuple(columns), zip(*columns.values(), strict=True))


def _write_rows(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def write_table_to(
    out: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, force: bool
) -> None:
    """The only file of a command, whole or not at all."""
    with atomic_path(out, overwrite=force) as temporary:
        write_table(temporary, header, rows)
    say(f"wrote {out}")


def _escape_formulas(cells: Sequence[Any]) -> Sequence[Any]:
    if os.environ.get("PARTITA_RAW_CSV"):
        return cells
    return [f"'{c}" if isinstance(c, str) and c.startswith(_FORMULA) else c for c in cells]


def write_summary(
    summary: Any, directory: Path, similarity: str | None, *, one_based: bool = False
) -> None:
    """The tables of a summary as csv, and all of it as summary.json and summary.txt."""
    from partita.credible.profiles import NUMBERS
    from partita.summary.features import FeatureSummary
    from partita.summary.text import screen

    names = item_names(summary.draws, one_based)
    if isinstance(summary, FeatureSummary):
        _write_memberships(summary, names, directory, int(one_based))
    else:
        labels = numbered(summary.labels, one_based)
        write_columns(directory / "labels.csv", {"item": names, "cluster": labels})
        _write_bounds(summary, names, directory / "bounds.csv", one_based)
        _write_items(summary, names, directory / "items.csv", one_based)
        _write_clusters(summary, directory / "clusters.csv", one_based)
        if summary.profiles is not None:
            frame = summary.profiles
            columns = {n: getattr(frame, n) for n in ("cluster", "column", "parameter", *NUMBERS)}
            columns["cluster"] = numbered(frame.cluster, one_based)
            write_columns(directory / "profiles.csv", columns)
    summary.to_json(directory / "summary.json")
    text = screen(summary, first=int(one_based))
    (directory / "summary.txt").write_text(f"{text}\n", encoding="utf-8", newline="\n")
    if similarity is not None:
        _write_similarity(summary.draws, names, directory / f"similarity.{similarity}")


def _write_memberships(
    summary: FeatureSummary, names: Sequence[str | int], directory: Path, first: int
) -> None:
    """memberships.csv, features.csv and bounds.csv of feature draws; features from ``first``."""
    allocation, membership, features = summary.allocation, summary.membership, summary.features
    rows = (
        (names[i], k + first, int(allocation[i, k]), float(membership[i, k]))
        for i in range(len(names))
        for k in range(allocation.shape[1])
    )
    write_table(directory / "memberships.csv", ("item", "feature", "estimate", "probability"), rows)
    fields = ("size", "matched", "matched_size")
    columns: dict[str, Iterable[Any]] = {"feature": range(first, features.size.size + first)}
    columns |= {field: getattr(features, field).tolist() for field in fields}
    write_columns(directory / "features.csv", columns)
    bounds = (
        (name, tie + first, names[i], int(k) + first)
        for name, bound in summary.ball.bounds.items()
        for tie, extreme in enumerate(bound.allocations)
        for i, k in zip(*extreme.nonzero(), strict=True)
    )
    write_table(directory / "bounds.csv", ("bound", "allocation", "item", "feature"), bounds)


def write_fit(fit: pt.Fit, directory: Path) -> None:
    """draws.npz and fit.npz."""
    pt.write_draws(fit.draws, directory / "draws.npz")
    fit.save(directory / "fit.npz")


def item_names(draws: pt.Draws, one_based: bool = False) -> Sequence[str | int]:
    """Names of the items, or their positions."""
    return items_from_one(draws.item_names, draws.n_items, one_based)


def numbered(labels: Array, one_based: bool) -> list[Any]:
    """Labels for a table."""
    found: list[Any] = from_one(labels, one_based).tolist()
    return found


def _write_bounds(
    summary: pt.Summary, names: Sequence[str | int], path: Path, one_based: bool
) -> None:
    """One column per partition; those that tie are numbered from the second on."""
    columns = {"item": names, "estimate": numbered(summary.labels, one_based)}
    for kind, bound in summary.ball.bounds.items():
        for number, labels in enumerate(bound.labels, start=1):
            heading = kind if number == 1 else f"{kind}.{number}"
            columns[heading] = numbered(labels, one_based)
    write_columns(path, columns)


def _write_items(
    summary: pt.Summary, names: Sequence[str | int], path: Path, one_based: bool
) -> None:
    items = summary.items
    fields = ("labels", "probability", "other", "contribution", "share")
    placement = [f"placement.{k + one_based}" for k in range(items.placement.shape[1] - 1)]
    header = ("item", "cluster", *fields[1:], *placement, "placement.none")

    names = _escape_formulas(names)

    def rows() -> Iterator[Sequence[Any]]:
        yield header
        for start in range(0, len(names), _BLOCK):  # as lists numbers take four times the room
            part = slice(start, start + _BLOCK)
            columns = [
                numbered(getattr(items, field)[part], one_based and field in ("labels", "other"))
                for field in fields
            ]
            yield from zip(names[part], *columns, *items.placement[part].T.tolist(), strict=True)

    _write_rows(path, rows())  # in which only names are text


def _write_clusters(summary: pt.Summary, path: Path, one_based: bool) -> None:
    table = summary.clusters
    columns: dict[str, Iterable[Any]] = {"cluster": range(one_based, len(table) + one_based)}
    for field in ("size", "within", "nearest", "nearest_similarity", "unchanged", "similar"):
        columns[field] = numbered(getattr(table, field), one_based and field == "nearest")
    write_columns(path, columns)


def _write_similarity(draws: pt.Draws, names: Sequence[str | int], path: Path) -> None:
    matrix = pt.similarity(draws)
    if path.suffix == ".npy":
        np.save(path, matrix)
        return
    rows = ((name, *row.tolist()) for name, row in zip(names, matrix, strict=True))
    write_table(path, ("item", *map(str, names)), rows)


def write_report(summary: pt.Summary, path: Path) -> None:
    """The report where it can be made; else say what it needs."""
    try:
        summary.to_html(path)
    except MissingDependencyError as error:
        say(f"no report: {error}")


def write_figures(
    summary: Any, fit: pt.Fit | None, directory: Path, suffix: str, *, n_jobs: int | None = None
) -> None:
    """``figures/`` with every figure that a summary has, and of a fit its traces and densities."""
    from partita.plots._style import close_figure

    place = directory / "figures"
    place.mkdir()
    for name, draw in _figures(summary, fit, n_jobs).items():
        axes = draw()
        first = axes if hasattr(axes, "figure") else axes.flat[0]
        first.figure.savefig(place / f"{name}.{suffix}", dpi=200)
        close_figure(first.figure)


def _figures(summary: Any, fit: pt.Fit | None, n_jobs: int | None) -> dict[str, Callable[[], Any]]:
    """How each figure that a summary has is drawn, by its name."""
    plots = pt.plots
    figures: dict[str, Callable[[], Any]] = {
        "distances": partial(plots.distances, summary),
        f"{summary.draws.kind}_map": partial(plots.posterior_map, summary, n_jobs=n_jobs),
    }
    if hasattr(summary, "__allocation__"):
        figures["memberships"] = partial(plots.memberships, summary)
        figures["ball"] = partial(plots.feature_ball, summary)
        figures["n_features"] = partial(plots.n_features, summary)
        return figures
    figures["similarity"] = partial(plots.similarity, summary, n_jobs=n_jobs)
    figures["ball"] = partial(plots.ball, summary, fit=fit, n_jobs=n_jobs)
    figures["n_clusters"] = partial(plots.n_clusters, summary)
    figures["items"] = partial(plots.items, summary)
    if summary.draws.kind != "ensemble":
        source = summary if fit is None else fit
        figures["traces"] = partial(plots.traces, source, estimate=summary.estimate, n_jobs=n_jobs)
    if summary.core is not None:
        figures["core"] = partial(plots.core, summary)
    if summary.sensitivity is not None:
        figures["sensitivity"] = partial(plots.prior_sensitivity, summary.sensitivity)
    if summary.profiles is not None:
        figures["profiles"] = partial(plots.profiles, summary)
    if summary.data is not None:
        figures["estimate"] = partial(plots.estimate, summary, fit=fit, n_jobs=n_jobs)
    return figures
