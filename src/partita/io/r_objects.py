"""R's objects as they stand in a file: vectors and lists with their attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAIRS = "pairlist"
_MOST_DEPTH = 100
_STEP = re.compile(r"\[\[(\d+)\]\]|([^$\[]+)")


@dataclass(frozen=True, eq=False)
class RVector:
    """An atomic vector, matrix or array; ``values`` has its dimensions, missing ones masked."""

    values: NDArray[Any]
    dimnames: tuple[tuple[str, ...] | None, ...] = ()
    dimension_names: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names along the last dimension."""
        return self.dimnames[-1] if self.dimnames else None


@dataclass(frozen=True, eq=False)
class RList:
    """A list, data frame, S4 object or file of named objects."""

    parts: list[Any]
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    def items(self) -> list[tuple[str, Any]]:
        """Each part with the step of a path that leads to it."""
        if self.names is None:
            return [(f"[[{i}]]", part) for i, part in enumerate(self.parts, start=1)]
        return [
            (name or f"[[{i}]]", part)
            for i, (name, part) in enumerate(zip(self.names, self.parts, strict=True), start=1)
        ]


@dataclass(frozen=True)
class ROther:
    """Something that holds no labels: a function, an environment, NULL."""

    kind: str


def from_parsed(obj: Any, depth: int = 0) -> Any:
    """One object of rdata's parser as an RVector, RList or ROther."""
    kind = obj.info.type.name
    if kind == "REF" and obj.referenced_object is not None:
        obj, kind = obj.referenced_object, obj.referenced_object.info.type.name
    if depth > _MOST_DEPTH:
        return ROther("nested too deep")
    if kind in ("LGL", "INT", "REAL", "STR"):
        return _vector(obj, kind, _attributes(obj, depth))
    if kind in ("VEC", "EXPR"):
        parts = [from_parsed(part, depth + 1) for part in obj.value]
        attributes = _attributes(obj, depth)
        names = _texts(attributes.get("names"))
        return RList(parts, names, _classes(attributes), attributes)
    if kind == "LIST":
        pairs = _pairs(obj, depth)
        # The objects of an .RData file are a pair list: side by side, not chains of each other.
        return RList([part for _, part in pairs], tuple(name for name, _ in pairs), (PAIRS,))
    if kind == "S4":
        attributes = _attributes(obj, depth)
        inner = {name: part for name, part in attributes.items() if name != "class"}
        return RList(list(inner.values()), tuple(inner), _classes(attributes))
    return ROther(kind.lower())


def _pairs(obj: Any, depth: int) -> list[tuple[str, Any]]:
    """Names and values of a pair list, the form of attributes and of a file's objects."""
    found = []
    while obj is not None and obj.info.type.name == "LIST":
        head, tail = obj.value
        tag = obj.tag
        if tag is not None and tag.info.type.name == "REF":
            tag = tag.referenced_object
        name = "" if tag is None else _text(tag.value) or ""
        found.append((name, from_parsed(head, depth + 1)))
        obj = tail
    return found


def _attributes(obj: Any, depth: int) -> dict[str, Any]:
    return {} if obj.attributes is None else dict(_pairs(obj.attributes, depth + 1))


def _text(char: Any) -> str | None:
    """The text of rdata's CHAR object; None where it is missing."""
    content = char.value
    if content is None:
        return None
    try:
        return str(content.decode("utf-8"))
    except UnicodeDecodeError:
        return str(content.decode("latin-1"))


def _texts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, RVector) or value.values.dtype.kind != "O":
        return None
    return tuple("" if text is None else str(text) for text in value.values.ravel(order="F"))


def _classes(attributes: dict[str, Any]) -> tuple[str, ...]:
    return _texts(attributes.get("class")) or ()


def _vector(obj: Any, kind: str, attributes: dict[str, Any]) -> RVector:
    classes = _classes(attributes)
    values = _values(obj, kind, classes)
    levels = _texts(attributes.get("levels"))
    if "factor" in classes and levels is not None:
        codes = np.ma.filled(values, 0)
        values = np.array([levels[c - 1] if 0 < c <= len(levels) else None for c in codes], object)
    dim = attributes.get("dim")
    if isinstance(dim, RVector):
        values = values.reshape([int(n) for n in dim.values], order="F")
    named = attributes.get("dimnames")
    dimnames: tuple[tuple[str, ...] | None, ...] = ()
    dimension_names: tuple[str, ...] = ()
    if isinstance(named, RList):
        dimnames = tuple(_texts(part) for part in named.parts)
        dimension_names = named.names or ()
    return RVector(
        values, dimnames, dimension_names, _texts(attributes.get("names")), classes, attributes
    )


def _values(obj: Any, kind: str, classes: tuple[str, ...]) -> NDArray[Any]:
    if kind == "STR":
        return np.array([_text(char) for char in obj.value], object)
    values = np.ma.asanyarray(obj.value) if np.ma.isMaskedArray(obj.value) else obj.value
    values = np.asanyarray(values)
    if "integer64" in classes:  # bit64 keeps integers in the bits of doubles
        values = np.ascontiguousarray(values, np.float64).view(np.int64)
        values = np.ma.masked_equal(values, np.iinfo(np.int64).min)
    elif kind in ("INT", "LGL") and not np.ma.isMaskedArray(values):
        values = np.ma.masked_equal(values, np.iinfo(np.int32).min)
    return values


def at_path(root: Any, path: str) -> Any | None:
    """What stands at a path such as ``fit$clust`` or ``chains[[2]]``; None where nothing does.

    The name by which R's user knew the object of an .rds file may lead the path.
    """
    whole = _follow(root, path)
    if whole is None and "$" in path:
        return _follow(root, path.partition("$")[2])
    return whole


def _follow(node: Any, path: str) -> Any | None:
    for number, name in _STEP.findall(path.replace("@", "$")):
        if not isinstance(node, RList):
            return None
        if number:
            if not 0 < int(number) <= len(node.parts):
                return None
            node = node.parts[int(number) - 1]
        elif node.names is None or name not in node.names:
            return None
        else:
            node = node.parts[node.names.index(name)]
    return node
