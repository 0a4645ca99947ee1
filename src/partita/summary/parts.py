"""The parts of a summary by the names that files know them by.

A name in a file never changes; where its class lives may.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from partita.credible.uncertainty import clusters_from, compare, items_from
from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.losses.names import homes
from partita.search.result import constraints_in_words
from partita.summary.check import check_draws
from partita.summary.result import Summary

PARTS = {
    "Summary": "summary.result",
    "LossComparison": "summary.loss_comparison",
    "PointEstimate": "search.result",
    "SearchReport": "search.result",
    "Start": "search.result",
    "CredibleBall": "credible.ball",
    "Bound": "credible.ball",
    "Levels": "credible.ball",
    "ItemUncertainty": "credible.uncertainty",
    "ClusterUncertainty": "credible.uncertainty",
    "ClusterCounts": "credible.uncertainty",
    "ClusterSizes": "credible.uncertainty",
    "Diagnostics": "diagnostics.diagnose",
    "ChainAgreement": "diagnostics.agreement",
    "Profiles": "credible.profile_table",
    "Representatives": "representative.representatives",
    "HeldOutCurve": "representative.representatives",
    "PricePath": "search.price_path",
    "ClustersCurve": "search.clusters_curve",
    **homes(),  # every loss
}

_LATER: dict[str, dict[str, Any]] = {
    "SearchReport": {"agreed_kinds": (), "restarts": 0},
    "Summary": {"profiles": None},
}
"""Fields that files of earlier versions lack, and what stands for them."""


def name_of(value: Any) -> str:
    """The name of a part in a file."""
    name = type(value).__name__
    if PARTS.get(name) != type(value).__module__.removeprefix("partita."):
        raise NotSupportedError(
            f"a summary with a {name} cannot be stored: only partita's own parts can be found "
            "again. Save the draws, and give the loss again."
        )
    return name


def part_from(name: str, entries: dict[str, Any]) -> Any:
    """A part from its name and fields; fields of later versions are filled in."""
    # Earlier versions wrote module:Class.
    kind = name.rpartition(":")[2]
    if (":" in name and not name.startswith("partita.")) or kind not in PARTS:
        raise ValueError(f"it asks for {name}, which is no part of a summary")
    cls: Any = getattr(import_module(f"partita.{PARTS[kind]}"), kind)
    known = {field.name for field in fields(cls)}
    given = {**_LATER.get(kind, {}), **{n: v for n, v in entries.items() if n in known}}
    needed = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    if missing := needed - given.keys():
        if kind == "ItemUncertainty":
            return None  # of another shape in earlier versions; made anew from the draws
        raise ValueError(f"the {kind} in it lacks {min(missing)}")
    return getattr(cls, "from_fields", cls)(**given)  # where arguments have other names


def draws_from_parts(entries: dict[str, Any]) -> Draws:
    """Draws from what a file says they are, checked like a user's."""
    entries = {"_kind": "posterior", **entries}  # of earlier versions all were
    check_draws(entries)
    draws = object.__new__(Draws)
    # As they were: cleaning would change bits of the weights.
    for name, value in {**entries, "_numbered": None}.items():
        object.__setattr__(draws, name, value)
    return draws


def completed(summary: Summary) -> Summary:
    """The summary with what its file left out, and the parts that earlier versions lack."""
    asked = summary.options.get
    constraints = constraints_in_words(
        asked("n_clusters"), asked("min_size") or 1, asked("max_clusters")
    )
    if constraints and not summary.estimate.constraints:  # earlier versions kept options only
        found = replace(summary.estimate, constraints=constraints)
        summary = replace(summary, estimate=found)
    if summary.path is not None:
        path = replace(summary.path, _draws=summary.draws.unique())
        summary = replace(summary, path=path)
    if summary.items is not None:
        return summary
    jaccard = summary.clusters.jaccard
    comparison = compare(np.array(summary.labels), summary.draws, jaccard=jaccard)
    items = items_from(comparison, summary.draws)
    return replace(summary, items=items, clusters=clusters_from(comparison))
