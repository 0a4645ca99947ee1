"""Chains on the workers of a cluster keep themselves, each in files of its own.

Beside the checkpoint of a run is a directory of shards: what one chain drew
from one iteration to another, and where it then stood. Its worker writes a
shard at the end of a step, to storage that workers and driver share; the draws
so far are not written again. Chains of a run are one sequence each, whoever
ran them, so that shards which follow on the checkpoint continue it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from partita._archive import Form, read_archive, write_archive
from partita._files import PathLike
from partita.errors import FileFormatError, PartitaError, about
from partita.samplers.chains import ChainState, Progress, Record
from partita.samplers.checkpoint import Run, progress_arrays, read_records, read_state

_SHARD = Form("partita chain", 1)


@dataclass(frozen=True)
class Shard:
    """What a worker writes of a chain after a step: draws since the last shard, and its state."""

    directory: Path
    run: dict[str, Any]
    chain: int
    first: int
    records: tuple[Record, ...]

    def write(self, last: int, state: ChainState, record: Record) -> str | None:
        """Write it; what went wrong, where it could not be."""
        kept = tuple(one for one in (*self.records, record) if len(one.labels))
        arrays = progress_arrays(Progress(last, (state,), (kept,)))
        place = self.directory / f"{self.chain}-{self.first}-{last}.npz"
        try:
            write_archive(place, _SHARD, self.run, arrays, overwrite=True)
        except (PartitaError, OSError) as error:
            return str(error)
        return None


class ChainFiles:
    """Tells when chains write a shard, and of what."""

    def __init__(self, path: PathLike, *, every: float, model: str, begun: Progress) -> None:
        self._directory = _directory(path)
        self._every = every
        self._run = _run(model, begun)
        self._first = begun.done
        self._records: list[list[Record]] = [[] for _ in begun.states]
        self._last = time.monotonic()
        self._asked = False
        self.failure: str | None = None

    def begin(self) -> None:
        """Make room for shards."""
        self._directory.mkdir(exist_ok=True)

    def due(self) -> list[Shard | None]:
        """For each chain the shard to write after the next step, where it is time."""
        self._asked = self.failure is None and time.monotonic() - self._last >= self._every
        return [
            Shard(self._directory, self._run, chain, self._first, tuple(records))
            if self._asked
            else None
            for chain, records in enumerate(self._records)
        ]

    def note(self, last: int, records: Sequence[Record], failures: Sequence[str | None]) -> None:
        """Take note of a step of all chains, up to an iteration."""
        self.failure = self.failure or next(filter(None, failures), None)
        if self._asked and self.failure is None:
            self._first, self._last = last, time.monotonic()
            self._records = [[] for _ in records]
            return
        for mine, record in zip(self._records, records, strict=True):
            mine.append(record)


def clear(path: PathLike) -> None:
    """Remove the shards beside a checkpoint that holds what they held."""
    directory = _directory(path)
    for shard in directory.glob("*-*-*.npz"):
        shard.unlink(missing_ok=True)
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()


def continued(progress: Progress, path: PathLike, run: Run) -> Progress:
    """The run in a checkpoint, followed by the shards that all of its chains have written."""
    while True:
        ends = [_ends(path, c, progress.done) for c in range(len(progress.states))]
        common = {last for last in set.intersection(*ends) if last <= run.settings.iterations}
        if not common:
            return progress
        last = max(common)
        read = [_read(path, c, progress, last, run) for c in range(len(progress.states))]
        if None in read:
            return progress
        found = [one for one in read if one is not None]
        progress = replace(
            progress,
            done=last,
            states=tuple(state for state, _ in found),
            records=tuple(
                (*before, *after)
                for before, (_, after) in zip(progress.records, found, strict=True)
            ),
        )


@about("resume", "path")
def _read(
    path: PathLike, chain: int, progress: Progress, last: int, run: Run
) -> tuple[ChainState, tuple[Record, ...]] | None:
    """A shard, checked like a checkpoint; None where it is of another run."""
    place = _directory(path) / f"{chain}-{progress.done}-{last}.npz"
    meta, arrays = read_archive(place, _SHARD)
    if {key: meta.get(key) for key in ("model", "begun")} != _run(run.model, progress):
        return None
    kept = run.settings.kept(last) - run.settings.kept(progress.done)
    try:
        return read_state(arrays, 0, run), read_records(arrays, 0, kept, run)
    except (KeyError, ValueError) as error:
        raise FileFormatError(f"the checkpoint {place} is damaged: {error}.") from None


def _ends(path: PathLike, chain: int, first: int) -> set[int]:
    """Iterations at which shards end that begin at one."""
    names = (place.stem for place in _directory(path).glob(f"{chain}-{first}-*.npz"))
    return {int(end) for end in (name.rpartition("-")[2] for name in names) if end.isdecimal()}


def _directory(path: PathLike) -> Path:
    place = Path(str(path)).resolve()
    return place.with_name(f"{place.name}.chains")


def _run(model: str, progress: Progress) -> dict[str, Any]:
    return {"model": model, "begun": list(progress.begun)}
