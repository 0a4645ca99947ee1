"""Fits in files."""

from __future__ import annotations

from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._archive import (
    Form,
    MissingClassError,
    described,
    read_archive,
    restored,
    write_archive,
)
from partita._files import PathLike
from partita._validate import whole
from partita.draws import Draws
from partita.errors import FileFormatError
from partita.samplers.base import Kernel
from partita.samplers.chains import Progress, Settings
from partita.samplers.checkpoint import Run, read_state, state_arrays
from partita.samplers.fit import Fit
from partita.samplers.normal import rate_names
from partita.samplers.priors import PartitionPrior

_FIT = Form("partita fit", 2)

_MOST = 1_000_000_000
"""Draws, iterations and moves beyond which a file is damaged: no run would have ended."""


def _check(
    values: NDArray[Any],
    columns: tuple[str, ...],
    draws: Draws,
    trace: dict[str, NDArray[Any]],
    kernel: Kernel,
    prior: PartitionPrior,
) -> None:
    """What a kernel would trust: shapes, ranges, finite numbers; raises ValueError."""
    if values.dtype != np.float64 or values.shape != (draws.n_items, len(columns)):
        raise ValueError(
            f"the values are {values.dtype} of shape {values.shape}, expected float64 of shape "
            f"({draws.n_items}, {len(columns)})"
        )
    kernel.check_encoded(values)
    shape = trace["n_clusters"].shape
    for name, found in trace.items():
        if found.shape != shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
            raise ValueError(f"the trace {name!r} is not {shape} finite numbers")
    if not np.array_equal(trace["n_clusters"].reshape(-1), draws.n_clusters):
        raise ValueError("the trace 'n_clusters' is not that of the draws")
    tables = prior.tables(draws.n_items)
    parameter = tables.parameter
    if parameter is not None and not (trace[parameter] > prior.least_parameter()).all():
        raise ValueError(f"the trace {parameter!r} is out of range")
    if tables.is_learned and not (trace["n_components"] >= trace["n_clusters"]).all():
        raise ValueError("the trace 'n_components' is out of range")
    for name in rate_names(columns, kernel.learned(len(columns))):
        if not (trace[name] > 0).all():
            raise ValueError(f"the trace {name!r} is out of range")


def save_fit(fit: Fit, path: PathLike, *, overwrite: bool) -> None:
    """Write a fit; numbers in arrays, the model in a JSON header."""
    meta = {
        "kernel": described(fit.kernel),
        "prior": described(fit.prior),
        "settings": asdict(fit.settings),
        "columns": fit.columns,
        "item_names": fit.draws.item_names,
        "notes": fit.notes,
        "seconds": fit.seconds,
        "interrupted": fit.interrupted,
    }
    arrays = {"labels": fit.draws.labels, "values": fit.values}
    arrays |= {f"trace_{name}": values for name, values in fit.trace.items()}
    if fit.state is not None:
        meta["done"] = fit.state.done
        arrays |= state_arrays(fit.state)
    write_archive(path, _FIT, meta, arrays, overwrite=overwrite)


def _state_of(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], kept: int, run: Run
) -> Progress | None:
    """Where the chains stood; None in files of version 0.1."""
    done = meta.get("done")
    if done is None:
        return None
    if run.settings.kept(whole(done, "done")) != kept:
        raise ValueError(f"done={done!r}, which does not give {kept} draws")
    states = tuple(read_state(arrays, c, run) for c in range(run.settings.chains))
    return Progress(done, states, ((),) * len(states))


def _settings(found: dict[str, Any], chains: int) -> Settings:
    """How the run was made; raises where a number could not have been asked for."""
    settings = Settings(**found)
    least = {"draws": 1, "burn_in": 0, "thin": 1, "chains": 1, "sweeps": 0, "split_merge": 0}
    for name, low in least.items():
        whole(getattr(settings, name), name, least=low, most=_MOST)
    if settings.chains != chains:
        raise ValueError(f"{settings.chains} chains are noted and {chains} are there")
    return settings


def load_fit(path: PathLike) -> Fit:
    """Read a fit back."""
    meta, arrays = read_archive(path, _FIT)
    try:
        trace = {
            name.removeprefix("trace_"): values
            for name, values in arrays.items()
            if name.startswith("trace_")
        }
        chains, kept = trace["n_clusters"].shape
        draws = Draws(
            arrays["labels"],
            chain=np.repeat(np.arange(chains), kept),
            item_names=meta.get("item_names"),
        )
        kernel = restored(Kernel, *meta["kernel"])
        prior = restored(PartitionPrior, *meta["prior"])
        settings = _settings(meta["settings"], chains)
        values, columns = arrays["values"], tuple(meta["columns"])
        _check(values, columns, draws, trace, kernel, prior)
        return Fit(
            draws,
            MappingProxyType(trace),
            kernel,
            prior,
            values,
            columns,
            settings,
            tuple(meta["notes"]),
            float(meta["seconds"]),
            bool(meta["interrupted"]),
            _state_of(meta, arrays, kept, Run(kernel, prior, values, settings)),
        )
    except MissingClassError:
        raise
    except Exception as error:  # kernels and priors have errors of their own
        raise FileFormatError(f"{path} is not a complete partita fit: {error}.") from error
