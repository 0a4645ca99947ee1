"""Every digit the paper prints, from the paper's own draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._files import FileMissingError, PathLike
from partita.credible.ball import credible_ball
from partita.credible.ball_result import CredibleBall
from partita.errors import FileFormatError
from partita.io.files import reading
from partita.kernels.arrays import Ints
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, cross_table
from partita.reproduce import paper
from partita.reproduce.digits import as_printed, same_digits
from partita.reproduce.measures import (
    measure_bounds,
    measure_estimate,
    same_up_to_order,
    truth_table,
)
from partita.reproduce.pages import Page, PageTable, Section
from partita.reproduce.paper import LossName
from partita.search.estimate import estimate
from partita.search.result import PointEstimate

_OBJECTIVES: dict[LossName, str] = {"binder": "binder", "vi": "vi_lb"}
"""What the paper minimised: its VI estimate is the minimiser of VI_LB."""


@dataclass(frozen=True)
class Check:
    """One printed number, or one row of a cross tabulation, beside ours."""

    what: str
    ours: str
    printed: str
    same: bool

    def __str__(self) -> str:
        verdict = "ok     " if self.same else "DIFFERS"
        return f"{verdict}  {self.what}: {self.ours} (paper: {self.printed})"


@dataclass(frozen=True)
class Searches:
    """The paper's search and ours, on the same draws under one loss."""

    title: str
    paper: PointEstimate
    ours: PointEstimate
    expected: tuple[float, float]
    """Expected loss of the two under the loss itself, not its stand-in."""

    @property
    def same(self) -> bool:
        """Whether both found the same partition."""
        return np.array_equal(self.paper.labels, self.ours.labels)


@dataclass(frozen=True)
class _Example:
    """Draws of one example, with the paper's two estimates and the balls around them."""

    draws: Draws
    truth: NDArray[Any] | None
    estimates: dict[LossName, PointEstimate]
    balls: dict[LossName, CredibleBall]


def read_example(directory: PathLike, name: str, *, truth: bool) -> tuple[Draws, Any]:
    """Draws and, where there are some, true labels of ``DIRECTORY/NAME.npz``."""
    path = Path(directory) / f"{name}.npz"
    if not path.is_file():
        raise FileMissingError(
            f"{path} does not exist. The directory of the paper's draws holds example1.npz and "
            "galaxy.npz, each with an array 'labels' of shape (n_draws, n_items); example1.npz "
            "with 'true_labels' besides."
        )
    with reading(path, "an npz file"), np.load(path, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    missing = {"labels", *(["true_labels"] if truth else [])} - set(arrays)
    if missing:
        raise FileFormatError(
            f"{path} holds {', '.join(sorted(arrays)) or 'nothing'}; it lacks "
            f"{', '.join(sorted(missing))}."
        )
    return Draws(arrays["labels"]), arrays.get("true_labels")


def _analyse(draws: Draws, truth: Any, seed: int, n_jobs: int | None) -> _Example:
    estimates = {
        loss: estimate(draws, loss=objective, bound=None, rng=seed, n_jobs=n_jobs)
        for loss, objective in _OBJECTIVES.items()
    }
    balls = {
        loss: credible_ball(draws, found.labels, loss=loss, n_jobs=n_jobs)
        for loss, found in estimates.items()
    }
    return _Example(draws, truth, estimates, balls)


def check_paper_draws(
    directory: PathLike, *, seed: int = 0, n_jobs: int | None = None
) -> Iterator[Check]:
    """Compare, one by one, everything the paper prints about Example 1 and the galaxies.

    The directory has example1.npz and galaxy.npz. No answer depends on the seed of the searches
    where they find the minimum.
    """
    sources = {
        "example": read_example(directory, "example1", truth=True),
        "galaxy": read_example(directory, "galaxy", truth=False),
    }
    example = _analyse(*sources["example"], seed, n_jobs)
    yield from _check_example(example, n_jobs)
    galaxy = _analyse(*sources["galaxy"], seed, n_jobs)
    yield from _check_galaxies(galaxy, n_jobs)


def _check_example(example: _Example, n_jobs: int | None) -> Iterator[Check]:
    for loss, found in example.estimates.items():
        row = measure_estimate(found.labels, example.draws, example.truth, n_jobs)
        title = f"{paper.LOSS_TITLES[loss]} estimate"
        tables = {"Table 1, Example 1": paper.ESTIMATES[1], "Table 2, N=200": paper.SIZES[200]}
        for table, rows in tables.items():
            yield from _numbers(f"{table}, {title}", row, rows[loss], paper.ESTIMATE_COLUMNS)
    for loss, ball in example.balls.items():
        title = f"Table 3, Example 1, {paper.LOSS_TITLES[loss]} ball"
        yield from _bounds(title, ball, paper.BOUNDS[1][loss])
    counts = np.round(example.draws.unique().probabilities * example.draws.n_draws)
    visits = {"visited twice": (counts == 2).sum(), "visited more often": (counts > 2).sum()}
    for what, printed in paper.EXAMPLE_1_TEXT.items():
        yield _number(f"Section 6.1, partitions {what}", float(visits[what]), printed)
    for (number, loss, part), wanted in paper.TRUTH_TABLES.items():
        if number == 1:
            title = f"Supplement, Example 1, {paper.LOSS_TITLES[loss]} {part}"
            crossed = [
                truth_table(np.asarray(example.truth), labels)
                for labels in _partitions(example, loss, part)
            ]
            yield from _cross_tables(title, crossed, wanted)


def _check_galaxies(galaxy: _Example, n_jobs: int | None) -> Iterator[Check]:
    for loss, found in galaxy.estimates.items():
        row = measure_estimate(found.labels, galaxy.draws, None, n_jobs)
        title = f"Table 4, galaxies, {paper.LOSS_TITLES[loss]} estimate"
        yield from _numbers(title, row, paper.GALAXY_ESTIMATES[loss], paper.GALAXY_COLUMNS)
    ball = galaxy.balls["vi"]
    yield from _bounds("Table 5, galaxies, VI ball", ball, paper.GALAXY_BOUNDS)
    values = {
        "partitions": galaxy.draws.unique().n_draws,
        "singletons": (galaxy.estimates["binder"].cluster_sizes == 1).sum(),
        "radius": ball.radius,
    }
    names = {
        "partitions": "distinct partitions among the draws",
        "singletons": "singletons of the B̃ estimate",
        "radius": "radius of the VI ball",
    }
    for what, printed in paper.GALAXY_TEXT.items():
        yield _number(f"Section 6.2, {names[what]}", float(values[what]), printed)
    for part, wanted in paper.GALAXY_TABLES.items():
        tables = [cross_table(ball.center, labels) for labels in ball.bounds[part].labels]
        yield from _cross_tables(f"Supplement, galaxies, VI estimate and {part}", tables, wanted)


def _partitions(example: _Example, loss: LossName, part: str) -> list[Labels]:
    if part == "estimate":
        return [example.estimates[loss].labels]
    return list(example.balls[loss].bounds[part].labels)


def _number(what: str, value: float, printed: str) -> Check:
    return Check(what, as_printed(value, printed), printed, same_digits(value, printed))


def _numbers(
    title: str, row: dict[str, float], printed: paper.Row, columns: dict[str, str]
) -> Iterator[Check]:
    for name, text in printed.items():
        yield _number(f"{title}, {columns[name]}", row[name], text)


def _bounds(title: str, ball: CredibleBall, printed: paper.Row) -> Iterator[Check]:
    """Numbers of clusters must be among the tied bounds': the paper's software cut ties."""
    row = measure_bounds(ball)
    for name, text in printed.items():
        what = f"{title}, {paper.BOUND_COLUMNS[name]}"
        part, _, kind = name.partition("_")
        counts = ball.bounds[part].n_clusters.tolist()
        if kind == "k" and len(counts) > 1:
            shown = " and ".join(str(k) for k in counts) + ", tied at the same distance"
            yield Check(what, shown, text, int(text) in counts)
        else:
            yield _number(what, row[name], text)


def _cross_tables(title: str, tables: list[Ints], wanted: paper.CrossTable) -> Iterator[Check]:
    """Row by row. One of several tied partitions must give the paper's table."""
    fitting = [table for table in tables if same_up_to_order(table, wanted)]
    shown: ArrayLike = wanted if fitting else tables[0]
    ours = [" ".join(str(n) for n in row) for row in np.asarray(shown).tolist()]
    for i, row in enumerate(wanted):
        printed = " ".join(str(n) for n in row)
        mine = ours[i] if i < len(ours) else "no such row"
        yield Check(f"{title}, cross tabulation, row {i + 1}", mine, printed, bool(fitting))


def compare_searches(
    directory: PathLike, *, seed: int = 0, n_jobs: int | None = None
) -> Iterator[Searches]:
    """The paper's greedy search and our default estimate, on the paper's draws.

    The paper searches the Hasse diagram, for VI with VI_LB in place of VI;
    ours minimises the expected loss itself and proves a bound.
    """
    for name, title in {"example1": "Example 1", "galaxy": "Galaxies"}.items():
        draws, _ = read_example(directory, name, truth=False)
        for loss, objective in _OBJECTIVES.items():
            theirs = estimate(
                draws, loss=objective, method="hasse", bound=None, rng=seed, n_jobs=n_jobs
            )
            ours = estimate(draws, loss=loss, rng=seed, n_jobs=n_jobs)
            value = ours.loss.expected(theirs.labels, draws, n_jobs)
            yield Searches(
                f"{title}, {paper.LOSS_TITLES[loss]}", theirs, ours, (value, ours.expected_loss)
            )


def search_table(searches: Sequence[Searches]) -> PageTable:
    """The paper's search and ours; both are shown, and where ours is better it is said."""
    rows = []
    for found in searches:
        theirs, ours = found.expected
        gap = found.ours.gap
        better = theirs - ours > 1e-9
        verdict = f"ours is lower by {theirs - ours:.2g}" if better else "equally good"
        if found.same:
            verdict = "the same partition"
        proof = "–" if gap is None else "proven optimal" if gap == 0 else f"{100 * gap:.1f}%"
        rows.append(
            (
                found.title,
                f"{theirs:.6f} ({found.paper.n_clusters})",
                f"{ours:.6f} ({found.ours.n_clusters})",
                verdict,
                proof,
            )
        )
    header = (
        "example, loss",
        "paper's search: expected loss (k)",
        "partita's default: expected loss (k)",
        "verdict",
        "gap at most",
    )
    return PageTable("The paper's search and ours on the paper's draws", header, tuple(rows))


def checked_page(checks: Sequence[Check], searches: Sequence[Searches]) -> Page:
    """Every number beside the paper's, then the two searches."""
    wrong = sum(not check.same for check in checks)
    rows = tuple((c.what, c.ours, c.printed, "ok" if c.same else "DIFFERS") for c in checks)
    table = PageTable("Every printed number", ("what", "ours", "paper", ""), rows)
    section = Section(
        "Digits",
        (f"{len(checks) - wrong} of {len(checks)} agree with the paper.",),
        (table, search_table(searches)),
    )
    text = "Numbers of Example 1 and the galaxies, recomputed from the paper's own draws."
    return Page("The paper's numbers from its own draws", (text,), (section,))
