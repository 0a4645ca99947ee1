"""A summary for a paper: tables in LaTeX, and a paragraph on methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._wording import counted, counts, percent

if TYPE_CHECKING:
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


def latex(summary: Summary) -> str:
    """Estimate, ball and clusters as one table; needs the package ``booktabs``."""
    found, ball, table = summary.estimate, summary.ball, summary.clusters
    unit = f" {ball.loss.unit}" if ball.loss.unit else ""
    own_unit = f" {found.loss.unit}" if found.loss.unit else ""
    facts = [
        ("Estimate", counted(found.n_clusters, "cluster")),
        (f"Expected {found.loss.title}", f"{found.expected_loss:.4g}{own_unit}"),
    ]
    if found.lower_bound is not None:
        facts.append(("Proven lower bound", f"{found.lower_bound:.4g}{own_unit}"))
    facts.append((f"Radius of the {percent(ball.prob)} credible ball", f"{ball.radius:.4g}{unit}"))
    facts += [
        (
            f"{name.capitalize()} bound",
            f"{counts(bound.n_clusters[:5].tolist(), 'cluster')} at {bound.distance:.4g}{unit}",
        )
        for name, bound in ball.bounds.items()
    ]
    titles = ["Cluster", "Size", "Similarity within", "Unchanged", f"Jaccard ≥ {table.jaccard:g}"]
    rows = [
        [
            str(k),
            f"{table.size[k]:,}",
            *(f"{column[k]:.2f}" for column in (table.within, table.unchanged, table.similar)),
        ]
        for k in range(len(table))
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(summary.sentence)}}}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        *(rf"{_escaped(name)} & {_escaped(text)} \\" for name, text in facts),
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\medskip",
        r"\begin{tabular}{rrrrr}",
        r"\toprule",
        rf"{' & '.join(map(_escaped, titles))} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def methods(summary: Summary) -> str:
    """How the results were made, with versions and references, as a paragraph to paste."""
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    chains = f" from {counted(draws.n_chains, 'chain')}" if draws.chain is not None else ""
    weighted = "weighted " if draws.weights is not None else ""
    proof = ""
    if found.is_proven_optimal:
        proof = ", proven to be the minimum for these draws"
    elif found.gap is not None:
        proof = f", proven to be within {100 * found.gap:.2g}% of the minimum for these draws"
    versions = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    return (
        f"The posterior of the clustering of {counted(draws.n_items, 'item')} was summarised from "
        f"{draws.n_draws:,} {weighted}draws{chains}. The point estimate is the partition that "
        f"minimises the posterior expected {found.loss.title}{proof}. Its uncertainty is described "
        f"by the {percent(ball.prob)} credible ball in the metric of the {ball.loss.title} and its "
        "upper vertical, lower vertical and horizontal bounds (Wade and Ghahramani, 2018). The "
        "probability of an item is the weight of the draws in which it lies in the cluster matched "
        f"to its own. Convergence was judged by rank-normalised R-hat and effective sample sizes "
        f"(Vehtari et al., 2021). Computed with {versions}.\n\n"
        "Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: Point estimation and "
        "credible balls (with discussion). Bayesian Analysis, 13(2), 559–626. "
        "doi:10.1214/17-BA1073\n"
        "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). "
        "Rank-normalization, folding, and localization: An improved R-hat for assessing "
        "convergence of MCMC (with discussion). Bayesian Analysis, 16(2), 667–718. "
        "doi:10.1214/20-BA1221\n"
    )


def _escaped(text: str) -> str:
    return text.translate(_SPECIAL)
