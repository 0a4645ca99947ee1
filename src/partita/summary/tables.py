"""The tables of a summary as text and as plain values, for screen, LaTeX, JSON and report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Table, fields_of, latex_rows, latex_text, plain
from partita._wording import (
    brief,
    counted,
    counts,
    in_list,
    in_unit,
    of_sizes,
    origin_in_words,
    percent,
    with_unit,
    words,
)
from partita.diagnostics.diagnose import title_of
from partita.search.result import STARTED, constraints_of, found_by, limit_in_words

if TYPE_CHECKING:
    from partita.draws import Draws
    from partita.kernels.arrays import Floats, Ints
    from partita.losses.base import Loss
    from partita.search.result import PointEstimate
    from partita.summary.result import AnySummary, Summary


_STARTS = 12
"""Starts of the search that are listed."""

CLUSTERS = 50
"""Clusters that a table lists, from the largest on."""

_ITEMS = 10
"""Items that a table lists, from the least certain on."""

_PROFILES = 200
"""Rows of the table of profiles."""


def clusters(summary: Summary, first: int = 0) -> Table:
    """How certain each cluster of the estimate is, from the largest on."""
    table, event = summary.clusters, words(summary.draws.kind).event.format
    shown = np.argsort(-table.size, kind="stable")[:CLUSTERS]
    caption = "Clusters of the estimate, from the largest on, and how certain they are."
    if len(table) > CLUSTERS:
        caption += f" {len(table) - CLUSTERS:,} smaller ones are not listed."
    columns = {
        "Cluster": [str(k + first) for k in shown],
        "Size": [f"{size:,}" for size in table.size[shown]],
        "Similarity within": _decimals(table.within[shown]),
        "Nearest": _numbers(table.nearest[shown], first),
        "Similarity to it": _decimals(table.nearest_similarity[shown]),
        event("unchanged"): _decimals(table.unchanged[shown]),
        event(f"Jaccard ≥\u00a0{table.jaccard:g}"): _decimals(table.similar[shown]),
    }
    return Table.of_columns(caption, columns)


def _decimals(values: Floats) -> list[str]:
    return [f"{value:.2f}" for value in values]


def _numbers(clusters: NDArray[np.integer], first: int) -> list[str]:
    """Clusters counted from first; a dash for none."""
    return [str(k + first) if k >= 0 else "–" for k in clusters]


def items(summary: Summary, first: int = 0) -> Table:
    """The items whose cluster is least certain."""
    table, said = summary.items, words(summary.draws.kind)
    shown = table.order[:_ITEMS]
    certain = int((table.probability >= 0.9).sum())
    caption = (
        f"Items whose cluster is least certain; {certain:,} of "
        f"{counted(table.labels.size, 'item')} stay in theirs {said.holding.format('0.9 or more')}."
    )
    columns = {
        "Item": item_names(summary, shown, first),
        "Cluster": _numbers(table.labels[shown], first),
        said.probability.capitalize(): _decimals(table.probability[shown]),
        "Otherwise mostly": _numbers(table.other[shown], first),
    }
    return Table.of_columns(caption, columns)


def item_names(summary: AnySummary, items: Ints, first: int = 0) -> list[str]:
    """Items by their names, or by their numbers."""
    names = summary.draws.item_names
    return [str(i + first) if names is None else names[i] for i in items.tolist()]


def bounds(summary: Summary) -> Table:
    """The extremes of the ball."""
    ball, said = summary.ball, words(summary.draws.kind)
    found = ball.bounds
    columns = {
        "Bound": list(found),
        "Clusters": [counts(b.n_clusters[:5].tolist(), "cluster") for b in found.values()],
        with_unit("Distance", ball.loss.unit): [brief(b.distance) for b in found.values()],
        "Partitions that tie": [f"{b.mass.size:,}" for b in found.values()],
    }
    caption = f"Bounds of the {percent(ball.prob)} {said.ball}: the extremes inside."
    return Table.of_columns(caption, columns)


def profiles(summary: Summary) -> Table | None:
    """One row per cluster, column and parameter; None without data."""
    found = summary.profiles
    if found is None:
        return None

    caption = (
        "What each cluster is like: given the partition, and averaged over the clusters that its "
        f"items have in {counted(found.n_draws, words(found.kind).draw)}, which includes the "
        "uncertainty of the clustering."
    )
    if len(found) > _PROFILES:
        caption += f" The first {_PROFILES} of {len(found):,} rows."
    return found.table(range(min(len(found), _PROFILES)))._replace(caption=caption)


def comparison(summary: Summary) -> Table:
    """The estimates under different losses."""
    table, mean_of = summary.comparison, words(summary.draws.kind).mean_of.format
    caption = (
        f"Estimates under different losses. VI's and Binder's estimates are "
        f"{table.vi_distance:.3g} bits apart."
    )
    columns = {
        "Estimate": table.names,
        "Clusters": [f"{k:,}" for k in table.n_clusters],
        mean_of("VI"): map(number, table.expected_vi),
        mean_of("VI_LB"): map(number, table.expected_vi_lb),
        mean_of("Binder"): map(number, table.expected_binder),
    }
    return Table.of_columns(caption, columns)


def chains(summary: Summary) -> Table | None:
    """The estimate of each chain alone; None where that is not known."""
    found = summary.chain_estimates
    return None if found is None else found.table()


def diagnostics(summary: AnySummary) -> Table | None:
    """Convergence of each functional; None of an ensemble."""
    found = summary.diagnostics
    return found.table([title_of(name) for name in found.names]) if found.names else None


def curve(summary: Summary) -> Table | None:
    """The cost of the best partition of each number of clusters."""
    found = summary.curve
    if found is None:
        return None
    said, good, above = words(summary.draws.kind), set(found.plateau.tolist()), found.percent
    columns = {
        "Clusters": [f"{k:,}" for k in found.k],
        f"{said.expected.capitalize()} loss": map(number, found.expected_loss),
        "More than the best": map(number, found.excess),
        said.error.capitalize(): [number(error, 2) for error in found.standard_error],
        "In percent": [f"{share:.2g}%" if math.isfinite(share) else "–" for share in above],
        "Within two errors": ["yes" if k in good else "no" for k in found.k.tolist()],
    }
    return Table.of_columns("The best clustering found for each number of clusters.", columns)


def path(summary: Summary) -> Table | None:
    """Every partition that is optimal at some price."""
    found = summary.path
    if found is None:
        return None
    corners, best = tuple(found), "optimal" if found.gap == 0.0 else "the best found"
    columns = {
        "Price": [f"{corner.low:.4f} to {corner.high:.4f}" for corner in corners],
        "Clusters": [f"{corner.n_clusters:,}" for corner in corners],
        "Sizes": [of_sizes(np.bincount(corner.labels).tolist()) for corner in corners],
    }
    return Table.of_columns(f"Every clustering that is {best} at some price of splitting.", columns)


def sensitivity(summary: Summary) -> Table | None:
    """The estimate under other priors."""
    return None if summary.sensitivity is None else summary.sensitivity.table()


def representatives(summary: Summary) -> Table | None:
    """Rival answers: masses, chains, and what differs from the heaviest."""
    from partita.representative.representatives import representatives_in_words

    found = summary.representatives
    if found is None:
        return None
    differs = ["–", *(found.explain(r).in_words() for r in range(1, found.n))]
    columns = {
        "Representative": [f"Rival {r}" for r in range(found.n)],
        "Mass": [percent(round(mass, 3)) for mass in found.weights.tolist()],
        "Clusters": [f"{k:,}" for k in found.n_clusters],
        "Mean loss": map(number, found.expected_loss),
        f"{percent(found.prob)} radius": map(number, found.radius),
        "Differs from 0": differs,
    }
    return Table.of_columns(representatives_in_words(found), columns)


def starts(summary: Summary) -> Table:
    """Table of the starts of the search and their results, best first."""
    kind = summary.draws.kind
    ended = sorted(summary.estimate.search.starts, key=attrgetter("expected_loss"))
    caption = "Starts of the search, best first."
    if len(ended) > _STARTS:
        caption = f"The {_STARTS} best of {counted(len(ended), 'start')} of the search."
    shown = ended[:_STARTS]
    columns = {
        "Began at": [origin_in_words(start.origin, kind) for start in shown],
        f"{words(kind).expected.capitalize()} loss reached": [
            number(start.expected_loss, 6) for start in shown
        ],
        "Clusters": [f"{start.n_clusters:,}" for start in shown],
    }
    return Table.of_columns(caption, columns)


def _mapping(name: str, value: str, entries: Mapping[str, Any], caption: str) -> Table:
    """Names and values: settings, versions."""
    values = ["default" if v is None else str(v) for v in entries.values()]
    return Table.of_columns(caption, {name: entries, value: values})


def settings(summary: Summary) -> Table:
    """The arguments of the summary."""
    return _mapping("Argument", "Value", summary.options, "Settings")


def versions(summary: Summary) -> Table:
    """The software that made it."""
    return _mapping("Software", "Version", summary.versions, "Versions")


TABLES: dict[str, Callable[..., Table | None]] = {
    made.__name__: made
    for made in (
        *(bounds, clusters, items, profiles, comparison, curve, path, sensitivity),
        *(representatives, chains, diagnostics, starts, settings, versions),
    )
}
"""What makes each table of a summary of partitions, in the order in which they are shown."""


def table(summary: AnySummary, name: str, first: int = 0) -> Table | None:
    """A table by name; None where the summary has none. Parts and items count from first."""
    numbered = {"first": first} if name in ("clusters", "features", "items") else {}
    return summary._tables[name](summary, **numbered)


def number(value: float, digits: int = 4) -> str:
    """A number of a table; a dash where there is none."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "–"


_SEVERAL = ("labels", "weights", "distance", "expected_loss", "radius", "chains", "chain_names")


def plain_summary(summary: Summary) -> dict[str, Any]:
    """The result of ``Summary.to_dict``."""
    draws, ball, several = summary.draws, summary.ball, summary.representatives
    too_many = summary.items.placement.size > _MOST_CELLS
    found: dict[str, Any] = {
        "partita": "numbers",
        "sentence": summary.sentence,
        "how_many": summary.how_many,
        "loss": repr(summary.loss),
        "prob": summary.prob,
        "n_draws": draws.n_draws,
        "n_items": draws.n_items,
        "n_chains": draws.n_chains,
        "kind": draws.kind,
        "item_names": draws.item_names,
        "labels": summary.labels,
        "n_clusters": summary.n_clusters,
        "estimate": _estimate(summary.estimate),
        "vi_estimate": _estimate(summary.vi_estimate),
        "binder_estimate": _estimate(summary.binder_estimate),
        "comparison": _fields(summary.comparison),
        "ball": {
            **fields_of(ball, "prob", "radius", "radius_mcse", "coverage"),
            "loss": repr(ball.loss),
            "n_inside": int(ball.inside.sum()),
            **{name: _fields(bound, without=("kind",)) for name, bound in ball.bounds.items()},
        },
        "items": None if too_many else _fields(summary.items, without=("names", "labels")),
        "clusters": _fields(summary.clusters),
        "profiles": _fields(summary.profiles),
        "n_clusters_posterior": _fields(summary.counts),
        "sizes_posterior": _fields(summary.sizes_posterior),
        "diagnostics": {
            **_fields(summary.diagnostics, "ok"),
            "agreement": _fields(summary.diagnostics.agreement),
        },
        "representatives": None if several is None else fields_of(several, *_SEVERAL),
        "path": _fields(summary.path, "is_proven", "gap", without=("item_names", "_draws")),
        "curve": _fields(summary.curve, "percent", "plateau", "sentence"),
        "sensitivity": _fields(summary.sensitivity, "survives", "sentence"),
        "options": dict(summary.options),
        "versions": dict(summary.versions),
        "seconds": summary.seconds,
    }
    shown: dict[str, Any] = plain(found)
    return shown


_MOST_CELLS = 5_000_000
"""Cells of a table in a dictionary; as text they take some ten bytes each."""


def _estimate(found: PointEstimate) -> dict[str, Any]:
    names = ("labels", "n_clusters", "expected_loss", "lower_bound", "gap", "method", "ties")
    return {
        "loss": repr(found.loss),
        **fields_of(found, *names),
        "n_starts": len(found.search.starts),
        "n_restarts": found.search.restarts,
        "limits": found.search.limits,
        "interrupted": found.search.interrupted,
    }


def _fields(result: Any, *also: str, without: tuple[str, ...] = ()) -> Any:
    """The fields of a result and more of its attributes; None where there is no result."""
    if result is None:
        return None
    names = (each.name for each in fields(result) if each.name not in without)
    found = fields_of(result, *names, *also)
    return {**found, "loss": repr(found["loss"])} if "loss" in found else found


_WADE = (
    "Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: Point estimation and "
    "credible balls (with discussion). Bayesian Analysis, 13(2), 559–626. "
    "doi:10.1214/17-BA1073\n"
)


_VEHTARI = (
    "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). "
    "Rank-normalization, folding, and localization: An improved R-hat for assessing "
    "convergence of MCMC (with discussion). Bayesian Analysis, 16(2), 667–718. "
    "doi:10.1214/20-BA1221\n"
)

_TILTED = (
    "Franzolini, B. and Rebaudo, G. (2024). Entropy regularization in probabilistic clustering. "
    "Statistical Methods & Applications, 33.\n"
)


def latex(summary: AnySummary, table: Table) -> str:
    """Estimate and ball as one table above another; needs the package ``booktabs``."""
    found, ball, part = summary.estimate, summary.ball, summary.draws.part_name
    said, number_of = words(summary.draws.kind), attrgetter(f"n_{part}s")

    def amount(value: float, loss: Loss) -> str:
        return in_unit(f"{value:.4g}", loss.unit)

    facts = {
        "Estimate": counted(number_of(found), part),
        f"{said.expected.capitalize()} {found.loss.title}": amount(found.expected_loss, found.loss),
    }
    if found.lower_bound is not None:
        facts["Proven lower bound"] = amount(found.lower_bound, found.loss)
    facts["Proof"] = limit_in_words(found)
    if found.constraints:
        facts["Constraint"] = in_list(found.constraints)
    facts[f"Radius of the {percent(ball.prob)} {said.ball}"] = amount(ball.radius, ball.loss)
    for name, bound in ball.bounds.items():
        number = counts(number_of(bound)[:5].tolist(), part)
        facts[f"{name.capitalize()} bound"] = f"{number} at {amount(bound.distance, ball.loss)}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(summary.sentence)}}}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        *(rf"{latex_text(name)} & {latex_text(text)} \\" for name, text in facts.items()),
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\medskip",
        *latex_rows(table),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def methods(summary: Summary) -> str:
    """Return the methods paragraph, with versions and references."""
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    said, searched = words(draws.kind), _search_in_words(summary.estimate)
    items, level = counted(draws.n_items, "item"), percent(ball.prob)
    chains = f" from {counted(draws.n_chains, 'chain')}" if draws.chain is not None else ""
    weighted = "weighted " if draws.weights is not None else ""
    references = _WADE
    if draws.kind == "ensemble":
        text = (
            f"{draws.n_draws:,} {weighted}runs that cluster {items} were summarised by the "
            f"partition with the lowest mean {found.loss.title} to them{searched}. How far the "
            f"runs are from it is described by the smallest ball around it, in the metric of the "
            f"{ball.loss.title}, that holds {level} of them,"
        )
    elif draws.kind == "tilted":
        references += _TILTED
        text = (
            f"{draws.n_draws:,} posterior draws{chains} of the clustering of {items} were "
            "reweighted by the evenness of their cluster sizes (Franzolini and Rebaudo, 2024), "
            f"which leaves {draws.n_effective:,.0f} effective draws; the weights are no longer "
            "those of the posterior. The point estimate is the partition with the lowest mean "
            f"{found.loss.title} under these weights{searched}. How far the draws are from it is "
            f"described by the smallest ball around it, in the metric of the {ball.loss.title}, "
            f"that holds {level} of the weight,"
        )
    else:
        text = (
            f"The posterior of the clustering of {items} was summarised from {draws.n_draws:,} "
            f"{weighted}draws{chains}{_reweighted(draws)}. The point estimate is the partition "
            f"with the lowest posterior expected {found.loss.title}{searched}. Its uncertainty is "
            f"described by the {level} credible ball in the metric of the {ball.loss.title}"
        )
    after = "after " if draws.kind != "posterior" else ""
    measure = "probability" if draws.kind == "posterior" else "share"
    text += (
        f" and its upper vertical, lower vertical and horizontal bounds ({after}Wade and "
        f"Ghahramani, 2018). The {measure} of an item is the weight of the {said.draws} in which "
        "it lies in the cluster matched to its own."
    )
    if draws.kind != "ensemble":
        references += _VEHTARI
        text += (
            " Convergence was judged by rank-normalised R-hat and effective sample sizes (Vehtari "
            "et al., 2021)."
        )
    software = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    return f"{text} Computed with {software}.\n\n{references}"


def _reweighted(draws: Draws) -> str:
    """Under which prior draws were made and to which they were weighted, after "draws"."""
    how = draws.reweighting
    if how is None:
        return ""
    return (
        f", made under the prior {how.from_prior} and reweighted to {how.prior}, of which "
        f"{how.n_effective:,.0f} are effective"
    )


def _search_in_words(found: PointEstimate) -> str:
    """Constraints, method and proof, after "the partition with the lowest loss"."""
    among = f" among partitions{constraints_of(found)}" if found.constraints else ""
    loss = f"its {words(found.kind).expected} loss is "
    proven = {None: "no lower bound was computed", 0.0: "it is "}.get(found.gap, loss)
    limit = "" if found.gap is None else limit_in_words(found)
    if limit and not limit.startswith(("at most", "proven")):
        proven = ""
    # Of few items all partitions are compared; where it is proven, it does not matter how.
    by = (
        ""
        if found.is_proven_optimal and found.method in STARTED
        else f" found by {found_by(found)}"
    )
    return f"{among}{by}; {proven}{limit}"
