"""A fit continued: more draws of the same chains."""

from __future__ import annotations

import time
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from partita._validate import whole
from partita.errors import NotSupportedError
from partita.partitions.draws import Draws
from partita.samplers.chains import advance_all, runner
from partita.samplers.collect import fit_from_progress
from partita.samplers.display import Display
from partita.samplers.fit import Fit
from partita.samplers.model import build_model


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
