"""The paper from our own draws, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from partita.partitions.labels import cross_table
from partita.reproduce import figures, paper
from partita.reproduce.experiments import (
    MINIMISED,
    Data,
    Experiment,
    Kind,
    galaxy_data,
    paper_search,
    run,
    simulated,
)
from partita.reproduce.measures import truth_table
from partita.reproduce.pages import Page, PageTable, Section
from partita.reproduce.paper import LossName
from partita.reproduce.plan import Plan
from partita.reproduce.unbalanced import run_unbalanced, unbalanced_table
from partita.reproduce.values import (
    KIND_TITLES,
    Spread,
    Value,
    cross_table_pair,
    layout_table,
    spreads,
    value_table,
)

Say = Callable[[str], None]
_LOSSES: tuple[LossName, ...] = ("binder", "vi")
_KINDS: tuple[Kind, ...] = ("binder", "vi", "exact")


@dataclass(frozen=True, eq=False)
class Study:
    """One experiment with what is needed to compare it: repeats and the paper's search."""

    main: Experiment
    rows: dict[Kind, dict[str, float]]
    spread: dict[LossName, dict[str, Spread]]
    errors: dict[LossName, dict[str, float]]
    search: dict[LossName, dict[str, float]]


def introduction(plan: Plan, *, quick: bool) -> Page:
    """The page before its sections."""
    total = plan.draws * plan.chains
    text = [
        "Wade and Ghahramani (2018), Bayesian cluster analysis: Point estimation and credible "
        "balls, recomputed by partita. Cells read: our value (the paper's).",
        f"Settings: seed {plan.seed}, {total:,} draws from {plan.chains} chains after a burn-in of "
        f"{plan.burn_in:,} each. The paper: 10,000 draws of one chain after 1,000.",
        "Differences come from three sources. Data: the simulated data sets of the paper are "
        "random and ours are other ones, so values of Examples 1 and 2 differ as those of any two "
        "data sets do; how much is shown by repeating everything on further data sets (mean ± sd; "
        "a score in sd says how far the paper's value lies from that mean). Monte Carlo: the "
        "galaxies are the same data, only the draws are others. Better optimiser: the paper's "
        "greedy search was run on our draws as well; where it ends higher than ours, it is said.",
        "The paper minimises VI_LB in place of the expected VI. Its VI rows are compared with our "
        "minimiser of VI_LB; the minimiser of the expected VI itself, which partita reports by "
        "default, has a row of its own.",
    ]
    if quick:
        text.insert(1, "A quick run: few draws, few repeats; the values are rough.")
    return Page("The paper, table by table", tuple(text), ())


def sections(plan: Plan, folder: Path, say: Say) -> Iterator[Section]:
    """All sections, one by one as they are computed; figures go into ``folder``."""
    yield figures.lattice_section(folder)
    examples = {}
    for example in (1, 2):
        data = [simulated(example, 200, plan, r) for r in range(plan.repeats + 1)]
        examples[example] = study(f"Example {example}", data, plan, say, 10 + example)
    yield _estimates_section(examples, plan, folder)
    yield _sizes_section(examples[1], plan, say)
    yield _bounds_section(examples, plan, folder)
    galaxy = study("Galaxies", [galaxy_data()] * (plan.repeats + 1), plan, say, 20)
    yield _galaxy_section(galaxy, plan, folder)
    yield _supplement_section(examples, galaxy)
    outcomes = run_unbalanced(plan, say)
    yield Section(
        "Unbalanced clusters, our own experiment",
        (
            "The paper reports, without numbers, that with clusters of very different size "
            "Binder's loss overestimates their number, the more so the more they overlap.",
        ),
        (unbalanced_table(outcomes, plan.repeats_unbalanced),),
    )


def study(
    title: str, data: list[Data], plan: Plan, say: Say, key: int, *, with_balls: bool = True
) -> Study:
    """The experiment on the first data set, repeats on the others, and the paper's search."""
    say(f"{title}: sampling and estimating")
    n_items = len(data[0].values)
    main = run(data[0], plan, key, n_items, 0, kinds=_KINDS, with_balls=with_balls, prove=True)
    search: dict[LossName, dict[str, float]] = {}
    if n_items <= plan.largest_search:
        for loss in _LOSSES:
            say(f"{title}: the paper's search under {paper.LOSS_TITLES[loss]}")
            search[loss] = paper_search(main, loss, plan)
    repeated: dict[LossName, list[dict[str, float]]] = {loss: [] for loss in _LOSSES}
    for number, other in enumerate(data[1:], start=1):
        say(f"{title}: repeat {number} of {len(data) - 1}")
        found = run(other, plan, key, n_items, number, with_balls=with_balls)
        for loss in _LOSSES:
            repeated[loss].append(found.row(loss, plan.n_jobs))
    return Study(
        main,
        {kind: main.row(kind, plan.n_jobs) for kind in _KINDS},
        {loss: spreads(rows) for loss, rows in repeated.items()},
        {loss: main.errors(loss, plan.n_jobs) for loss in _LOSSES},
        search,
    )


def _layout_rows(
    study: Study, printed: dict[LossName, paper.Row], prefix: str
) -> list[tuple[str, dict[str, float], paper.Row | None]]:
    rows: list[tuple[str, dict[str, float], paper.Row | None]] = [
        (f"{prefix}{KIND_TITLES[loss]}", study.rows[loss], printed[loss]) for loss in _LOSSES
    ]
    return [*rows, (f"{prefix}{KIND_TITLES['exact']}", study.rows["exact"], None)]


def _exact_note(studies: dict[str, Study]) -> str:
    """What minimising the expected VI itself changes, and what is proven."""
    sentences = []
    for title, study in studies.items():
        through, exact = study.rows["vi"], study.rows["exact"]
        gain = through["expected_vi"] - exact["expected_vi"]
        gap = study.main.estimates["exact"].gap
        proof = "" if gap is None else f" (proven to be within {100 * gap:.0f}% of the minimum)"
        if gain > 1e-9:
            less = "" if exact["k"] == through["k"] else f" instead of {through['k']:.0f}"
            sentences.append(
                f"{title}: minimising the expected VI itself lowers it from "
                f"{through['expected_vi']:.4f} to {exact['expected_vi']:.4f} bits{proof}, with "
                f"{exact['k']:.0f}{less} clusters."
            )
        else:
            sentences.append(f"{title}: nothing lower in E[VI] than through VI_LB found{proof}.")
    return " ".join(sentences)


def _estimates_section(examples: dict[int, Study], plan: Plan, folder: Path) -> Section:
    rows, values = [], []
    for example, found in examples.items():
        rows += _layout_rows(found, paper.ESTIMATES[example], f"Ex {example}, ")
        values += _compared(
            f"Ex {example}", found, paper.ESTIMATES[example], paper.ESTIMATE_COLUMNS
        )
    note = _exact_note({f"Example {example}": found for example, found in examples.items()})
    mains = {example: found.main for example, found in examples.items()}
    return Section(
        "Table 1: estimates of Examples 1 and 2",
        (
            "The data are simulated anew: differences are differences of data unless said "
            "otherwise. N_I counts items outside the best matching of clusters.",
        ),
        (
            layout_table("Table 1", paper.ESTIMATE_COLUMNS, rows, note),
            value_table("Table 1, value by value", values),
        ),
        figures.example_figures(mains, folder, plan.n_jobs),
    )


def _compared(
    title: str, study: Study, printed: dict[LossName, paper.Row], columns: dict[str, str]
) -> list[Value]:
    """Every number of a table, ready to be compared."""
    return [
        Value(
            what=f"{title}, {paper.LOSS_TITLES[loss]}, {label}",
            ours=study.rows[loss][name],
            printed=printed[loss][name],
            source="data" if study.main.data.truth is not None else "Monte Carlo",
            spread=study.spread[loss][name],
            error=study.errors[loss].get(name),
            search=study.search.get(loss, {}).get(name),
            minimised=MINIMISED[loss] == name,
        )
        for loss in printed
        for name, label in columns.items()
    ]


def _sizes_section(first: Study, plan: Plan, say: Say) -> Section:
    studies = {200: first}
    for n in list(paper.SIZES)[1:]:
        data = [simulated(1, n, plan, r) for r in range(plan.repeats_large + 1)]
        fewer = replace(plan, starts=max(1, plan.starts // 4))
        studies[n] = study(f"Example 1 with {n:,} items", data, fewer, say, 11, with_balls=False)
    rows = []
    tables = []
    for n, found in studies.items():
        rows += _layout_rows(found, paper.SIZES[n], f"N={n:,}, ")
        values = _compared(f"N={n:,}", found, paper.SIZES[n], paper.ESTIMATE_COLUMNS)
        tables.append(value_table(f"Table 2, N = {n:,}, value by value", values))
    note = _exact_note({f"N = {n:,}": found for n, found in studies.items()})
    return Section(
        "Table 2: Example 1 with more items",
        (
            "Each size is a data set of its own, in the paper as here.",
            "One printed number does not fit its own row: N_I = 49 of VI at N = 1,600. A "
            "misclassified item is discordant with about N/2 others, so N_I is about N times B̃ to "
            "truth: 8.8, 17.6, 44.8 and 72 for the four sizes, where the paper prints 9, 18, 47 "
            "and 49.",
        ),
        (layout_table("Table 2", paper.ESTIMATE_COLUMNS, rows, note), *tables),
    )


def _bounds_section(examples: dict[int, Study], plan: Plan, folder: Path) -> Section:
    rows, values = [], []
    for example, found in examples.items():
        for loss in _LOSSES:
            title = f"Ex {example}, {paper.LOSS_TITLES[loss]}"
            rows.append((title, found.rows[loss], paper.BOUNDS[example][loss]))
        values += _compared(f"Ex {example}", found, paper.BOUNDS[example], paper.BOUND_COLUMNS)
    mains = {example: found.main for example, found in examples.items()}
    return Section(
        "Table 3: bounds of the 95% credible balls",
        (
            "Extremes among the draws inside the ball; of tied bounds the first. Numbers of "
            "clusters of vertical bounds hang on single draws.",
        ),
        (
            layout_table("Table 3", paper.BOUND_COLUMNS, rows),
            value_table("Table 3, value by value", values),
        ),
        figures.ball_figures(mains, folder, plan.n_jobs),
    )


def _galaxy_section(galaxy: Study, plan: Plan, folder: Path) -> Section:
    rows = _layout_rows(galaxy, paper.GALAXY_ESTIMATES, "")
    values = _compared("Galaxies", galaxy, paper.GALAXY_ESTIMATES, paper.GALAXY_COLUMNS)
    bounds: dict[LossName, paper.Row] = {"vi": paper.GALAXY_BOUNDS}
    bound_values = _compared("Galaxies", galaxy, bounds, paper.BOUND_COLUMNS)
    distinct = galaxy.main.draws.unique().n_draws
    return Section(
        "Tables 4 and 5: the galaxies",
        (
            "The data are the paper's, so differences are Monte Carlo error of two samplers. "
            f"Distinct partitions among the draws: {distinct:,} of "
            f"{galaxy.main.draws.n_draws:,} (paper: 9,636 of 10,000).",
        ),
        (
            layout_table("Table 4", paper.GALAXY_COLUMNS, rows, _exact_note({"Galaxies": galaxy})),
            value_table("Table 4, value by value", values),
            layout_table(
                "Table 5", paper.BOUND_COLUMNS, [("VI", galaxy.rows["vi"], paper.GALAXY_BOUNDS)]
            ),
            value_table("Table 5, value by value", bound_values),
        ),
        figures.galaxy_figures(galaxy.main, folder, plan.n_jobs),
    )


def _supplement_section(examples: dict[int, Study], galaxy: Study) -> Section:
    tables: list[PageTable] = []
    for (example, loss, part), printed in paper.TRUTH_TABLES.items():
        found = examples[example].main
        labels = found.estimates[loss].labels
        if part != "estimate":
            labels = found.balls[loss].bounds[part].labels[0]
        assert found.data.truth is not None
        title = f"Example {example}, {paper.LOSS_TITLES[loss]} {part}"
        ours = truth_table(found.data.truth, labels)
        tables += cross_table_pair(title, "truth", ours, printed)
    ball = galaxy.main.balls["vi"]
    for part, printed in paper.GALAXY_TABLES.items():
        ours = cross_table(ball.center, ball.bounds[part].labels[0])
        tables += cross_table_pair(f"Galaxies, VI {part}", "estimate", ours, printed)
    return Section(
        "Supplement: cross tabulations",
        (
            "Examples 1 and 2: true clusters against estimates and bounds; the data differ from "
            "the paper's. Galaxies: the VI estimate against the bounds of its ball; the draws "
            "differ. Clusters are in order of first appearance.",
        ),
        tuple(tables),
    )
