"""What commands write: tables, the summary, the fit, the report."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._optional import require
from partita.cli.show import say
from partita.errors import MissingDependencyError

if TYPE_CHECKING:
    from partita.partitions.draws import Draws
    from partita.partitions.profile_table import Profiles
    from partita.samplers.fit import Fit
    from partita.summary.result import Summary


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""


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


def _guarded(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def write_summary(summary: Summary, directory: Path, similarity: str | None) -> None:
    """labels.csv, bounds.csv, items.csv, clusters.csv, with data profiles.csv, and the summary."""
    names = item_names(summary.draws)
    labels = summary.labels.tolist()
    write_table(directory / "labels.csv", ("item", "cluster"), zip(names, labels, strict=True))
    _write_bounds(summary, names, directory / "bounds.csv")
    _write_items(summary, names, directory / "items.csv")
    _write_clusters(summary, directory / "clusters.csv")
    if summary.profiles is not None:
        _write_profiles(summary.profiles, directory / "profiles.csv")
    summary.to_json(directory / "summary.json")
    (directory / "summary.txt").write_text(f"{summary}\n", encoding="utf-8", newline="\n")
    if similarity is not None:
        _write_similarity(summary.draws, names, directory / f"similarity.{similarity}")


def write_fit(fit: Fit, directory: Path) -> None:
    """draws.npz and fit.npz."""
    from partita.io.files import write_draws

    write_draws(fit.draws, directory / "draws.npz")
    fit.save(directory / "fit.npz")


def item_names(draws: Draws) -> Sequence[str | int]:
    """Names of the items, or their positions."""
    return range(draws.n_items) if draws.item_names is None else draws.item_names


def _write_bounds(summary: Summary, names: Sequence[str | int], path: Path) -> None:
    """One column per partition; those that tie are numbered from the second on."""
    columns = {"estimate": summary.labels}
    for kind, bound in summary.ball.bounds.items():
        for number, labels in enumerate(bound.labels, start=1):
            columns[kind if number == 1 else f"{kind}.{number}"] = labels
    rows = zip(names, *(labels.tolist() for labels in columns.values()), strict=True)
    write_table(path, ("item", *columns), rows)


def _write_items(summary: Summary, names: Sequence[str | int], path: Path) -> None:
    items = summary.items
    fields = ("labels", "probability", "other", "contribution", "share")
    columns = [getattr(items, field).tolist() for field in fields]
    placement = [f"placement.{k}" for k in range(items.placement.shape[1] - 1)]
    header = ("item", "cluster", *fields[1:], *placement, "placement.none")
    rows = (
        (name, *row, *probabilities)
        for name, row, probabilities in zip(
            names, zip(*columns, strict=True), items.placement.tolist(), strict=True
        )
    )
    write_table(path, header, rows)


def _write_clusters(summary: Summary, path: Path) -> None:
    table = summary.clusters
    fields = ("size", "within", "nearest", "nearest_similarity", "unchanged", "similar")
    columns = [getattr(table, field).tolist() for field in fields]
    write_table(path, ("cluster", *fields), zip(range(len(table)), *columns, strict=True))


def _write_profiles(table: Profiles, path: Path) -> None:
    from partita.partitions.profile_table import NUMBERS

    names = ("cluster", "column", "parameter", *NUMBERS)
    columns = [list(getattr(table, name)) for name in names]
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


def check_report(path: str | None) -> None:
    """Refuse a report early where its libraries are missing."""
    if path is not None and find_spec("bokeh") is None:
        require("bokeh", extra="report", purpose="a report")


def write_report(summary: Summary, path: Path) -> None:
    """The report where it can be made; else say what it needs."""
    try:
        summary.to_html(path)
    except MissingDependencyError as error:
        say(f"no report: {error}")
