"""Label-invariant functionals of the draws by chain, for traces and rank plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._validate import texts
from partita.diagnostics.diagnose import (
    diagnose_values,
    functionals,
    title_of,
    trace_functionals,
)
from partita.errors import NotSupportedError, UnknownNameError
from partita.labels import DrawsLike, LabelsLike
from partita.plots.inputs import estimate_for, posterior_of
from partita.scan import by_chain


@dataclass(frozen=True, eq=False)
class Functional:
    """One functional: its values by chain, shape (n_chains, n_draws), and their diagnostics."""

    name: str
    chains: NDArray[np.float64]
    rhat: float
    ess: float

    @property
    def title(self) -> str:
        """Name in prose, with R-hat and effective sample size where they are known."""
        parts = [title_of(self.name)]
        if np.isfinite(self.rhat):
            parts.append(f"R-hat {self.rhat:.3f}")
        if np.isfinite(self.ess):
            parts.append(f"ESS {self.ess:,.0f}")
        return ", ".join(parts)


def prepare_functionals(
    source: DrawsLike,
    estimate: LabelsLike | None,
    names: Sequence[str] | None,
    n_jobs: int | None = None,
) -> tuple[Functional, ...]:
    """The functionals asked for, or all there are."""
    posterior = posterior_of(source, n_jobs)
    draws = posterior.draws
    if draws.kind == "ensemble":
        raise NotSupportedError(
            "runs of an ensemble have no order and no chains, so there are no traces or ranks to "
            "show. If they are draws of a posterior, say so: as_draws(draws, kind='posterior').",
            argument="source",
        )
    if draws.weights is not None:
        raise NotSupportedError(
            "weighted draws have lost their order and chains, so there are no traces or ranks to "
            "show. Pass the draws before they were merged or weighted.",
            argument="source",
        )
    labels = estimate_for(source, estimate, draws.n_items)
    values = functionals(posterior, estimate=labels)
    values |= trace_functionals(source, draws.n_draws)
    chosen = (
        list(values)
        if names is None
        else [names]
        if isinstance(names, str)
        else list(texts(names, "names"))
    )
    unknown = [name for name in chosen if name not in values]
    if unknown:
        raise UnknownNameError(
            f"names={names!r}: no functional {unknown[0]!r}; expected some of "
            f"{', '.join(map(repr, values))}.",
            argument="names",
        )
    found = diagnose_values({name: values[name] for name in chosen}, draws, n_jobs=n_jobs)
    return tuple(
        Functional(
            name, by_chain(draws, values[name]), float(found.rhat[j]), float(found.ess_bulk[j])
        )
        for j, name in enumerate(chosen)
    )
