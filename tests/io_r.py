"""Files as R, its packages and JAGS save them; objects for rdata's writer.

``Atom`` is any atomic vector and ``Listed`` any list, each with the attributes
that R's ``attributes(x)`` shows.
"""

import numpy as np
import rdata
from rdata.conversion import to_r
from rdata.parser import RObjectType


class Atom:
    """An atomic vector, matrix or array; ``dimnames`` may have names of its own."""

    def __init__(self, values, dimnames=None, r_class=None, **attributes):
        self.values, self.dimnames, self.r_class = np.asarray(values), dimnames, r_class
        self.attributes = attributes


class Listed:
    """A list with names, a class and further attributes."""

    def __init__(self, parts, r_class=None, **attributes):
        self.parts, self.r_class, self.attributes = parts, r_class, attributes


def _texts(values):
    return np.array(list(values), dtype=str)


def _atom(data, converter):
    attributes = dict(data.attributes)
    if data.values.ndim > 1:
        attributes["dim"] = np.array(data.values.shape, np.int32)
    if data.dimnames is not None:
        entries = data.dimnames.items() if isinstance(data.dimnames, dict) else data.dimnames
        if isinstance(data.dimnames, dict):
            attributes["dimnames"] = {k: None if v is None else _texts(v) for k, v in entries}
        else:
            attributes["dimnames"] = [None if v is None else _texts(v) for v in entries]
    if data.r_class:
        attributes["class"] = _texts(data.r_class)
    flat = data.values.ravel(order="F")
    found = converter.convert_to_r_attributes(attributes) if attributes else None
    if flat.dtype.kind in "UO":
        value = [to_r.build_r_char(text, encoding="utf-8") for text in flat]
        return to_r.build_r_object(RObjectType.STR, value=value, attributes=found)
    kind = RObjectType.REAL if flat.dtype.kind == "f" else RObjectType.INT
    if flat.dtype == np.int64 and data.r_class and "integer64" in data.r_class:
        flat, kind = flat.view(np.float64), RObjectType.REAL
    elif kind is RObjectType.INT:
        flat = flat.astype(np.int32)
    return to_r.build_r_object(
        kind, value=flat, is_object=data.r_class is not None, attributes=found
    )


def _listed(data, converter):
    named = isinstance(data.parts, dict)
    attributes = dict(data.attributes)
    if named:
        attributes["names"] = _texts(data.parts)
    if data.r_class:
        attributes["class"] = _texts(data.r_class)
    parts = list(data.parts.values()) if named else data.parts
    return to_r.build_r_object(
        RObjectType.VEC,
        value=[converter.convert_to_r_object(part) for part in parts],
        is_object=data.r_class is not None,
        attributes=converter.convert_to_r_attributes(attributes) if attributes else None,
    )


CONSTRUCTORS = {**to_r.DEFAULT_CLASS_MAP, Atom: _atom, Listed: _listed}


def write_rds(path, value):
    rdata.write_rds(path, value, constructor_dict=CONSTRUCTORS)
    return path


def write_rda(path, **objects):
    rdata.write_rda(path, objects, constructor_dict=CONSTRUCTORS)
    return path


def write_coda(folder, chains, names):
    """As JAGS writes them: one variable after the other, iterations from 1001."""
    for number, values in enumerate(chains, start=1):
        rows = [f"{1001 + t}  {value}" for column in values.T for t, value in enumerate(column)]
        (folder / f"CODAchain{number}.txt").write_text("\n".join(rows) + "\n")
    n = len(values)
    index = [f"{name} {1 + i * n} {(i + 1) * n}" for i, name in enumerate(names)]
    (folder / "CODAindex.txt").write_text("\n".join(index) + "\n")
