"""Numbers that describe a draw whatever its labels are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError
from partita.labels import Labels
from partita.losses.builtin import VI
from partita.posterior import Posterior

LEARNED = ("concentration", "weight", "n_components")
"""Traces of samplers that describe a draw beside its partition; "rate of …" do, too."""


def functionals(
    posterior: Posterior, *, estimate: Labels | None = None
) -> dict[str, NDArray[np.float64]]:
    """One value per draw of each functional, by name.

    Number of clusters, entropy in bits, size of the largest cluster, and with
    an estimate the VI distance to it.
    """
    entropy, largest = posterior.shapes(1)
    values = {
        "n_clusters": posterior.draws.n_clusters.astype(np.float64),
        "entropy": entropy,
        "largest_cluster": largest[:, 0].astype(np.float64),
    }
    if estimate is not None:
        values["vi_to_estimate"] = posterior.distances(VI(), estimate)
    return values


def trace_functionals(source: object, n_draws: int) -> dict[str, NDArray[np.float64]]:
    """What sampler output has learned, and its log posterior; nothing for other draws."""
    # Only what says it holds draws: NumPy arrays have a method of the name ``trace``.
    trace = getattr(source, "trace", None) if hasattr(type(source), "__draws__") else None
    values: dict[str, NDArray[np.float64]] = {}
    if not isinstance(trace, Mapping):
        return values
    learned = [name for name in trace if name in LEARNED or name.startswith("rate of ")]
    for name in (*learned, "log_posterior"):
        if name not in trace:
            continue
        column = np.asarray(trace[name], np.float64).reshape(-1)
        if column.size != n_draws:
            raise InvalidInputError(
                f"trace[{name!r}] has {column.size} values; expected one per draw ({n_draws})."
            )
        values[name] = column
    return values
