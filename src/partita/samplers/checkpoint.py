"""Runs in files: checkpoints and finished fits."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
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
from partita._files import FileOverwriteError, PathLike
from partita._validate import integer
from partita.draws import Draws
from partita.errors import FileFormatError, InvalidInputError, PartitaError, about
from partita.kernels.arrays import Floats
from partita.labels import canonical
from partita.samplers.base import Kernel
from partita.samplers.chains import SAMPLERS, ChainState, Progress, Record, Settings
from partita.samplers.fit import Fit
from partita.samplers.priors import PartitionPrior

_CHECKPOINT = Form("partita checkpoint", 2)


@dataclass(frozen=True, eq=False)
class Run:
    """The identity of a run, against which a checkpoint is checked."""

    kernel: Kernel
    prior: PartitionPrior
    values: Floats
    settings: Settings

    @cached_property
    def model(self) -> str:
        """A hash of the model, the data and the settings other than the number of draws."""
        parts = {
            "kernel": [self.kernel.kind, self.kernel.config()],
            "prior": [self.prior.kind, self.prior.config()],
            "settings": settings_dict(self.settings) | {"draws": 0},
            "shape": self.values.shape,
        }
        text = json.dumps(parts, sort_keys=True, default=str)
        data = np.ascontiguousarray(self.values).tobytes()
        return hashlib.sha256(text.encode() + data).hexdigest()

    @property
    def n_rates(self) -> int:
        """Rates that are learned."""
        return len(self.kernel.learned(self.values.shape[1]))


def settings_dict(settings: Settings) -> dict[str, Any]:
    """The settings for a file; the sampler that versions 0.1 and 0.2 had is not named."""
    found = asdict(settings)
    if settings.sampler == "collapsed":
        del found["sampler"]
    return found


class Checkpointer:
    """Writes a run to a file at intervals; does nothing without a path."""

    def __init__(
        self, path: PathLike | None, *, every: float, model: str, resumed: PathLike | None
    ) -> None:
        self._path = path
        self._every = every
        self._model = model
        same = resumed is not None and path is not None
        self._may_replace = same and Path(str(resumed)).resolve() == Path(str(path)).resolve()
        self._last = time.monotonic()
        self.failure: str | None = None

    @about("checkpoint", "path")
    def begin(self, progress: Progress) -> None:
        """Write the start, so that a path that cannot be written fails before any sampling."""
        if self._path is None:
            return
        if Path(self._path).exists() and not self._may_replace:
            raise FileOverwriteError(
                f"the checkpoint {self._path} exists already. Pass resume={str(self._path)!r} "
                "to continue that run, or choose another name."
            )
        self.write(progress)

    def after_round(self, progress: Progress) -> None:
        """Write when the last writing is long enough ago."""
        if self._path is not None and time.monotonic() - self._last >= self._every:
            self.keep(progress)

    def keep(self, progress: Progress) -> None:
        """Write, if it can be: a full disk must not cost the draws that are there."""
        try:
            self.write(progress)
            self.failure = None
        except (PartitaError, OSError) as error:
            self._last = time.monotonic()
            self.failure = f"the checkpoint could not be written: {error}"

    def write(self, progress: Progress) -> None:
        """Write the run so far, replacing the file at once."""
        if self._path is None:
            return
        start = time.monotonic()
        arrays = progress_arrays(progress)
        meta = {"model": self._model, "done": progress.done, "chains": len(progress.states)}
        meta |= {"begun": list(progress.begun)}
        write_archive(self._path, _CHECKPOINT, meta, arrays, overwrite=True)
        self._last = time.monotonic()
        # Writing all draws again and again must stay a small part of the run.
        self._every = max(self._every, 20 * (self._last - start))


@about("resume", "path")
def read_checkpoint(path: PathLike, run: Run) -> Progress:
    """A run so far in a checkpoint, which must be of this model, data and settings."""
    meta, arrays = read_archive(path, _CHECKPOINT)
    settings = run.settings
    if meta.get("model") != run.model:
        raise InvalidInputError(
            f"the checkpoint {path} belongs to another run: data, kernel, prior, burn_in, thin, "
            "chains, sweeps and split_merge must be those it was started with.",
            argument="resume",
        )
    if not isinstance(meta.get("done"), int) or meta["done"] < 0:
        raise FileFormatError(f"the checkpoint {path} is damaged: done={meta.get('done')!r}.")
    if meta["done"] > settings.iterations:
        raise InvalidInputError(
            f"the checkpoint {path} is {meta['done']} iterations long, but "
            f"draws={settings.draws!r} asks for {settings.iterations}. Ask for at "
            "least as many draws.",
            argument="resume",
        )
    begun = meta.get("begun", ["", ""])  # which version 0.1 did not write
    if not isinstance(begun, list) or [type(part) for part in begun] != [str, str]:
        raise FileFormatError(f"the checkpoint {path} is damaged: begun={begun!r}.")
    done = int(meta["done"])
    states, records = [], []
    try:
        for c in range(settings.chains):
            states.append(read_state(arrays, c, run))
            records.append(read_records(arrays, c, settings.kept(done), run))
    except KeyError as error:
        raise FileFormatError(f"the checkpoint {path} is incomplete: {error} is missing.") from None
    except ValueError as error:
        raise FileFormatError(f"the checkpoint {path} is damaged: {error}.") from None
    return Progress(done, tuple(states), tuple(records), (begun[0], begun[1]))


def progress_arrays(progress: Progress) -> dict[str, NDArray[Any]]:
    """Where chains stand and what they kept, for a file."""
    arrays = state_arrays(progress)
    if progress.n_draws:
        both = zip(progress.labels(), progress.scalars(), strict=True)
        for c, (labels, scalars) in enumerate(both):
            arrays[f"labels_{c}"], arrays[f"scalars_{c}"] = labels, scalars
    return arrays


def state_arrays(progress: Progress) -> dict[str, NDArray[Any]]:
    """Where chains stand, for a file."""
    arrays: dict[str, NDArray[Any]] = {}
    for c, state in enumerate(progress.states):
        arrays[f"state_labels_{c}"] = state.labels
        arrays[f"random_{c}"] = state.random
        arrays[f"concentration_{c}"] = np.array(state.concentration)
        if state.rates.size:
            arrays[f"rates_{c}"] = state.rates
    return arrays


def read_state(arrays: dict[str, NDArray[Any]], c: int, run: Run) -> ChainState:
    """The state of chain c, checked like a user's input: a kernel trusts it."""
    n_items, n_rates, prior = len(run.values), run.n_rates, run.prior
    labels, random = arrays[f"state_labels_{c}"], arrays[f"random_{c}"]
    if labels.shape != (n_items,) or not np.array_equal(labels, canonical(labels)):
        raise ValueError(f"chain {c} has no canonical labels of {n_items} items")
    most = prior.most_clusters()
    if most is not None and labels.max() >= most:
        raise ValueError(f"chain {c} has more clusters than the prior allows")
    if random.shape != (4,) or random.dtype != np.uint64 or not random.any():
        raise ValueError(f"chain {c} has no random state")
    if arrays[f"concentration_{c}"].shape != () or arrays[f"concentration_{c}"].dtype.kind != "f":
        raise ValueError(f"chain {c} has no concentration")
    concentration = float(arrays[f"concentration_{c}"])
    if not prior.least_parameter() < concentration < np.inf:
        raise ValueError(f"chain {c} has the concentration {concentration!r}")
    rates = arrays[f"rates_{c}"] if n_rates else np.empty(0)
    if (
        rates.shape != (n_rates,)
        or rates.dtype != np.float64
        or not (np.isfinite(rates) & (rates > 0)).all()
    ):
        raise ValueError(f"chain {c} has no {n_rates} positive rates")
    return ChainState(labels.astype(np.int32), concentration, random, rates)


def read_records(
    arrays: dict[str, NDArray[Any]], c: int, kept: int, run: Run
) -> tuple[Record, ...]:
    """The draws of chain c, of which there must be as many as its iterations give."""
    if not kept:
        return ()
    n_items = len(run.values)
    width = 4 + int(run.prior.tables(n_items).has_components) + run.n_rates
    labels, scalars = arrays[f"labels_{c}"], arrays[f"scalars_{c}"]
    if labels.shape != (kept, n_items) or labels.dtype.kind != "u":
        raise ValueError(f"chain {c} has labels of shape {labels.shape}")
    clean = Draws(labels)
    if not np.array_equal(clean.labels, labels):
        raise ValueError(f"chain {c} has labels that are not canonical")
    expected = scalars.shape == (kept, width) and scalars.dtype == np.float64
    if not expected or not np.isfinite(scalars).all():
        raise ValueError(f"chain {c} has no finite traces")
    if not np.array_equal(scalars[:, 1], clean.n_clusters):
        raise ValueError(f"chain {c} has other numbers of clusters than its labels")
    return (Record(labels, scalars),)


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
    """Check what kernels rely on: shapes, ranges, finite numbers; raises ValueError."""
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
    learned = kernel.learned_names(columns)
    if odd := {name for name in trace if " of " in name} - set(learned):
        raise ValueError(f"the trace {min(odd)!r} is not of this kernel")
    for name in learned:
        if not (trace[name] > 0).all():
            raise ValueError(f"the trace {name!r} is out of range")


def save_fit(fit: Fit, path: PathLike, *, overwrite: bool) -> None:
    """Write a fit; numbers in arrays, the model in a JSON header."""
    meta = {
        "kernel": described(fit.kernel),
        "prior": described(fit.prior),
        "settings": settings_dict(fit.settings),
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
    if run.settings.kept(integer(done, "done")) != kept:
        raise ValueError(f"done={done!r}, which does not give {kept} draws")
    states = tuple(read_state(arrays, c, run) for c in range(run.settings.chains))
    return Progress(done, states, ((),) * len(states))


def _settings(found: dict[str, Any], chains: int) -> Settings:
    """How the run was made; raises where a number could not have been asked for."""
    settings = Settings(**found)
    least = {"draws": 1, "burn_in": 0, "thin": 1, "chains": 1, "sweeps": 0, "split_merge": 0}
    for name, low in least.items():
        integer(getattr(settings, name), name, least=low, most=_MOST)
    if settings.sampler not in SAMPLERS:
        raise ValueError(f"the sampler {settings.sampler!r} is unknown")
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
