"""Fits in files."""

from __future__ import annotations

from dataclasses import asdict
from types import MappingProxyType

import numpy as np

from partita._files import PathLike
from partita.errors import FileFormatError
from partita.partitions.draws import Draws
from partita.samplers.archive import read_archive, write_archive
from partita.samplers.chains import Settings
from partita.samplers.fit import Fit
from partita.samplers.registered import described, restored

_FORMAT = "partita fit 1"


def save_fit(fit: Fit, path: PathLike, *, overwrite: bool) -> None:
    """Write a fit; numbers in arrays, the model in a JSON header."""
    meta = {
        "kernel": described(fit.kernel),
        "prior": described(fit.prior),
        "settings": asdict(fit.settings),
        "columns": fit.columns,
        "notes": fit.notes,
        "seconds": fit.seconds,
        "interrupted": fit.interrupted,
    }
    arrays = {"labels": fit.draws.labels, "values": fit.values}
    arrays |= {f"trace_{name}": values for name, values in fit.trace.items()}
    write_archive(path, _FORMAT, meta, arrays, overwrite=overwrite)


def load_fit(path: PathLike) -> Fit:
    """Read a fit back."""
    meta, arrays = read_archive(path, _FORMAT)
    try:
        trace = {
            name.removeprefix("trace_"): values
            for name, values in arrays.items()
            if name.startswith("trace_")
        }
        chains, kept = trace["n_clusters"].shape
        draws = Draws(arrays["labels"], chain=np.repeat(np.arange(chains), kept))
        kernel = restored(*meta["kernel"])
        prior = restored(*meta["prior"])
        settings = Settings(**meta["settings"])
        return Fit(
            draws,
            MappingProxyType(trace),
            kernel,
            prior,
            arrays["values"],
            tuple(meta["columns"]),
            settings,
            tuple(meta["notes"]),
            float(meta["seconds"]),
            bool(meta["interrupted"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} is not a complete partita fit: {error}.") from error
