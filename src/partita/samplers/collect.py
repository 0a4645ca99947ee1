"""What chains kept, as the draws and traces of a Fit; and a Fit whose chains go on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import whole
from partita.errors import NotSupportedError
from partita.partitions.draws import Draws
from partita.samplers.chains import Progress, advance_all, runner
from partita.samplers.display import Display
from partita.samplers.fit import Fit
from partita.samplers.kernel import Kernel
from partita.samplers.learned_rates import names_of
from partita.samplers.model import Model, build_model

Trace = Mapping[str, NDArray[Any]]


def collected(
    reached: Progress,
    model: Model,
    kernel: Kernel,
    columns: tuple[str, ...],
    item_names: tuple[str, ...] | None,
) -> tuple[Draws, Trace]:
    """Draws and traces of a run, finished or not."""
    records = reached.joined()
    scalars = np.stack([record.scalars for record in records])
    trace: dict[str, NDArray[Any]] = {}
    if model.prior.parameter is not None:
        trace[model.prior.parameter] = scalars[:, :, 0].copy()
    extras = scalars[:, :, 4:]
    if model.prior.has_components:
        trace["n_components"] = extras[:, :, 0].astype(np.int64)
        extras = extras[:, :, 1:]
    rates = names_of(columns, kernel.learned(len(columns)))
    trace |= {name: extras[:, :, r].copy() for r, name in enumerate(rates)}
    trace["n_clusters"] = scalars[:, :, 1].astype(np.int64)
    constant = model.log_base + model.prior.constant
    trace["log_posterior"] = scalars[:, :, 2] + scalars[:, :, 3] + constant
    dtype = np.result_type(*[record.labels.dtype for record in records])
    labels = np.stack([record.labels for record in records]).astype(dtype, copy=False)
    return _draws(labels, trace, item_names), MappingProxyType(trace)


def _draws(labels: NDArray[Any], trace: Trace, item_names: tuple[str, ...] | None) -> Draws:
    """Draws from canonical labels of shape (chain, draw, item)."""
    chains, kept, n_items = labels.shape
    return Draws._from_canonical(
        labels.reshape(-1, n_items),
        trace["n_clusters"].reshape(-1),
        chain=np.repeat(np.arange(chains), kept),
        item_names=item_names,
    )


def extend_fit(fit: Fit, draws: int, n_jobs: int | None, progress: bool | None) -> Fit:
    """See ``Fit.extend``."""
    more = whole(draws, "draws", least=1)
    if fit.state is None:
        raise NotSupportedError(
            "this fit was saved by a version that did not keep where its chains stood, so they "
            "cannot go on. Sample anew, with a checkpoint."
        )
    chains, there = fit.trace["n_clusters"].shape
    settings = replace(fit.settings, draws=there + more)
    model = build_model(fit.kernel, fit.prior, fit.values)
    start = time.perf_counter()
    with Display(settings, fit.state.done, progress, ()) as display:
        advance = runner(model, n_jobs)
        reached, interrupted = advance_all(settings, fit.state, advance, display.update)
    if not reached.n_draws:
        return fit
    item_names, n_items = fit.draws.item_names, fit.draws.n_items
    new, trace = collected(reached, model, fit.kernel, fit.columns, item_names)
    # Chain by chain, the old draws and then the new ones.
    joined = {name: np.concatenate([fit.trace[name], trace[name]], axis=1) for name in fit.trace}
    labels = [part.labels.reshape(chains, -1, n_items) for part in (fit.draws, new)]
    return replace(
        fit,
        draws=_draws(np.concatenate(labels, axis=1), joined, item_names),
        trace=MappingProxyType(joined),
        settings=settings,
        seconds=fit.seconds + time.perf_counter() - start,
        interrupted=interrupted,
        state=reached.standing(),
    )
