"""Held-out predictive densities: which model predicts best, and which chain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from partita._validate import Rng
from partita.errors import Interrupted
from partita.kernels.arrays import Floats, Ints
from partita.samplers.base import Kernel
from partita.samplers.chains import Settings, advance_all, build_model, runner
from partita.samplers.fit import Fit, collected
from partita.samplers.priors import PartitionPrior
from partita.samplers.sample import chain_states, initial_state, with_parameters
from partita.scan import chains_of

if TYPE_CHECKING:
    from partita.draws import Draws


def refit(
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    columns: Sequence[str],
    settings: Settings,
    *,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Fit:
    """The fit of a bound kernel to encoded rows; Ctrl-C raises."""
    prior = prior.bind(len(values))
    states = chain_states(None, kernel, prior, values, settings.chains, rng)
    model = build_model(kernel, prior, values)
    begun = with_parameters(initial_state(states), model)
    start = time.perf_counter()
    reached, interrupted = advance_all(settings, begun, runner(model, n_jobs), lambda _: None)
    if interrupted:
        raise Interrupted("interrupted while models were fitted to a part of the rows.")
    names = tuple(columns)
    draws, trace = collected(reached, model, kernel, names, None)
    how = (settings, (), time.perf_counter() - start, False, reached.standing())
    return Fit(draws, trace, kernel, prior, values, names, *how)


def mean_by_chain(draws: Draws, log_densities: Floats) -> Floats:
    """Log of the mean over the draws of each chain, (n_chains, n_points)."""
    from scipy.special import logsumexp

    names, number = chains_of(draws)
    weights = draws.probabilities[:, None]
    found = np.empty((names.size, log_densities.shape[1]))
    for c in range(names.size):
        mine = number == c
        found[c] = logsumexp(log_densities[mine], axis=0, b=weights[mine] / weights[mine].sum())
    return found


def log_density_by_chain(fit: Fit, points: Floats, n_jobs: int | None = None) -> Floats:
    """Log predictive density of new encoded rows under each chain, (n_chains, n_points)."""
    parts = [mean_by_chain(fit.draws, found) for found in fit._log_densities(points, n_jobs)]
    return np.concatenate(parts, axis=1)


def heldout_log_density(
    values: Floats,
    held_out: Ints,
    *,
    kernel: Kernel,
    prior: PartitionPrior,
    draws: int = 300,
    burn_in: int = 300,
    chains: int = 2,
    rng: Rng | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Log predictive density of held-out rows under a fit to all other rows, (n_held_out,).

    ``values`` are all rows as the bound kernel encodes them, ``held_out`` positions among them.
    Densities are averaged over the draws of all chains. The hyperparameters of the kernel stay:
    where a rule set them from all rows, that is the model that is judged.
    """
    from scipy.special import logsumexp

    left = np.ones(len(values), bool)
    left[held_out] = False
    moves = min(8, 1 + int(left.sum()) // 200)
    settings = Settings(draws, burn_in, 1, chains, 1, moves)
    columns = [str(c) for c in range(values.shape[1])]
    fit = refit(kernel, prior, values[left], columns, settings, rng=rng, n_jobs=n_jobs)
    by_chain = log_density_by_chain(fit, values[held_out], n_jobs)
    return np.asarray(logsumexp(by_chain, axis=0) - np.log(len(by_chain)))
