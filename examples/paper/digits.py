"""Every digit that the paper prints about Example 1 and the galaxies, from its own draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import partita as pt

from . import printed

OBJECTIVES = {"binder": "binder", "vi": "vi_lb"}
"""What the paper minimised: its VI estimate is the minimiser of VI_LB."""

EXPECTED = {"expected_binder": "binder", "expected_vi_lb": "vi_lb", "expected_vi": "vi"}
TO_TRUTH = {"binder_to_truth": "binder", "vi_to_truth": "vi"}


# ---------------------------------------------------------------- numbers as printed


def n_digits(text: str) -> int:
    """Digits after the point: the paper rounds to three and drops zeros at the end."""
    _, point, after = text.partition(".")
    return max(3, len(after)) if point else 0


def as_printed(value: float, text: str) -> str:
    """A value with as many digits as the printed number beside it."""
    return f"{value:.{n_digits(text)}f}"


def same_digits(value: float, text: str) -> bool:
    return as_printed(value, text) == as_printed(float(text), text)


# ---------------------------------------------------------------- columns of the tables


def misclassified(truth, labels) -> int:
    """Items outside the best one-to-one matching of estimated to true clusters."""
    table = pt.cross_table(truth, labels)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table.sum() - table[rows, columns].sum())


def measure_estimate(labels, draws, truth=None) -> dict[str, float]:
    """A row of Table 1, or of the galaxies' Table 4 when there is no truth."""
    row = {"k": float(labels.max() + 1)}
    row |= {name: pt.expected_loss(labels, draws, loss)[0] for name, loss in EXPECTED.items()}
    if truth is not None:
        row["misclassified"] = float(misclassified(truth, labels))
        row |= {name: pt.distance(truth, labels, loss) for name, loss in TO_TRUTH.items()}
    return row


def measure_bounds(ball: pt.results.CredibleBall) -> dict[str, float]:
    """A row of Table 3; where partitions tie, the first one's number of clusters."""
    return {
        f"{name}_{what}": value
        for name, bound in ball.bounds.items()
        for what, value in (("k", float(bound.n_clusters[0])), ("distance", bound.distance))
    }


def truth_table(truth, labels) -> np.ndarray:
    """Cross tabulation with the true clusters in their own order, not that of appearance."""
    _, appearance = np.unique(truth, return_index=True)
    return pt.cross_table(truth, labels)[np.argsort(np.argsort(appearance))]


def same_up_to_order(a, b) -> bool:
    """Whether two tables of few rows agree but for the order of rows and columns."""
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        return False
    wanted = sorted(second.T.tolist())
    orders = permutations(range(first.shape[0]))
    return any(sorted(first[list(rows)].T.tolist()) == wanted for rows in orders)


# ---------------------------------------------------------------- the checks


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
class Example:
    """Draws of one example, with the paper's two estimates and the balls around them."""

    draws: pt.Draws
    truth: np.ndarray | None
    estimates: dict[str, pt.results.PointEstimate]
    balls: dict[str, pt.results.CredibleBall]


def read_example(path: Path, *, seed: int = 0) -> Example:
    with np.load(path) as stored:
        draws = pt.Draws(stored["labels"])
        truth = stored["true_labels"] if "true_labels" in stored.files else None
    estimates = {
        loss: pt.estimate(draws, loss=objective, bound=None, rng=seed)
        for loss, objective in OBJECTIVES.items()
    }
    balls = {
        loss: pt.credible_ball(draws, found.labels, loss=loss) for loss, found in estimates.items()
    }
    return Example(draws, truth, estimates, balls)


def check_digits(folder: Path, *, seed: int = 0) -> Iterator[Check]:
    """Compare, one by one, everything the paper prints about Example 1 and the galaxies."""
    yield from check_example(read_example(folder / "example1.npz", seed=seed))
    yield from check_galaxies(read_example(folder / "galaxy.npz", seed=seed))


def check_example(example: Example) -> Iterator[Check]:
    tables = {"Table 1, Example 1": printed.ESTIMATES[1], "Table 2, N=200": printed.SIZES[200]}
    for loss, found in example.estimates.items():
        row = measure_estimate(found.labels, example.draws, example.truth)
        for table, rows in tables.items():
            title = f"{table}, {printed.LOSS_TITLES[loss]} estimate"
            yield from _numbers(title, row, rows[loss], printed.ESTIMATE_COLUMNS)
    for loss, ball in example.balls.items():
        title = f"Table 3, Example 1, {printed.LOSS_TITLES[loss]} ball"
        yield from _bounds(title, ball, printed.BOUNDS[1][loss])
    counts = np.round(example.draws.unique().probabilities * example.draws.n_draws)
    visits = {"visited twice": (counts == 2).sum(), "visited more often": (counts > 2).sum()}
    for what, text in printed.EXAMPLE_1_TEXT.items():
        yield _number(f"Section 6.1, partitions {what}", float(visits[what]), text)
    for (number, loss, part), wanted in printed.TRUTH_TABLES.items():
        if number == 1:
            bounds = example.balls[loss].bounds
            found = example.estimates[loss].labels[None]
            partitions = found if part == "estimate" else bounds[part].labels
            crossed = [truth_table(example.truth, labels) for labels in partitions]
            title = f"Supplement, Example 1, {printed.LOSS_TITLES[loss]} {part}"
            yield from _cross_tables(title, crossed, wanted)


def check_galaxies(galaxy: Example) -> Iterator[Check]:
    for loss, found in galaxy.estimates.items():
        row = measure_estimate(found.labels, galaxy.draws)
        title = f"Table 4, galaxies, {printed.LOSS_TITLES[loss]} estimate"
        yield from _numbers(title, row, printed.GALAXY_ESTIMATES[loss], printed.GALAXY_COLUMNS)
    ball = galaxy.balls["vi"]
    yield from _bounds("Table 5, galaxies, VI ball", ball, printed.GALAXY_BOUNDS)
    values = {
        "distinct partitions among the draws": galaxy.draws.unique().n_draws,
        "singletons of the B̃ estimate": (galaxy.estimates["binder"].cluster_sizes == 1).sum(),
        "radius of the VI ball": ball.radius,
    }
    for (what, value), text in zip(values.items(), printed.GALAXY_TEXT.values(), strict=True):
        yield _number(f"Section 6.2, {what}", float(value), text)
    for part, wanted in printed.GALAXY_TABLES.items():
        tables = [pt.cross_table(ball.center, labels) for labels in ball.bounds[part].labels]
        yield from _cross_tables(f"Supplement, galaxies, VI estimate and {part}", tables, wanted)


def _number(what: str, value: float, text: str) -> Check:
    return Check(what, as_printed(value, text), text, same_digits(value, text))


def _numbers(title, row, texts, columns) -> Iterator[Check]:
    for name, text in texts.items():
        yield _number(f"{title}, {columns[name]}", row[name], text)


def _bounds(title: str, ball: pt.results.CredibleBall, texts: printed.Row) -> Iterator[Check]:
    """Numbers of clusters must be among the tied bounds': the paper's software cut ties."""
    row = measure_bounds(ball)
    for name, text in texts.items():
        what = f"{title}, {printed.BOUND_COLUMNS[name]}"
        part, _, kind = name.partition("_")
        counts = ball.bounds[part].n_clusters.tolist()
        if kind == "k" and len(counts) > 1:
            shown = " and ".join(map(str, counts)) + ", tied at the same distance"
            yield Check(what, shown, text, int(text) in counts)
        else:
            yield _number(what, row[name], text)


def _cross_tables(title, tables, wanted: printed.CrossTable) -> Iterator[Check]:
    """Row by row. One of several tied partitions must give the paper's table."""
    fits = any(same_up_to_order(table, wanted) for table in tables)
    ours = [" ".join(map(str, row)) for row in np.asarray(wanted if fits else tables[0]).tolist()]
    for i, row in enumerate(wanted):
        mine = ours[i] if i < len(ours) else "no such row"
        what = f"{title}, cross tabulation, row {i + 1}"
        yield Check(what, mine, " ".join(map(str, row)), fits)
