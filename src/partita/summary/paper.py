"""A summary for a paper: tables in LaTeX, and a paragraph on methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._vocabulary import words
from partita._wording import counted, counts, in_list, in_unit, percent
from partita.search.result import STARTED, constraints_of, found_by, limit_in_words

if TYPE_CHECKING:
    from partita.credible.clusters import ClusterUncertainty
    from partita.losses.base import Loss
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary

_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "≥": r"$\ge$",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
    }
)


_WADE = (
    "Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: Point estimation and "
    "credible balls (with discussion). Bayesian Analysis, 13(2), 559–626. "
    "doi:10.1214/17-BA1073\n"
)


def latex(summary: Summary) -> str:
    """Estimate, ball and clusters as one table; needs the package ``booktabs``."""
    found, ball, table = summary.estimate, summary.ball, summary.clusters
    said = words(summary.draws.kind)

    def amount(value: float, loss: Loss) -> str:
        return in_unit(f"{value:.4g}", loss.unit)

    facts = {
        "Estimate": counted(found.n_clusters, "cluster"),
        f"{said.expected.capitalize()} {found.loss.title}": amount(found.expected_loss, found.loss),
    }
    if found.lower_bound is not None:
        facts["Proven lower bound"] = amount(found.lower_bound, found.loss)
    facts["Proof"] = limit_in_words(found)
    if found.constraints:
        facts["Constraint"] = in_list(found.constraints)
    facts[f"Radius of the {percent(ball.prob)} {said.ball}"] = amount(ball.radius, ball.loss)
    for name, bound in ball.bounds.items():
        clusters = counts(bound.n_clusters[:5].tolist(), "cluster")
        facts[f"{name.capitalize()} bound"] = f"{clusters} at {amount(bound.distance, ball.loss)}"
    titles = ["Cluster", "Size", "Similarity within", "Unchanged", f"Jaccard ≥ {table.jaccard:g}"]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(summary.sentence)}}}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        *(rf"{_escaped(name)} & {_escaped(text)} \\" for name, text in facts.items()),
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\medskip",
        r"\begin{tabular}{rrrrr}",
        r"\toprule",
        rf"{' & '.join(map(_escaped, titles))} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in cluster_rows(table)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def cluster_rows(table: ClusterUncertainty) -> list[list[str]]:
    """Number, size, similarity within, and how often it is found as it is and nearly so."""
    shares = (table.within, table.unchanged, table.similar)
    return [
        [str(k), f"{table.size[k]:,}", *(f"{share[k]:.2f}" for share in shares)]
        for k in range(len(table))
    ]


def methods(summary: Summary) -> str:
    """How the results were made, with versions and references, as a paragraph to paste."""
    if summary.draws.kind == "ensemble":
        return _ensemble_methods(summary)
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    chains = f" from {counted(draws.n_chains, 'chain')}" if draws.chain is not None else ""
    weighted = "weighted " if draws.weights is not None else ""
    return (
        f"The posterior of the clustering of {counted(draws.n_items, 'item')} was summarised from "
        f"{draws.n_draws:,} {weighted}draws{chains}. The point estimate is the partition "
        f"with the lowest posterior expected {found.loss.title}{_searched(found)}. Its "
        f"uncertainty is described by the {percent(ball.prob)} credible ball in the metric of the "
        f"{ball.loss.title} and its upper vertical, lower vertical and horizontal bounds (Wade and "
        "Ghahramani, 2018). The probability of an item is the weight of the draws in which it lies "
        "in the cluster matched to its own. Convergence was judged by rank-normalised R-hat and "
        f"effective sample sizes (Vehtari et al., 2021). Computed with {_versions(summary)}.\n\n"
        f"{_WADE}"
        "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). "
        "Rank-normalization, folding, and localization: An improved R-hat for assessing "
        "convergence of MCMC (with discussion). Bayesian Analysis, 16(2), 667–718. "
        "doi:10.1214/20-BA1221\n"
    )


def _ensemble_methods(summary: Summary) -> str:
    """The same for runs of clustering algorithms, which are no posterior."""
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    weighted = "weighted " if draws.weights is not None else ""
    return (
        f"{draws.n_draws:,} {weighted}runs that cluster {counted(draws.n_items, 'item')} were "
        f"summarised by the partition with the lowest mean {found.loss.title} to "
        f"them{_searched(found)}. How far the runs are from it is described by the smallest ball "
        f"around it, in the metric of the {ball.loss.title}, that holds {percent(ball.prob)} of "
        "them, and its upper vertical, lower vertical and horizontal bounds (after Wade and "
        "Ghahramani, 2018). The share of an item is the weight of the runs in which it lies in "
        f"the cluster matched to its own. Computed with {_versions(summary)}.\n\n{_WADE}"
    )


def _searched(found: PointEstimate) -> str:
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


def _versions(summary: Summary) -> str:
    return ", ".join(f"{name} {version}" for name, version in summary.versions.items())


def _escaped(text: str) -> str:
    return text.translate(_SPECIAL)
