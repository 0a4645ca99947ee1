"""Everything about draws of feature allocations in one object, in words and tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._result import Page, Table, fields_of, plain
from partita._text import brief, counted, in_unit, of_sizes, percent, share, span, words
from partita._validate import boolean
from partita.credible.ball import FeatureBall, clean_prob, credible_ball
from partita.credible.features import (
    FeatureCounts,
    FeatureItemUncertainty,
    FeatureUncertainty,
    align_features,
    feature_counts,
    items_of,
)
from partita.diagnostics.agreement import functionals
from partita.diagnostics.diagnose import Diagnostics, diagnose_values, nothing_to_diagnose
from partita.errors import NotSupportedError, UnknownNameError
from partita.losses.base import Loss
from partita.losses.evaluate import loss_for
from partita.posterior import any_posterior
from partita.search.estimate import estimate as estimate_of
from partita.summary import text
from partita.summary.result import AnySummary, recorded, versions_used
from partita.summary.tables import latex

if TYPE_CHECKING:
    import pandas as pd

    from partita.features.draws import FeatureDraws
    from partita.representative.representatives import FeatureRepresentatives

_LISTED = 12
"""Features, and items, of a table on the screen."""


@dataclass(frozen=True, eq=False, repr=False)
class FeatureSummary(AnySummary):
    """Estimate, credible ball, memberships and diagnostics of feature draws.

    Made by :func:`summarize`. ``print(summary)`` is what to read first, with the sentence for the
    paper; ``print(summary.details())`` has the tables.

    Attributes
    ----------
    draws : FeatureDraws
    estimate : FeatureEstimate
    ball : FeatureBall
        Around the estimate, under FARO with a = 1.
    items : FeatureItemUncertainty
        Probabilities of membership, and each item's part of the expected loss.
    features : FeatureUncertainty
        How often each feature of the estimate has a counterpart in a draw.
    counts, counts_shared : FeatureCounts
        Posterior of the number of features, and of those with two items or more.
    diagnostics : Diagnostics
    representatives : FeatureRepresentatives or None
        Several answers, where the chains disagree.
    path : object or None
        The estimates at all prices of a claimed membership, where asked for with ``path=True``.
    options, versions : mapping
        How it was made.
    seconds : float
        Time taken.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1}, {1, 2}], [{0, 1}]], n_items=3)
    >>> pt.summarize(draws)
    <FeatureSummary: 3 draws of 3 items, estimate of 2 features (FARO()), 0.95 credible ball ...>
    """

    draws: FeatureDraws
    estimate: Any
    ball: FeatureBall
    items: FeatureItemUncertainty
    features: FeatureUncertainty
    counts: FeatureCounts
    counts_shared: FeatureCounts
    diagnostics: Diagnostics
    representatives: FeatureRepresentatives | None
    path: Any
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float
    missing: tuple[str, ...] = ()

    _report: ClassVar[str] = "partita.report.features"

    def __features__(self) -> FeatureDraws:
        return self.draws

    def __allocation__(self) -> NDArray[np.bool_]:
        return self.allocation

    @property
    def allocation(self) -> NDArray[np.bool_]:
        """The estimate, shape (n_items, n_features)."""
        return self.items.allocation

    @property
    def membership(self) -> NDArray[np.float64]:
        """Probabilities of membership in the features of the estimate, of the same shape."""
        return self.items.membership

    @property
    def n_features(self) -> int:
        """Number of features of the estimate."""
        return int(self.allocation.shape[1])

    @property
    def sentence(self) -> str:
        """The sentence to write about the credible ball."""
        ball, said = self.ball, words(self.draws.kind)
        level = ball.prob if self.draws.kind == "posterior" else ball.coverage
        lies = said.lies.format(percent(level)).replace("the clustering", "the allocation")
        return (
            f"{lies} within {in_unit(brief(ball.radius, 0), ball.loss.unit)} of the estimate of "
            f"{_sized(self.allocation)}; the {said.draws} inside this ball have {_inside(ball)}."
        )

    @property
    def how_many(self) -> str:
        """The statement on the number of features: of all, and of those with two items or more."""
        said = words(self.draws.kind)
        counted_ones = (self.counts, self.counts_shared)
        low, high = self.counts.interval(self.prob)
        shares = [dict(zip(c.values.tolist(), c.probabilities, strict=True)) for c in counted_ones]
        mine = float(shares[0].get(self.n_features, 0.0))
        told = f"The estimate has {counted(self.n_features, 'feature')}"
        if self.counts.values.size == 1 and mine:
            told += f", as do all {said.draws}"
        else:
            as_do = f", as do {share(mine)} {said.of_all}"
            told += as_do if mine else f", which no {said.draw} has"
        if low < high:
            told += f"; at least {percent(self.prob)} have {low:,} to {high:,}"
        if not np.array_equal(self.counts.values, self.counts_shared.values):
            few, many = self.counts_shared.interval(self.prob)
            own = int((self.allocation.sum(axis=0) > 1).sum())
            told += (
                f". Of two items or more, the estimate has {own:,} and at least "
                f"{percent(self.prob)} {said.of_all} have {span(few, many, 'feature')}"
            )
        return f"{told}."

    def _statements(self, first: int = 0) -> list[tuple[str, str]]:
        found, ball, said = self.estimate, self.ball, words(self.draws.kind)
        loss = in_unit(f"{found.expected_loss:#.4g}", found.loss.unit)
        # Distances are whole: an error of 0 would only say that they are.
        error = f" ± {ball.radius_mcse:.2g}" if ball.radius_mcse > 0.0 else ""
        radius = in_unit(brief(ball.radius, 0) + error, ball.loss.unit)
        told = [
            ("Estimate", _sized(self.allocation)),
            (f"{said.expected.capitalize()} {found.loss.title}", f"{loss}, {found.proof}"),
            ("How many features", _how_many_in_brief(self)),
            (
                f"{percent(ball.prob)} {said.ball}",
                f"radius {radius}; {said.draws} inside have {_inside(ball)}",
            ),
            _certainty(self, first),
        ]
        if self.path is not None:
            told.insert(3, ("Prices", _prices(self)))
        return told

    def details(self) -> str:
        """Everything in words and tables, to print."""
        lines = text.wrapped("", f"{text.origin(self)}; features may overlap", text.WIDTH)
        full = {"How many features": self.how_many}
        for label, told in self._statements():
            lines += text.wrapped(f"{label}: ", full.get(label, told), text.WIDTH)
        if self.diagnostics.names:
            lines += text.wrapped("Convergence: ", text.convergence(self), text.WIDTH)
        lines += text.warning_lines(self, text.WIDTH)
        for found in self.tables().values():
            lines += [text.Line(""), *text.table_lines(found, text.WIDTH)]
        quoted = text.wrapped(f"{text.lead_of(self)}: ", self.sentence, text.WIDTH)
        return text.joined([*lines, text.Line(""), *quoted])

    def tables(self) -> dict[str, Table]:
        """The tables that details, notebook and report show, as text by name."""
        return {
            "bounds": _bounds(self),
            "features": _features(self),
            "items": _items(self),
            "diagnostics": _diagnostics(self),
        }

    def _page(self) -> Page:
        warnings = text.warnings_of(self)
        title = f"Feature allocation: {text.origin(self)}"
        tables = [_features(self), _bounds(self)]
        return Page(title, self._statements(), tables, warnings, [self.sentence])

    def to_frame(self, table: str = "items", *, one_based: bool = False) -> pd.DataFrame:
        """One of the tables as a pandas DataFrame.

        Parameters
        ----------
        table : str, default "items"
            "items" (probabilities of membership), "features", "bounds", "n_features" or
            "diagnostics".
        one_based : bool, default False
            Count features, and items without names, from 1, in "items" and "features".
        """
        tables: dict[str, Any] = {
            "items": self.items,
            "features": self.features,
            "bounds": self.ball,
            "n_features": self.counts,
            "diagnostics": self.diagnostics,
        }
        if table not in tables:
            known = ", ".join(map(repr, tables))
            raise UnknownNameError(
                f"no table {table!r} in a summary of features; expected one of {known}.",
                argument="table",
            )
        numbered = table in ("items", "features")
        options = {"one_based": boolean(one_based, "one_based")} if numbered else {}
        frame: pd.DataFrame = tables[table].to_frame(**options)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Everything but the draws, as plain lists, numbers and strings."""
        found, ball = self.estimate, self.ball
        document = {
            "n_draws": self.draws.n_draws,
            "n_items": self.draws.n_items,
            "item_names": self.draws.item_names,
            "loss": repr(found.loss),
            "sentence": self.sentence,
            "how_many": self.how_many,
            "estimate": {
                "allocation": self.allocation.astype(np.int64),
                **fields_of(found, "n_features", "expected_loss", "lower_bound", "gap"),
            },
            "membership": self.membership,
            "ball": {
                **fields_of(ball, "prob", "radius", "radius_mcse", "coverage"),
                **{
                    name: {
                        **fields_of(bound, "n_features", "n_memberships", "distance", "mass"),
                        "allocations": [a.astype(np.int64) for a in bound.allocations],
                    }
                    for name, bound in ball.bounds.items()
                },
            },
            "items": fields_of(self.items, "none", "n_features", "contribution", "share"),
            "features": fields_of(self.features, "size", "matched", "matched_size"),
            "n_features_posterior": fields_of(self.counts, "values", "probabilities"),
            "warnings": self.diagnostics.warnings,
            "versions": dict(self.versions),
            "seconds": self.seconds,
        }
        shown: dict[str, Any] = plain(document)
        return shown

    def to_latex(self) -> str:
        """Estimate, ball and features as a LaTeX table, which needs the package ``booktabs``."""
        return latex(self, _features(self), self.estimate.proof)


def summarize_features(
    draws: FeatureDraws,
    *,
    loss: str | Loss | None,
    prob: float,
    wishes: Mapping[str, Any],
    refused: Mapping[str, Any],
) -> FeatureSummary:
    """The summary of feature draws; ``refused`` are arguments that partitions alone have."""
    started = time.perf_counter()
    for name, value in refused.items():
        if value:
            raise NotSupportedError(
                f"{name}= is defined for partitions only; these are draws of feature "
                "allocations. Leave it out.",
                argument=name,
            )
    posterior = any_posterior(draws, wishes["n_jobs"])
    measure, level = loss_for(loss, draws), clean_prob(prob)
    searched = {name: value for name, value in wishes.items() if name != "path"}
    found: Any = estimate_of(draws, loss=measure, **searched)
    allocation = found.allocation
    metric = measure.with_price(1.0)
    ball: Any = credible_ball(posterior, allocation, prob=level, loss=metric)
    aligned = align_features(draws, allocation)
    point: Any = draws.clean(allocation, "estimate")
    diagnostics = nothing_to_diagnose(draws)
    if draws.kind != "ensemble":
        values = functionals(posterior, estimate=point)
        diagnostics = diagnose_values(values, draws, n_jobs=wishes["n_jobs"])
    shared = {name: wishes[name] for name in ("time_limit", "rng", "n_jobs", "progress")}
    several: Any = None
    if diagnostics.chains_disagree:
        from partita.representative.representatives import representatives

        several = representatives(draws, loss=metric, prob=level, bound=None, **shared)
    path: Any = None
    if wishes["path"]:
        from partita.search.price_path import price_path

        path = price_path(draws, loss=measure, bound=None, **shared)
    return FeatureSummary(
        draws=draws,
        estimate=found,
        ball=ball,
        items=items_of(draws, allocation, aligned, measure),
        features=aligned.features,
        counts=feature_counts(draws),
        counts_shared=feature_counts(draws, 2),
        diagnostics=diagnostics,
        representatives=several,
        path=path,
        options=recorded(measure, level, wishes),
        versions=versions_used(),
        seconds=time.perf_counter() - started,
    )


# ---------------------------------------------------------------- what is said


def _sized(allocation: NDArray[np.bool_]) -> str:
    sizes = allocation.sum(axis=0).tolist()
    features = counted(len(sizes), "feature")
    return f"{features} of {of_sizes(sizes)}" if sizes else "no feature"


def _inside(ball: FeatureBall) -> str:
    few, many = int(ball.upper.n_features.min()), int(ball.lower.n_features.max())
    sparse, dense = (int(b.n_memberships[0]) for b in (ball.sparsest, ball.densest))
    return f"{span(few, many, 'feature')} and {span(sparse, dense, 'membership')}"


def _prices(summary: FeatureSummary) -> str:
    """Between which prices of a claimed membership the estimate stays."""
    path, own = summary.path, summary.draws.canonical(summary.allocation)
    edges = np.asarray(path.edges)
    number = next(
        (
            j
            for j, other in enumerate(path.allocations)
            if summary.draws.key(summary.draws.canonical(other)) == summary.draws.key(own)
        ),
        None,
    )
    found = f"{counted(len(path.allocations), 'allocation')} between prices {edges[0]:.2g} and "
    found += f"{edges[-1]:.2g} of a claimed membership that is not true"
    if number is None:
        return found
    best = "optimal" if bool(np.all(path.is_proven)) else "the best found"
    return f"the estimate is {best} from {edges[number]:.3g} to {edges[number + 1]:.3g}; {found}"


def _how_many_in_brief(summary: FeatureSummary) -> str:
    """How often the draws have the estimate's number of features, and the range of most."""
    counts, said, k = summary.counts, words(summary.draws.kind), summary.n_features
    found = dict(zip(counts.values.tolist(), counts.probabilities.tolist(), strict=True))
    if list(found) == [k]:
        return f"{k:,} in all {said.draws}"
    told = f"{k:,} in {share(found[k])} {said.of_all}" if k in found else f"{k:,} in no {said.draw}"
    low, high = counts.interval(summary.prob)
    if low < high:
        told += f", {low:,} to {high:,} in at least {percent(summary.prob)}"
    few, many = summary.counts_shared.interval(summary.prob)
    if (few, many) != (low, high):
        told += f" ({span(few, many, 'feature')} with two items or more)"
    return told


def _certainty(summary: FeatureSummary, first: int) -> tuple[str, str]:
    """The least certain item, if any is uncertain, and how many memberships are not."""
    table, said = summary.items, words(summary.draws.kind)
    claimed = table.membership[table.allocation]
    sure = int((claimed >= 0.9).sum())
    told = (
        f"{sure:,} of {counted(claimed.size, 'membership')} hold "
        f"{said.holding.format('0.9 or more')}"
    )
    outside = int((~table.allocation.any(axis=1)).sum())
    if outside:
        told += f"; {counted(outside, 'item')} {'is' if outside == 1 else 'are'} in no feature"
    i = int(table.order[0])
    if table.contribution[i] == 0.0:
        return "Memberships", told
    name = f"item {i + first}" if summary.draws.item_names is None else table.name(i)
    part = share(float(table.share[i]))
    return "Least certain", f"{name} ({part} of the expected loss); {told}"


# ---------------------------------------------------------------- tables


def _bounds(summary: FeatureSummary) -> Table:
    ball = summary.ball
    rows = tuple(
        (
            name,
            f"{bound.n_features[0]:,}",
            f"{bound.n_memberships[0]:,}",
            f"{bound.distance:g}",
            f"{len(bound):,}",
        )
        for name, bound in ball.bounds.items()
    )
    caption = (
        f"Bounds of the {percent(ball.prob)} {words(summary.draws.kind).ball}: fewest and most "
        "features, farthest, fewest and most memberships."
    )
    columns = ("Bound", "Features", "Memberships", "Distance", "Allocations that tie")
    return Table(caption, columns, rows)


def _features(summary: FeatureSummary) -> Table:
    table, said = summary.features, words(summary.draws.kind)
    rows = tuple(
        (
            str(k),
            f"{table.size[k]:,}",
            f"{table.matched[k]:.2f}",
            f"{table.matched_size[k]:.1f}",
            f"{summary.membership[summary.allocation[:, k], k].mean():.2f}",
        )
        for k in range(min(table.size.size, 3 * _LISTED))
    )
    caption = (
        f"Features of the estimate: {said.probability} that a {said.draw} has a counterpart, its "
        "mean size, and the mean membership of the items."
    )
    columns = ("Feature", "Items", "Matched", "Size there", "Membership")
    return Table(caption, columns, rows)


def _items(summary: FeatureSummary) -> Table:
    table = summary.items
    k = min(table.membership.shape[1], _LISTED)
    rows = tuple(
        (
            table.name(i),
            f"{100 * table.share[i]:.1f}%",
            *(
                f"{table.membership[i, j]:.2f}{'*' if table.allocation[i, j] else ''}"
                for j in range(k)
            ),
            f"{table.none[i]:.2f}",
        )
        for i in table.order[:_LISTED].tolist()
    )
    caption = (
        f"The least certain items: share of the expected loss, "
        f"{words(summary.draws.kind).probability} of membership in each feature (* in the "
        "estimate), and in none."
    )
    columns = ("Item", "Share", *(f"Feature {j}" for j in range(k)), "None")
    return Table(caption, columns, rows)


def _diagnostics(summary: FeatureSummary) -> Table:
    (table,) = summary.diagnostics._page().tables or [Table("", ("",), ())]
    return Table("Convergence.", table.columns, table.rows)
