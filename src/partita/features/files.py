"""Draws of feature allocations from files, and to files."""

from __future__ import annotations

import csv
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from partita._files import PathLike, atomic_path, existing
from partita._storage import clean_kind
from partita._text import Kind
from partita._validate import boolean, text_or_none
from partita._validate import path as clean_path
from partita.errors import FileFormatError, InvalidInputError, UnknownNameError
from partita.features.draws import FeatureDraws, as_features

_FIELDS = ("weights", "chain", "item_names", "kind")
_LONG = ("draw", "feature", "item")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read_features(
    path: PathLike, *, var_name: str | None = None, kind: Kind | None = None
) -> FeatureDraws:
    """Read draws of a feature allocation from a file.

    Parameters
    ----------
    path : path
        - ``.npz``: as :func:`write_features` makes it, or with one array of zeros and ones of
          shape (draw, item, feature);
        - ``.rds``, ``.RData``: a list of R with one matrix of zeros and ones per draw, items in
          rows, as fangs has it; row names are names of items;
        - ``.csv``, ``.tsv``: a long table with the columns ``draw``, ``feature``, ``item`` and one
          row per membership, perhaps with ``chain``. What items are called are their names, in
          the order in which they first appear; a draw without features has one row in which
          feature and item are empty.
    var_name : str, optional
        The array of an npz file, or the path to an object of R, where there are several.
    kind : "posterior" or "ensemble", optional
        As of :class:`FeatureDraws`.

    Returns
    -------
    FeatureDraws

    Notes
    -----
    A long table does not say which items exist that are in no feature of any draw; matrices do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import partita as pt
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "draws.csv"
    >>> _ = file.write_text("draw,feature,item\\n1,1,a\\n1,1,b\\n1,2,b\\n2,1,a\\n")
    >>> pt.read_features(file)
    <FeatureDraws: 2 draws of 2 items, 1 to 2 features, named items>
    """
    file = clean_path(path, "path")
    text_or_none(var_name, "var_name")
    if kind is not None:
        clean_kind(kind, None)
    suffix = file.suffix.lower()
    readers = {".npz": _read_npz, ".rds": _read_r, ".rdata": _read_r, ".rda": _read_r}
    if suffix not in readers and suffix not in _SEPARATORS:
        known = ", ".join([*readers, *_SEPARATORS])
        raise UnknownNameError(
            f"{file.name} cannot be read as feature draws: its suffix must be one of {known}.",
            argument="path",
        )
    existing(file)
    found = readers[suffix](file, var_name) if suffix in readers else _read_long(file)
    return found if kind is None else found._with(kind=kind)


def write_features(draws: FeatureDraws, path: PathLike, *, overwrite: bool = False) -> None:
    """Write draws of a feature allocation: ``.npz`` keeps everything, ``.csv`` is a long table.

    Parameters
    ----------
    draws : FeatureDraws
    path : path
    overwrite : bool
        Replace a file that exists.

    Notes
    -----
    A long table keeps neither weights nor items that are in no feature.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import partita as pt
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "draws.npz"
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1, 2}]], n_items=4)
    >>> pt.write_features(draws, file)
    >>> pt.read_features(file) == draws
    True
    """
    of, file = as_features(draws), clean_path(path, "path")
    if file.suffix.lower() not in (".npz", *_SEPARATORS):
        raise UnknownNameError(
            f"feature draws cannot be written to {file.name}; its suffix must be .npz, .csv or "
            ".tsv.",
            argument="path",
        )
    with atomic_path(file, overwrite=boolean(overwrite, "overwrite")) as target:
        if file.suffix.lower() != ".npz":
            _write_long(of, target)
            return
        stored = {name: getattr(of, name) for name in _FIELDS if getattr(of, name) is not None}
        points = {"columns": of.columns, "offsets": of.offsets, "n_items": of.n_items}
        np.savez_compressed(target, **(points | stored))  # type: ignore[arg-type]


def _read_npz(file: Path, var_name: str | None) -> FeatureDraws:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (ValueError, OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FileFormatError(
            f"{file} is damaged, or holds pickled objects, which are never read ({error})."
        ) from error
    if var_name is None and {"columns", "offsets", "n_items"} <= arrays.keys():
        return _restored(arrays, file)
    cubes = [name for name, values in arrays.items() if values.ndim == 3]
    if var_name is not None or len(cubes) == 1:
        name = cubes[0] if var_name is None else var_name
        if name not in arrays:
            raise InvalidInputError(
                f"{file} has no array {name!r}; its arrays are: {', '.join(arrays)}.",
                argument="var_name",
            )
        return FeatureDraws(arrays[name])
    raise InvalidInputError(
        f"{file} has {len(cubes)} arrays of shape (draw, item, feature); expected one, or its name "
        f"with var_name=.... Its arrays are: {', '.join(arrays)}.",
        argument="path",
    )


def _restored(arrays: dict[str, Any], file: Path) -> FeatureDraws:
    """What ``write_features`` stored, checked: a file may be forged or damaged."""
    fields: dict[str, Any] = {name: arrays[name] for name in _FIELDS if name in arrays}
    if "item_names" in fields:
        fields["item_names"] = fields["item_names"].tolist()
    if "kind" in fields:
        fields["kind"] = str(fields["kind"])
    try:
        points = (arrays[name] for name in ("columns", "offsets", "n_items"))
        return FeatureDraws.from_stored(*points, **fields)
    except ValueError:
        raise FileFormatError(
            f"{file} does not hold feature draws as pt.write_features makes them."
        ) from None


def _read_r(file: Path, var_name: str | None) -> FeatureDraws:
    from partita.io.r import RList, RVector, at_path, load_r

    root = load_r(file)
    node = root if var_name is None else at_path(root, var_name)
    if node is None:
        raise InvalidInputError(f"{file} has nothing at {var_name!r}.", argument="var_name")

    def is_draws(part: Any) -> bool:
        return (
            isinstance(part, RList)
            and len(part.parts) > 0
            and all(isinstance(p, RVector) and p.values.ndim == 2 for p in part.parts)
        )

    while isinstance(node, RList) and not is_draws(node) and len(node.parts) == 1:
        node = node.parts[0]
    if not is_draws(node) and isinstance(node, RList):
        lists = [part for part in node.parts if is_draws(part)]
        node = lists[0] if len(lists) == 1 else node
    if not is_draws(node):
        raise InvalidInputError(
            f"{file} does not hold one list of matrices, each N × K of zeros and ones. Choose an "
            "object with var_name=..., as in var_name='samplesFA'.",
            argument="path",
        )
    first = node.parts[0]
    names = first.dimnames[0] if first.dimnames else None
    return FeatureDraws([part.values for part in node.parts], item_names=names)


def _read_long(file: Path) -> FeatureDraws:
    separator = _SEPARATORS[file.suffix.lower()]
    with file.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream, delimiter=separator))
    rows = [row for row in rows if row]
    heads = [cell.strip().lower().lstrip(".") for cell in rows[0]] if rows else []
    missing = [name for name in _LONG if name not in heads]
    if missing or len(rows) < 2:
        raise FileFormatError(
            f"{file} has the columns {', '.join(heads) or 'none'}; expected a header with draw, "
            "feature and item, and one row per membership."
        )
    at = {name: heads.index(name) for name in (*_LONG, "chain") if name in heads}
    draws: dict[tuple[str, str], dict[str, set[str]]] = {}
    items: dict[str, None] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(heads):
            raise FileFormatError(
                f"{file}, row {number} has {len(row)} cells; expected {len(heads)}."
            )
        cells = {name: row[column].strip() for name, column in at.items()}
        here = draws.setdefault((cells.get("chain", ""), cells["draw"]), {})
        if not cells["item"] and not cells["feature"]:
            continue
        if not cells["item"] or not cells["feature"] or not cells["draw"]:
            raise FileFormatError(
                f"{file}, row {number} lacks a draw, feature or item; each row is one membership."
            )
        here.setdefault(cells["feature"], set()).add(cells["item"])
        items.setdefault(cells["item"])
    if not items:
        raise FileFormatError(f"{file} has no membership; at least one item is needed.")
    chain = [key[0] for key in draws] if "chain" in at else None
    sets = [list(features.values()) for features in draws.values()]
    return FeatureDraws.from_sets(sets, item_names=list(items), chain=chain)


def _write_long(draws: FeatureDraws, file: Path) -> None:
    names = draws.item_names or tuple(map(str, range(draws.n_items)))
    heads = _LONG if draws.chain is None else ("chain", *_LONG)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, delimiter=_SEPARATORS[file.suffix.lower()])
        table.writerow(heads)
        for m in range(draws.n_draws):
            before = [] if draws.chain is None else [draws.chain[m]]
            features = draws.sets(m)
            if not features:
                table.writerow([*before, m, "", ""])
            for k, feature in enumerate(features):
                table.writerows([*before, m, k, names[i]] for i in feature)
