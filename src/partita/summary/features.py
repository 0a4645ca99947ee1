"""Everything about draws of feature allocations in one object, in words and tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._result import Table, fields_of, plain
from partita._validate import probability
from partita._wording import counted, percent, share, span, words
from partita.credible.ball import FeatureBall, credible_ball
from partita.credible.uncertainty import (
    FeatureCounts,
    FeatureItemUncertainty,
    FeatureUncertainty,
    align_features,
    feature_counts,
    items_of,
)
from partita.diagnostics.agreement import functionals
from partita.diagnostics.diagnose import Diagnostics, diagnose_values, empty_diagnostics
from partita.losses.base import Loss
from partita.losses.evaluate import loss_for
from partita.posterior import any_posterior
from partita.search.estimate import estimate as estimate_of
from partita.summary import text
from partita.summary.result import AnySummary, recorded, versions_used
from partita.summary.tables import diagnostics, item_names, latex

if TYPE_CHECKING:
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

    _called: ClassVar[str] = "allocation"
    _decimals: ClassVar[int] = 0

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
    def how_many(self) -> str:
        """The statement on the number of features: of all, and of those with two items or more."""
        told, shared = text.in_draws(self), self.counts_shared
        if np.array_equal(self.counts.values, shared.values):
            return told
        own, level = int((self.estimate.feature_sizes > 1).sum()), percent(self.prob)
        return (
            f"{told} Of two items or more, the estimate has {own:,} and at least {level} "
            f"{words(self.draws.kind).of_all} have {span(*shared.interval(self.prob), 'feature')}."
        )

    def _statements(self, first: int = 0) -> list[tuple[str, str]]:
        told = [*text.statements(self), _certainty(self, first)]
        sparse, dense = (int(b.n_memberships[0]) for b in (self.ball.sparsest, self.ball.densest))
        for j, more in ((2, _shared(self)), (3, f" and {span(sparse, dense, 'membership')}")):
            told[j] = told[j][0], told[j][1] + more
        if self.path is not None:
            told.insert(3, ("Prices", _prices(self)))
        return told

    def _in_full(self) -> dict[str, str]:
        return {"How many features": self.how_many}

    def _repr_html_(self) -> str:
        return text.card(self, None, [_features(self), _bounds(self)])

    def _frames(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "features": self.features,
            "bounds": self.ball,
            "n_features": self.counts,
            "diagnostics": self.diagnostics,
            "path": self.path,
        }

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
        return latex(self, _features(self))


def summarize_features(
    draws: FeatureDraws,
    *,
    loss: str | Loss | None,
    prob: float,
    search_options: Mapping[str, Any],
) -> FeatureSummary:
    """The summary of feature draws."""
    started = time.perf_counter()
    posterior = any_posterior(draws, search_options["n_jobs"])
    measure, level = loss_for(loss, draws), probability(prob)
    searched = {name: value for name, value in search_options.items() if name != "path"}
    found: Any = estimate_of(draws, loss=measure, **searched)
    allocation = found.allocation
    metric = measure.with_price(1.0)
    ball: Any = credible_ball(posterior, allocation, prob=level, loss=metric)
    aligned = align_features(draws, allocation)
    point: Any = draws.clean(allocation, "estimate")
    diagnostics = empty_diagnostics(draws)
    if draws.kind != "ensemble":
        values = functionals(posterior, estimate=point)
        diagnostics = diagnose_values(values, draws, n_jobs=search_options["n_jobs"])
    shared = {name: search_options[name] for name in ("time_limit", "rng", "n_jobs", "progress")}
    several: Any = None
    if diagnostics.chains_disagree:
        from partita.representative.representatives import representatives

        several = representatives(draws, loss=metric, prob=level, bound=None, **shared)
    path: Any = None
    if search_options["path"]:
        from partita.search.price_path import price_path

        low, high = (0.0, 2.0) if search_options["path"] is True else search_options["path"]
        path = price_path(draws, loss=measure, bound=None, low=low, high=high, **shared)
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
        options=recorded(measure, level, search_options),
        versions=versions_used(),
        seconds=time.perf_counter() - started,
    )


# ---------------------------------------------------------------- what is said


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


def _shared(summary: FeatureSummary) -> str:
    """The number of features with two items or more, where it is another than that of all."""
    few, many = summary.counts_shared.interval(summary.prob)
    if (few, many) == summary.counts.interval(summary.prob):
        return ""
    return f" ({span(few, many, 'feature')} with two items or more)"


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
    found = ball.bounds
    caption = (
        f"Bounds of the {percent(ball.prob)} {words(summary.draws.kind).ball}: fewest and most "
        "features, farthest, fewest and most memberships."
    )
    columns = {
        "Bound": list(found),
        "Features": [f"{b.n_features[0]:,}" for b in found.values()],
        "Memberships": [f"{b.n_memberships[0]:,}" for b in found.values()],
        "Distance": [f"{b.distance:g}" for b in found.values()],
        "Allocations that tie": [f"{b.mass.size:,}" for b in found.values()],
    }
    return Table.of_columns(caption, columns)


def _features(summary: FeatureSummary, first: int = 0) -> Table:
    table, said = summary.features, words(summary.draws.kind)
    shown = slice(3 * _LISTED)
    sizes = table.size[shown]
    means = [
        p[held].mean()
        for p, held in zip(summary.membership.T[shown], summary.allocation.T[shown], strict=True)
    ]
    caption = (
        f"Features of the estimate: {said.probability} that a {said.draw} has a counterpart, its "
        "mean size, and the mean membership of the items."
    )
    columns = {
        "Feature": [str(k + first) for k in range(sizes.size)],
        "Items": [f"{size:,}" for size in sizes],
        "Matched": [f"{share:.2f}" for share in table.matched[shown]],
        "Size there": [f"{size:.1f}" for size in table.matched_size[shown]],
        "Membership": [f"{mean:.2f}" for mean in means],
    }
    return Table.of_columns(caption, columns)


def _items(summary: FeatureSummary, first: int = 0) -> Table:
    table, said = summary.items, words(summary.draws.kind)
    shown = table.order[:_LISTED]
    caption = (
        f"The least certain items: share of the expected loss, {said.probability} of membership in "
        "each feature (* in the estimate), and in none."
    )
    columns = {
        "Item": item_names(summary, shown, first),
        "Share": [f"{100 * share:.1f}%" for share in table.share[shown]],
    }
    for j in range(min(table.membership.shape[1], _LISTED)):
        held = zip(table.membership[shown, j], table.allocation[shown, j], strict=True)
        columns[f"Feature {j + first}"] = [f"{p:.2f}{'*' if own else ''}" for p, own in held]
    columns["None"] = [f"{share:.2f}" for share in table.none[shown]]
    return Table.of_columns(caption, columns)


FeatureSummary._tables = {
    "bounds": _bounds,
    "features": _features,
    "items": _items,
    "diagnostics": diagnostics,
}
