"""What commands write: whole or not at all, and over nothing unless told to."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._files import FileAccessError, FileMissingError, FileOverwriteError, atomic_path
from partita._optional import require
from partita.cli.show import say
from partita.errors import MissingDependencyError

if TYPE_CHECKING:
    from partita.partitions.draws import Draws
    from partita.samplers.fit import Fit
    from partita.summary.result import Summary

WRITTEN = frozenset(
    {
        *("labels.csv", "bounds.csv", "items.csv", "clusters.csv", "summary.json", "summary.txt"),
        *("similarity.csv", "similarity.npy", "draws.npz", "fit.npz", "data.csv"),
        *("report.html", "figures", "reproduction.html", "reproduction.md"),
        *("reproduction.md", "reproduction.html"),
    }
)
"""Everything that commands put into a directory of results."""


def check_file(path: str | None, *, force: bool) -> None:
    """Refuse early what could not be written at the end."""
    if path is None or path == "-":
        return
    target = Path(path)
    _check_parent(target)
    if target.is_dir():
        raise FileAccessError(f"{path} is a directory; expected the name of a file.")
    if target.is_file() and not force:
        raise FileOverwriteError(
            f"{path} exists already. Add --force to replace it, or choose another name."
        )


def check_directory(path: str | None, *, force: bool) -> None:
    """Refuse a directory of results that exists, unless it is empty or ours to replace."""
    if path is None:
        return
    target = Path(os.path.realpath(path))
    _check_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise FileAccessError(f"{path} is a file; expected a directory to write results into.")
    if Path.cwd().is_relative_to(target):
        raise FileAccessError(
            f"{path} is the directory you are in; results replace a directory as a whole. "
            "Choose a name inside it."
        )
    entries = {entry.name for entry in target.iterdir()}
    if not entries:
        return
    foreign = sorted(entries - WRITTEN)
    if foreign:
        raise FileOverwriteError(
            f"{path} holds files that partita did not write, such as {foreign[0]}; they would be "
            "lost. Choose another directory."
        )
    if not force:
        raise FileOverwriteError(
            f"{path} exists already. Add --force to replace it, or choose another directory."
        )


def _check_parent(target: Path) -> None:
    parent = target.absolute().parent
    if not parent.is_dir():
        raise FileMissingError(f"the directory {parent} does not exist. Make it first.")
    if not os.access(parent, os.W_OK):
        raise FileAccessError(f"the directory {parent} cannot be written to: permission denied.")


@contextmanager
def new_directory(path: str) -> Iterator[Path]:
    """A directory to fill, which becomes ``path`` when the block ends; see check_directory."""
    with atomic_path(path, overwrite=True) as temporary:
        temporary.mkdir()
        yield temporary


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A csv file; numbers with all their digits."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_summary(summary: Summary, directory: Path, similarity: str | None) -> None:
    """labels.csv, bounds.csv, items.csv, clusters.csv, summary.json, summary.txt."""
    names = item_names(summary.draws)
    labels = summary.labels.tolist()
    write_table(directory / "labels.csv", ("item", "cluster"), zip(names, labels, strict=True))
    _write_bounds(summary, names, directory / "bounds.csv")
    _write_items(summary, names, directory / "items.csv")
    _write_clusters(summary, directory / "clusters.csv")
    summary.to_json(directory / "summary.json")
    (directory / "summary.txt").write_text(f"{summary}\n", encoding="utf-8")
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
