"""What commands write: tables, the summary, the fit, the report, the figures."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._files import atomic_path
from partita._optional import require
from partita.cli.directories import check_directory, check_file
from partita.cli.show import say
from partita.errors import MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from partita.partitions.draws import Draws
    from partita.partitions.profile_table import Profiles
    from partita.samplers.fit import Fit
    from partita.summary.result import Summary


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""


def check_outputs(out: str | None, report: str | None, figures: str | None, *, force: bool) -> None:
    """Refuse early what could not be written at the end."""
    check_file(report, force=force, kind="report")
    check_libraries(report, figures)
    check_directory(out, force=force)


def check_libraries(report: str | None, figures: str | None) -> None:
    """Refuse a report or figures where their library is missing."""
    if report is not None and find_spec("bokeh") is None:
        require("bokeh", extra="report", purpose="a report")
    if figures is not None and find_spec("matplotlib") is None:
        require("matplotlib", extra="plot", purpose="figures")


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A csv file; numbers with all their digits.

    Text that a spreadsheet would take for a formula gets a leading apostrophe,
    as spreadsheets advise; ``PARTITA_RAW_CSV=1`` in the environment writes it as
    it is.
    """
    guard = not os.environ.get("PARTITA_RAW_CSV")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for row in chain([header], rows):
            writer.writerow([_guarded(cell) for cell in row] if guard else row)


def write_table_to(
    out: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, force: bool
) -> None:
    """The only file of a command, whole or not at all."""
    with atomic_path(out, overwrite=force) as temporary:
        write_table(temporary, header, rows)
    say(f"wrote {out}")


def _guarded(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def write_summary(
    summary: Summary, directory: Path, similarity: str | None, *, one_based: bool = False
) -> None:
    """labels.csv, bounds.csv, items.csv, clusters.csv, with data profiles.csv, and the summary."""
    from partita.summary.text import screen

    names = item_names(summary.draws, one_based)
    labels = numbered(summary.labels, one_based)
    write_table(directory / "labels.csv", ("item", "cluster"), zip(names, labels, strict=True))
    _write_bounds(summary, names, directory / "bounds.csv", one_based)
    _write_items(summary, names, directory / "items.csv", one_based)
    _write_clusters(summary, directory / "clusters.csv", one_based)
    if summary.profiles is not None:
        _write_profiles(summary.profiles, directory / "profiles.csv", one_based)
    summary.to_json(directory / "summary.json")
    text = screen(summary, first=int(one_based))
    (directory / "summary.txt").write_text(f"{text}\n", encoding="utf-8", newline="\n")
    if similarity is not None:
        _write_similarity(summary.draws, names, directory / f"similarity.{similarity}")


def write_fit(fit: Fit, directory: Path) -> None:
    """draws.npz and fit.npz."""
    from partita.io.files import write_draws

    write_draws(fit.draws, directory / "draws.npz")
    fit.save(directory / "fit.npz")


def item_names(draws: Draws, one_based: bool = False) -> Sequence[str | int]:
    """Names of the items, or their positions."""
    from partita.partitions.numbering import items_from_one

    return items_from_one(draws.item_names, draws.n_items, one_based)


def numbered(labels: NDArray[Any], one_based: bool) -> list[Any]:
    """Labels for a table."""
    from partita.partitions.numbering import from_one

    found: list[Any] = from_one(labels, one_based).tolist()
    return found


def _write_bounds(
    summary: Summary, names: Sequence[str | int], path: Path, one_based: bool
) -> None:
    """One column per partition; those that tie are numbered from the second on."""
    columns = {"estimate": summary.labels}
    for kind, bound in summary.ball.bounds.items():
        for number, labels in enumerate(bound.labels, start=1):
            columns[kind if number == 1 else f"{kind}.{number}"] = labels
    rows = zip(names, *(numbered(row, one_based) for row in columns.values()), strict=True)
    write_table(path, ("item", *columns), rows)


def _write_items(summary: Summary, names: Sequence[str | int], path: Path, one_based: bool) -> None:
    items = summary.items
    fields = ("labels", "probability", "other", "contribution", "share")
    columns = [
        numbered(getattr(items, field), one_based and field in ("labels", "other"))
        for field in fields
    ]
    placement = [f"placement.{k + one_based}" for k in range(items.placement.shape[1] - 1)]
    header = ("item", "cluster", *fields[1:], *placement, "placement.none")
    write_table(path, header, zip(names, *columns, *items.placement.T.tolist(), strict=True))


def _write_clusters(summary: Summary, path: Path, one_based: bool) -> None:
    table = summary.clusters
    fields = ("size", "within", "nearest", "nearest_similarity", "unchanged", "similar")
    columns = [
        numbered(getattr(table, field), one_based and field == "nearest") for field in fields
    ]
    clusters = range(one_based, len(table) + one_based)
    write_table(path, ("cluster", *fields), zip(clusters, *columns, strict=True))


def _write_profiles(table: Profiles, path: Path, one_based: bool) -> None:
    from partita.partitions.profile_table import NUMBERS

    names = ("cluster", "column", "parameter", *NUMBERS)
    columns = [list(getattr(table, name)) for name in names]
    columns[0] = numbered(table.cluster, one_based)
    write_table(path, names, zip(*columns, strict=True))


def _write_similarity(draws: Draws, names: Sequence[str | int], path: Path) -> None:
    import numpy as np

    from partita.partitions.similarity import similarity

    matrix = similarity(draws)
    if path.suffix == ".npy":
        np.save(path, matrix)
        return
    rows = ((name, *row.tolist()) for name, row in zip(names, matrix, strict=True))
    write_table(path, ("item", *map(str, names)), rows)


def write_report(summary: Summary, path: Path) -> None:
    """The report where it can be made; else say what it needs."""
    try:
        summary.to_html(path)
    except MissingDependencyError as error:
        say(f"no report: {error}")


def write_figures(
    summary: Summary, fit: Fit | None, directory: Path, suffix: str, *, n_jobs: int | None = None
) -> None:
    """``figures/`` with every figure that a summary has, and of a fit its traces and densities."""
    from partita import plots
    from partita.plots.canvas import close_figure

    figures: dict[str, Callable[[], Any]] = {
        "similarity": partial(plots.similarity, summary, n_jobs=n_jobs),
        "ball": partial(plots.ball, summary, fit=fit, n_jobs=n_jobs),
        "distances": partial(plots.distances, summary),
        "n_clusters": partial(plots.n_clusters, summary),
        "items": partial(plots.items, summary),
        f"{summary.draws.kind}_map": partial(plots.posterior_map, summary, n_jobs=n_jobs),
    }
    if summary.draws.kind != "ensemble":
        source = summary if fit is None else fit
        figures["traces"] = partial(plots.traces, source, estimate=summary.estimate, n_jobs=n_jobs)
    if summary.core is not None:
        figures["core"] = partial(plots.core, summary)
    if summary.profiles is not None:
        figures["profiles"] = partial(plots.profiles, summary)
    if summary.data is not None:
        figures["estimate"] = partial(plots.estimate, summary, fit=fit, n_jobs=n_jobs)
    place = directory / "figures"
    place.mkdir()
    for name, draw in figures.items():
        axes = draw()
        first = axes if hasattr(axes, "figure") else axes.flat[0]
        first.figure.savefig(place / f"{name}.{suffix}", dpi=200)
        close_figure(first.figure)
