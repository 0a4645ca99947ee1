"""A summary for a paper: tables in LaTeX, and a paragraph on methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._text import counted, counts, in_list, in_unit, percent, words
from partita.search.result import STARTED, constraints_of, found_by, limit_in_words
from partita.summary.tables import clusters

if TYPE_CHECKING:
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
        "\u00a0": "~",
    }
)


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


def latex(summary: Summary) -> str:
    """Estimate, ball and clusters as one table; needs the package ``booktabs``."""
    found, ball, table = summary.estimate, summary.ball, clusters(summary)
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
        number = counts(bound.n_clusters[:5].tolist(), "cluster")
        facts[f"{name.capitalize()} bound"] = f"{number} at {amount(bound.distance, ball.loss)}"
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
        rf"\begin{{tabular}}{{{'r' * len(table.columns)}}}",
        r"\toprule",
        rf"{' & '.join(map(_escaped, table.columns))} \\",
        r"\midrule",
        *(rf"{' & '.join(map(_escaped, row))} \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def methods(summary: Summary) -> str:
    """How the results were made, with versions and references, as a paragraph to paste."""
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    said, searched = words(draws.kind), _searched(summary.estimate)
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
            f"{weighted}draws{chains}. The point estimate is the partition with the lowest "
            f"posterior expected {found.loss.title}{searched}. Its uncertainty is described by "
            f"the {level} credible ball in the metric of the {ball.loss.title}"
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
    return f"{text} Computed with {_versions(summary)}.\n\n{references}"


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
