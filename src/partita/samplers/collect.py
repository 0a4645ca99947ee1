"""A run's records, put together as a Fit; and a Fit whose chains go on."""

from __future__ import annotations

import time
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import whole
from partita.errors import NotSupportedError
from partita.partitions.draws import Draws
from partita.samplers.cells import Floats
from partita.samplers.chains import Progress, Settings, advance_all, runner
from partita.samplers.display import Display
from partita.samplers.fit import Fit
from partita.samplers.kernel import Kernel
from partita.samplers.learned_rates import names_of
from partita.samplers.model import Model, build_model
from partita.samplers.partition_prior import PartitionPrior


def fit_from_progress(
    reached: Progress,
    kernel: Kernel,
    prior: PartitionPrior,
    values: Floats,
    names: tuple[str, ...],
    item_names: tuple[str, ...] | None,
    model: Model,
    settings: Settings,
    notes: tuple[str, ...],
    seconds: float,
    interrupted: bool,
) -> Fit:
    """The result of a run, finished or not."""
    records = reached.joined()
    scalars = np.stack([record.scalars for record in records])
    trace: dict[str, NDArray[Any]] = {}
    if model.prior.parameter is not None:
        trace[model.prior.parameter] = scalars[:, :, 0].copy()
    extras = scalars[:, :, 4:]
    if model.prior.has_components:
        trace["n_components"] = extras[:, :, 0].astype(np.int64)
        extras = extras[:, :, 1:]
    rates = names_of(names, kernel.learned(len(names)))
    trace |= {name: extras[:, :, r].copy() for r, name in enumerate(rates)}
    trace["n_clusters"] = scalars[:, :, 1].astype(np.int64)
    constant = model.log_base + model.prior.constant
    trace["log_posterior"] = scalars[:, :, 2] + scalars[:, :, 3] + constant
    dtype = np.result_type(*[record.labels.dtype for record in records])
    labels = np.concatenate([record.labels for record in records]).astype(dtype, copy=False)
    chain = np.repeat(np.arange(len(records)), scalars.shape[1])
    counts = trace["n_clusters"].reshape(-1)
    draws = Draws._from_canonical(labels, counts, chain=chain, item_names=item_names)
    return Fit(
        draws,
        MappingProxyType(trace),
        kernel,
        prior,
        values,
        names,
        settings,
        notes,
        seconds,
        interrupted,
        reached.standing(),
    )


def extend_fit(fit: Fit, draws: int, n_jobs: int | None, progress: bool | None) -> Fit:
    """See ``Fit.extend``."""
    more = whole(draws, "draws", least=1)
    if fit.state is None:
        raise NotSupportedError(
            "this fit was saved by a version that did not keep where its chains stood, so they "
            "cannot go on. Sample anew, with a checkpoint."
        )
    begun = fit.state
    there = fit.trace["n_clusters"].shape[1]
    settings = replace(fit.settings, draws=there + more)
    model = build_model(fit.kernel, fit.prior, fit.values)
    start = time.perf_counter()
    with Display(settings, begun.done, progress, ()) as display:
        reached, interrupted = advance_all(settings, begun, runner(model, n_jobs), display.update)
    if not reached.n_draws:
        return fit
    added = fit_from_progress(
        reached,
        fit.kernel,
        fit.prior,
        fit.values,
        fit.columns,
        fit.draws.item_names,
        model,
        settings,
        fit.notes,
        fit.seconds + time.perf_counter() - start,
        interrupted,
    )
    return _joined(fit, added)


def _joined(old: Fit, new: Fit) -> Fit:
    """Chain by chain, the old draws and then the new ones."""
    trace = {
        name: np.concatenate([values, new.trace[name]], axis=1)
        for name, values in old.trace.items()
    }
    chains, n_items = old.settings.chains, old.draws.n_items
    labels = np.concatenate(
        [fit.draws.labels.reshape(chains, -1, n_items) for fit in (old, new)], axis=1
    )
    kept = labels.shape[1]
    draws = Draws._from_canonical(
        labels.reshape(-1, n_items),
        trace["n_clusters"].reshape(-1),
        chain=np.repeat(np.arange(chains), kept),
        item_names=old.draws.item_names,
    )
    return replace(new, draws=draws, trace=MappingProxyType(trace))
