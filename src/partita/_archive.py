"""The one file format of results: named arrays and a JSON document, without pickle.

A NumPy archive with an entry ``document`` beside the arrays: ``format`` names the kind of result,
``version`` the version of that kind, the rest is the result's own. A name in a file never
changes; where the code behind it lives may. Equal results give equal files.
"""

from __future__ import annotations

import json
import pkgutil
import sys
import threading
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from partita._files import PathLike, atomic_path, require_path
from partita._resources import require_memory, run_interruptible
from partita._tolerance import SUM
from partita._wording import KINDS
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    MemoryLimitError,
    NotSupportedError,
    PartitaError,
)
from partita.kernels.arrays import Array

if TYPE_CHECKING:
    from partita.draws import Draws, DrawsBase
    from partita.features.draws import FeatureDraws
    from partita.samplers.fit import Fit
    from partita.summary.features import FeatureSummary
    from partita.summary.result import Summary

_DOCUMENT = "document"
_EARLIER = "header"
"""The document of fits and checkpoints of version 0.1, as text; its format ends in the version."""


class Form(NamedTuple):
    """The form of a stored result: its name in files and its newest version."""

    format: str
    version: int


def write_archive(
    path: PathLike,
    form: Form,
    document: dict[str, Any],
    arrays: dict[str, Array],
    *,
    overwrite: bool,
) -> None:
    """Write the document and the arrays; whoever reads sees the old file or all of the new one."""
    text = json.dumps({"format": form.format, "version": form.version, **document})
    entries = {_DOCUMENT: np.frombuffer(text.encode(), np.uint8), **arrays}
    with atomic_path(path, overwrite=overwrite) as temporary:
        write_npz(temporary, entries)


def write_npz(path: PathLike, arrays: Mapping[str, Any]) -> None:
    """Write named arrays, compressed; equal arrays give equal files.

    Labels of uncertain items repeat nowhere: the fastest level takes a fifth of the time of the
    usual one for a file that is 5% larger.
    """
    stop = threading.Event()

    def write() -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in arrays.items():
                # An entry opened by its name carries no time of day.
                with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
                    watched = SimpleNamespace(write=partial(_write_unless, stop, out))
                    np.lib.format.write_array(watched, np.asanyarray(array), allow_pickle=False)

    # In a thread: Ctrl-C while zipfile opens an entry would leave it unable to close the file.
    run_interruptible(write, stop.set)
    if stop.is_set():
        raise KeyboardInterrupt


def _write_unless(stop: threading.Event, out: IO[bytes], content: bytes) -> int:
    if stop.is_set():
        raise KeyboardInterrupt
    return out.write(content)


def read_archive(path: PathLike, form: Form) -> tuple[dict[str, Any], dict[str, Array]]:
    """The document and the arrays of a file of that kind, of any version up to the newest."""
    place = require_path(path)
    try:
        # Opened here: NumPy leaves the file open when the archive in it is cut short.
        with place.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            size = sum(member.file_size for member in stored.zip.infolist())
            require_memory(size, f"reading {path}", "Give a file that partita wrote.")
            arrays = {name: stored[name] for name in stored.files}
        document = _document(arrays)
    except MemoryLimitError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy have many for a damaged file
        raise FileFormatError(
            f"{path} is not a {form.format} file, or is damaged. Give a file that partita wrote."
        ) from error
    if document["format"] != form.format:
        raise FileFormatError(f"{path} holds a {document['format']}; expected a {form.format}.")
    if document["version"] not in range(1, form.version + 1):
        raise FileFormatError(
            f"{path} has version {document['version']!r} of the format; this partita reads "
            f"versions up to {form.version}. Use the partita that wrote it, or a newer one."
        )
    return document, arrays


def load(path: PathLike) -> Summary | FeatureSummary | Fit:
    """Read a summary or a fit from a file that ``save`` wrote.

    Parameters
    ----------
    path : path
        A file written by ``summary.save`` or :meth:`Fit.save`, of this or an earlier version.

    Returns
    -------
    Summary, FeatureSummary or Fit
        Equal to the one that was saved; nothing in a file is executed.

    Notes
    -----
    Reading and checking take time and memory in proportion to the labels in the file.

    Examples
    --------
    >>> import tempfile, partita as pt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pt.summarize([[0, 0, 1], [0, 0, 1], [0, 1, 1]]).save(folder + "/summary.npz")
    ...     pt.load(folder + "/summary.npz").estimate.n_clusters
    2
    """
    place = require_path(path)
    try:
        with place.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            kept = [name for name in (_DOCUMENT, _EARLIER) if name in stored.files]
            format = _document({name: stored[name] for name in kept})["format"]
    except Exception as error:  # zipfile, zlib and NumPy have many for a damaged file
        raise FileFormatError(
            f"{path} is not a summary or a fit, or is damaged. Give a file that summary.save or "
            "fit.save wrote; draws are read by pt.read_draws."
        ) from error
    homes = {
        "partita summary": ("partita.summary.summarize", "load_summary"),
        "partita fit": ("partita.samplers.fit", "load_fit"),
    }
    if format not in homes:
        raise FileFormatError(
            f"{path} holds a {format}; expected a summary or a fit. A checkpoint is continued by "
            "pt.sample(..., resume=path)."
        )
    module, reader = homes[format]
    found: Summary | FeatureSummary | Fit = getattr(import_module(module), reader)(path)
    return found


def _document(arrays: dict[str, Array]) -> dict[str, Any]:
    """Take the document out of the arrays."""
    if _DOCUMENT in arrays:
        document = json.loads(arrays.pop(_DOCUMENT).tobytes())
    else:
        document = json.loads(str(arrays.pop(_EARLIER)))
        name, _, version = document["format"].rpartition(" ")
        document |= {"format": name, "version": int(version)}
    if not isinstance(document["format"], str):
        raise TypeError("format")
    return {"version": None, **document}


# ---------------------------------------------------------------- results by their parts


def write_parts(path: PathLike, form: Form, name: str, value: Any, *, overwrite: bool) -> None:
    """Write a result: the document is the tree of its parts.

    An array is named by its entry in the archive, a part that occurs twice by its number, so that
    what was one object is one object again. Nothing is pickled.
    """
    writer = _Writer()
    document = {name: writer.encode(value)}
    write_archive(path, form, document, writer.arrays, overwrite=overwrite)


def read_parts(path: PathLike, form: Form, name: str) -> Any:
    """The result again, made of frozen dataclasses of partita; :func:`check_parts` is to follow."""
    document, arrays = read_archive(path, form)
    try:
        return _Reader(arrays).decode(document[name])
    except Exception as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error


_LEFT_OUT = {("PricePath", "_draws")}
"""Fields that follow from the others."""
_BESIDE = ("weights", "chain", "item_names", "kind")
_DRAWS = {f"_{name}": name for name in ("labels", "n_clusters", *_BESIDE, "reweighting")}
"""Entries of a file, and the attributes they hold; labels on a cluster are fetched."""
_FEATURE_DRAWS = {name: name for name in ("columns", "offsets", "n_items", *_BESIDE)}

_LATER: dict[str, dict[str, Any]] = {
    "SearchReport": {"agreed_kinds": (), "restarts": 0},
    "Summary": {"profiles": None},
}
"""Fields that files of earlier versions lack, and what stands for them."""

_RENAMED = {"Summary": {"rivals": "representatives", "sizes": "sizes_posterior"}}
"""Fields that files of earlier versions call otherwise."""

_ELSEWHERE = {"Levels": "partita.credible.ball"}
"""Parts that are not public names of partita."""


def part_named(name: str) -> Any:
    """The class of a part: a public result or loss of partita, wherever it lives."""
    from partita._result import Result
    from partita.losses.base import Loss

    results = import_module("partita.results")
    home = import_module(_ELSEWHERE.get(name, "partita"))
    home = results if name in results.__all__ else home
    found = getattr(home, name, None) if name.isidentifier() else None
    is_part = isinstance(found, type) and issubclass(found, (Result, Loss))
    if not is_part and name not in _ELSEWHERE:
        raise ValueError(f"it asks for {name}, which is not a part of a result")
    return found


def _name_of(value: Any) -> str:
    """The name of a part in a file."""
    name, known = type(value).__name__, None
    with suppress(ValueError):
        known = part_named(name)
    if known is not type(value):
        raise NotSupportedError(
            f"a summary with a {name} cannot be stored: only partita's own parts can be found "
            "again. Save the draws, and give the loss again."
        )
    return name


def part_from(name: str, entries: dict[str, Any]) -> Any:
    """A part from its name and fields; fields of later versions are filled in."""
    kind = name.rpartition(":")[2]  # earlier versions wrote module:Class
    if ":" in name and not name.startswith("partita."):
        raise ValueError(f"it asks for {name}, which is not a part of a result")
    cls = part_named(kind)
    known = {field.name for field in fields(cls)}
    renamed = _RENAMED.get(kind, {})
    entries = {renamed.get(n, n): v for n, v in entries.items()}
    given = {**_LATER.get(kind, {}), **{n: v for n, v in entries.items() if n in known}}
    needed = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    if missing := needed - given.keys():
        if kind == "ItemUncertainty":
            return None  # of another shape in earlier versions; made anew from the draws
        raise ValueError(f"the {kind} in it lacks {min(missing)}")
    return getattr(cls, "from_fields", cls)(**given)  # where arguments have other names


def _draws_from(entries: dict[str, Any]) -> Draws:
    """Return draws from the fields in a file, checked like a user's; labels must be canonical."""
    from partita.draws import Draws

    labels, weights = entries["_labels"], entries["_weights"]
    # Of earlier versions all were of a posterior, and none reweighted.
    kind, reweighting = entries.get("_kind", "posterior"), entries.get("_reweighting")
    try:
        beside = {"chain": entries["_chain"], "item_names": entries["_item_names"], "kind": kind}
        draws = Draws(labels, weights=weights, **beside)
    except PartitaError as error:
        raise ValueError(f"its draws cannot be used ({error})") from None
    same = np.array_equal(draws.labels, labels) and draws.labels.dtype == labels.dtype
    if not same or not np.array_equal(draws.n_clusters, entries["_n_clusters"]):
        raise ValueError("its draws are not canonical, or their numbers of clusters are wrong")
    object.__setattr__(draws, "reweighting", reweighting)
    _keep_weights(draws, weights)
    return draws


def _feature_draws_from(entries: dict[str, Any]) -> FeatureDraws:
    """Return feature draws from the fields in a file, checked like a user's."""
    from partita.features.draws import FeatureDraws

    try:
        draws = FeatureDraws.from_stored(**entries)
    except PartitaError as error:
        raise ValueError(f"its draws cannot be used ({error})") from None
    _keep_weights(draws, entries["weights"])
    return draws


def _keep_weights(draws: DrawsBase, weights: Array | None) -> None:
    """Weights as they were in the file: cleaning would change bits of them."""
    if weights is not None:
        # Equal up to the last bit: cleaning scales weights that sum to 1 only up to rounding.
        if not np.allclose(draws.probabilities, weights, rtol=SUM, atol=0):
            raise ValueError("the weights of its draws do not sum to 1")
        object.__setattr__(draws, "weights", weights)


class _Writer:
    """Turns objects into a tree that JSON can hold, and collects the arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._number: dict[int, int] = {}

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            name = f"array{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        if isinstance(value, (tuple, list)):
            return {"tuple": [self.encode(entry) for entry in value]}
        if isinstance(value, Mapping):
            return {"map": {str(key): self.encode(entry) for key, entry in value.items()}}
        if id(value) in self._number:
            return {"again": self._number[id(value)]}
        return self._part(value)

    def _part(self, value: Any) -> dict[str, Any]:
        from partita.draws import DrawsBase

        if isinstance(value, DrawsBase):
            kind = type(value).__name__
            stored = _DRAWS if kind == "Draws" else _FEATURE_DRAWS
            entries = {entry: getattr(value, name) for entry, name in stored.items()}
        else:
            kind = _name_of(value)
            names = [field.name for field in fields(value) if (kind, field.name) not in _LEFT_OUT]
            entries = {name: getattr(value, name) for name in names}
        encoded = {name: self.encode(entry) for name, entry in entries.items()}
        # Numbered when complete, as the reader does: parts inside come first.
        self._number[id(value)] = len(self._number)
        return {"part": kind, "fields": encoded}


class _Reader:
    """The inverse of :class:`_Writer`."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._arrays = arrays
        self._parts: list[Any] = []

    def decode(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        if "array" in tree:
            array = self._arrays[tree["array"]]
            array.flags.writeable = False
            return array
        if "tuple" in tree:
            return tuple(self.decode(entry) for entry in tree["tuple"])
        if "map" in tree:
            return {key: self.decode(entry) for key, entry in tree["map"].items()}
        if "again" in tree:
            return self._parts[tree["again"]]
        entries = {name: self.decode(entry) for name, entry in tree["fields"].items()}
        kind = tree["part"]
        if kind in ("Draws", "draws"):
            part: Any = _draws_from(entries)
        elif kind == "FeatureDraws":
            part = _feature_draws_from(entries)
        else:
            part = part_from(kind, entries)
        self._parts.append(part)
        return part


# ---------------------------------------------------------------- what is read is checked

_LABELS = frozenset({"labels", "center", "ties", "estimate"})
"""Fields that hold one label per item, in the last dimension."""
_ALLOCATIONS = frozenset({"allocation", "allocations", "center", "ties"})
"""Fields that hold one row per item, where the draws are feature allocations."""


def check_parts(result: Any) -> None:
    """Raise ValueError unless fields hold their types, and labels are those of the draws' items."""
    from partita.draws import Draws, DrawsBase

    n_items = result.draws.n_items
    of_partitions = isinstance(result.draws, Draws)
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("result", result)]
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen or isinstance(value, DrawsBase):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if of_partitions and name in _LABELS:
                _check_labels(name, value, n_items)
            fits = value.dtype.kind == "b" and value.ndim == 2 and len(value) == n_items
            if not of_partitions and name in _ALLOCATIONS and not fits:
                raise ValueError(f"its {name} are not allocations of {n_items} items")
        elif is_dataclass(value) and not isinstance(value, type):
            for each in fields(value):
                part, called = getattr(value, each.name), f"{type(value).__name__}.{each.name}"
                _check_kind(called, each.type, part)
                waiting.append((each.name, part))
        elif isinstance(value, Mapping):
            waiting += list(value.items())
        elif isinstance(value, (tuple, list)):
            waiting += [(name, each) for each in value]


_KINDS = {
    **dict.fromkeys(("Floats", "NDArray[np.float64]"), "iuf"),
    **dict.fromkeys(("Ints", "Int32s", "Labels", "NDArray[np.int64]", "NDArray[np.int32]"), "iu"),
    **dict.fromkeys(("Bools", "NDArray[np.bool_]"), "b"),
}
_SCALARS = {"float": (int, float), "int": (int,), "str": (str,), "bool": (bool,)}


def _check_kind(name: str, declared: Any, value: Any) -> None:
    """Raise ValueError where a field of a simple type holds another."""
    wanted = str(declared)
    if value is None and wanted.endswith("| None"):
        return
    wanted = wanted.removesuffix(" | None")
    fits = True
    if wanted in _KINDS:
        fits = isinstance(value, np.ndarray) and value.dtype.kind in _KINDS[wanted]
    elif wanted in _SCALARS:
        fits = isinstance(value, _SCALARS[wanted]) and (
            wanted == "bool" or not isinstance(value, bool)
        )
    elif wanted == "Kind":
        fits = value in KINDS
    elif wanted == "tuple[str, ...]":
        fits = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    if not fits:
        raise ValueError(f"its {name} is a {type(value).__name__}, expected {wanted}")


def _check_labels(name: str, labels: np.ndarray[Any, Any], n_items: int) -> None:
    if labels.dtype.kind not in "iu" or labels.ndim < 1 or labels.shape[-1] != n_items:
        raise ValueError(f"its {name} are not labels of {n_items} items")
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < n_items:
        raise ValueError(f"its {name} go from {labels.min()} to {labels.max()}")


# ---------------------------------------------------------------- kernels and priors by kind


class MissingClassError(FileFormatError):
    """A file's model uses a class that has not been imported."""


_OWN = "partita"
"""Home of all classes of partita, which may move between its modules."""

_KNOWN: dict[tuple[type, str], dict[str, type[Registered]]] = {}
"""Classes by their home, for each base (Kernel, PartitionPrior) and kind."""


def _home(module: str) -> str:
    return _OWN if module.startswith(f"{_OWN}.") else module


class Registered:
    """A value that a saved fit names: by its class's ``kind`` and its ``config()``.

    ``kind`` is the class's name unless the class says otherwise.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__dict__.get("kind", cls.__name__)
        base = next(each for each in cls.__mro__ if Registered in each.__bases__)
        known, home = _KNOWN.setdefault((base, cls.kind), {}), _home(cls.__module__)
        if _OWN in known and home != _OWN:
            raise InvalidInputError(
                f"a kernel or prior named {cls.kind!r} comes with partita; give the class "
                f"{cls.__qualname__} another name, or another kind."
            )
        known[home] = cls

    def config(self) -> dict[str, Any]:
        """Parameters as JSON values, by the names that :meth:`from_config` takes.

        By default the fields of a dataclass, or the attributes.
        """
        names = [field.name for field in fields(self)] if is_dataclass(self) else list(vars(self))
        return {name: _plain(getattr(self, name)) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The value again; by default ``cls(**config)``, distributions made anew."""
        return cls(**{name: _restored(value) for name, value in config.items()})


def _plain(value: Any) -> Any:
    """A field as JSON; a distribution as its own parameters."""
    from partita.samplers.priors import F, Gamma

    if isinstance(value, (Gamma, F)):
        return asdict(value)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _restored(value: Any) -> Any:
    """The field again."""
    from partita.samplers.priors import F, Gamma

    if isinstance(value, list):
        return [_restored(each) for each in value]
    for kind in (Gamma, F):
        if isinstance(value, dict) and value.keys() == {field.name for field in fields(kind)}:
            return kind(**value)
    return value


def described(value: Registered) -> list[Any]:
    """Kind and parameters of a value, for a file; of a user's class also its module."""
    home = _home(type(value).__module__)
    described = [value.kind, value.config()]
    return described if home == _OWN else [*described, home]


def restored(base: type, kind: str, config: dict[str, Any], module: str | None = None) -> Any:
    """The kernel or prior, as ``base`` says, of that description.

    Only modules of partita are imported: a file must not choose what code runs.
    """
    from partita import samplers

    home = _home(module) if module else _OWN
    if home == _OWN and _OWN not in _KNOWN.get((base, kind), {}):
        for each in pkgutil.iter_modules(samplers.__path__, "partita.samplers."):
            import_module(each.name)
    known = _KNOWN.get((base, kind), {})
    was: Any = getattr(sys.modules.get(home), kind, None)  # where a class that moved may be named
    found = known.get(home, was)
    if found not in known.values():
        uses = f"the file's model uses the class {kind}"
        if home == _OWN:
            raise MissingClassError(
                f"{uses}, which this version of partita does not have; the version that wrote it "
                "has."
            )
        way = f"Import {home} first"
        if home == "__main__":
            way = f"Define or import {kind} in this script or notebook, as in the one that wrote it"
        others = "".join(f" ({kind} of {each} is another class.)" for each in known)
        raise MissingClassError(
            f"{uses} of {home}, which is not known here. {way}, then load the file again.{others}"
        )
    return found.from_config(config)
