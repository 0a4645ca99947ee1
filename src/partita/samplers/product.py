"""Kernels over column blocks, for tables of mixed kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._archive import described, restored
from partita._text import listed
from partita.errors import InvalidInputError
from partita.io.data_table import Table, as_table
from partita.kernels.arrays import Floats
from partita.labels import DataSource
from partita.samplers.base import Block, Kernel, Moments, merge_moments

_DESCRIPTION = ("kind", "config", "module")

Part = tuple[Kernel, tuple[int | str, ...]]


@dataclass(frozen=True, init=False)
class Product(Kernel):
    """A product of kernels, each over its own columns.

    Given the cluster, blocks of columns are independent:
    p(x | θ) = Π_b p_b(x_b | θ_b). Choose it for tables that mix measurements,
    counts and categories.

    Parameters
    ----------
    *parts : (kernel, columns)
        Columns by name or by position; each column of the data once.

    Notes
    -----
    An item costs the sum of what it costs under the parts.

    Examples
    --------
    >>> import partita as pt
    >>> size = pt.NormalInverseGamma(mean=170, precision=0.1, shape=2, rate=50)
    >>> pt.Product((size, ["height"]), (pt.BetaBernoulli(), ["smoker", "married"]))
    Product((NormalInverseGamma(mean=170.0, precision=0.1, shape=2.0, rate=50.0), ('height',)),
            (BetaBernoulli(a=1.0, b=1.0), ('smoker', 'married')))
    """

    parts: tuple[Part, ...]

    kind: ClassVar[str] = "Product"

    def __init__(self, *parts: tuple[Kernel, int | str | Iterable[int | str]]) -> None:
        object.__setattr__(self, "parts", tuple(_clean_part(part) for part in parts))
        if not parts:
            raise InvalidInputError(
                "a Product needs at least one (kernel, columns) pair.", argument="parts"
            )

    def __repr__(self) -> str:
        return f"Product({', '.join(repr(part) for part in self.parts)})"

    @classmethod
    def empirical(cls, data: DataSource) -> Product:
        """Each column under the kernel of its type, with that kernel's empirical rule."""
        from partita.samplers.sample import _by_types

        table = as_table(data)
        kernel, _ = _by_types(table, "empirical")
        return kernel if isinstance(kernel, Product) else cls((kernel, range(table.n_columns)))

    def bind(self, table: Table) -> Product:
        """With columns as positions, and each kernel bound to its own."""
        positions = [_positions(columns, table) for _, columns in self.parts]
        used = [p for part in positions for p in part]
        twice = sorted({table.names[p] for p in used if used.count(p) > 1})
        left = [name for p, name in enumerate(table.names) if p not in used]
        if twice or left:
            what = f"{listed(twice)} appears twice" if twice else f"{listed(left)} is in no block"
            raise InvalidInputError(
                f"the blocks of a Product must hold each column of the data once, but {what}. "
                "Select the columns to use before sampling.",
                argument="parts",
            )
        bound = [
            (kernel.bind(table.select(part)), tuple(part))
            for (kernel, _), part in zip(self.parts, positions, strict=True)
        ]
        return Product(*bound)

    def _bound(self) -> list[tuple[Kernel, list[int]]]:
        return [(kernel, [int(c) for c in columns]) for kernel, columns in self.parts]

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that a part cannot have made."""
        used = sorted(c for _, columns in self._bound() for c in columns)
        if used != list(range(values.shape[1])):
            raise InvalidInputError("a Product whose blocks do not hold each column once")
        for kernel, columns in self._bound():
            kernel.check_encoded(values[:, columns])

    def encode(self, table: Table) -> Floats:
        """Each block as its kernel encodes it, at its columns."""
        encoded = np.empty((table.n_rows, table.n_columns))
        for kernel, columns in self._bound():
            encoded[:, columns] = kernel.encode(table.select(columns))
        return encoded

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:  # noqa: ARG002
        """All blocks of the parts."""
        found = []
        for kernel, columns in self._bound():
            theirs = frozenset(i for i, column in enumerate(columns) if column in incomplete)
            found += [
                replace(block, columns=tuple(columns[c] for c in block.columns))
                for block in kernel.blocks(len(columns), n_items, theirs)
            ]
        return found

    def learned(self, n_columns: int) -> tuple[int, ...]:  # noqa: ARG002
        """Those of the parts, in the order of the columns."""
        found = [[columns[c] for c in k.learned(len(columns))] for k, columns in self._bound()]
        return tuple(sorted(c for part in found for c in part))

    def learned_names(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Each as its part calls it."""
        return tuple(f"{self.part_of(c)[0].learns} of {columns[c]}" for c in self.learned(0))

    def at(self, rates: Floats) -> Product:
        """Each part with its learned rates."""
        order = {c: i for i, c in enumerate(self.learned(0))}
        parts = []
        for kernel, columns in self._bound():
            mine = [order[columns[c]] for c in kernel.learned(len(columns))]
            parts.append((kernel.at(rates[mine]), columns))
        return Product(*parts) if order else self

    def given(self, values: Floats, labels: NDArray[np.int32]) -> tuple[Product, ...]:
        """The parts' kernels side by side, each in an order of its own: parts are independent."""
        found = [list(k.given(values[:, c], labels)) for k, c in self._bound()]
        n = max(map(len, found))
        if n == 1:
            return (self,)
        rng = np.random.default_rng(1)
        for part in found:
            part[:] = [part[i] for i in rng.permutation(n)] if len(part) > 1 else part * n
        columns = [c for _, c in self._bound()]
        return tuple(
            Product(*zip(kernels, columns, strict=True)) for kernels in zip(*found, strict=True)
        )

    def log_base(self, values: Floats) -> Floats:
        """The sum over the parts."""
        return np.asarray(sum(k.log_base(values[:, c]) for k, c in self._bound()))

    def categories(self, n_columns: int) -> tuple[int, ...]:  # noqa: ARG002 - as bound
        """The parts' columns of levels."""
        return tuple(sorted(c[j] for kernel, c in self._bound() for j in kernel.categories(len(c))))

    def discrete(self, n_columns: int) -> tuple[int, ...]:  # noqa: ARG002 - as bound
        """The parts' columns of probabilities."""
        return tuple(
            sorted(cols[c] for part, cols in self._bound() for c in part.discrete(len(cols)))
        )

    def features(self, values: Floats) -> Floats:
        """The parts' coordinates side by side."""
        return np.concatenate([k.features(values[:, c]) for k, c in self._bound()], axis=1)

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """As the part of that column predicts it."""
        kernel, columns = self.part_of(column)
        return kernel.predict_cell(same, values, columns.index(column), rng)

    def part_of(self, column: int) -> tuple[Kernel, list[int]]:
        """The kernel of a column, and the columns it has."""
        return next(part for part in self._bound() if column in part[1])

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """The parts' rows side by side."""
        rows = np.empty((n, values.shape[1]))
        for kernel, columns in self._bound():
            rows[:, columns] = kernel.simulate(values[:, columns], n, rng)
        return rows

    def moments(
        self, values: Floats, labels: NDArray[np.int32], names: tuple[str, ...]
    ) -> dict[str, Moments]:
        """The parts' parameters; those of one name and shape side by side."""
        return dict(
            merge_moments(
                [
                    kernel.moments(values[:, columns], labels, tuple(names[c] for c in columns))
                    for kernel, columns in self._bound()
                ]
            )
        )

    def config(self) -> dict[str, Any]:
        """The parts, each with its kernel's kind and hyperparameters."""
        return {
            "parts": [
                {**dict(zip(_DESCRIPTION, described(kernel), strict=False)), "columns": columns}
                for kernel, columns in self.parts
            ]
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Product:
        """The product again, its kernels found by their kind."""
        return cls(
            *(
                (restored(Kernel, *(part.get(name) for name in _DESCRIPTION)), part["columns"])
                for part in config["parts"]
            )
        )


def _clean_part(part: Any) -> Part:
    if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], Kernel)):
        raise InvalidInputError(
            f"a Product takes (kernel, columns) pairs, got {part!r}.", argument="parts"
        )
    kernel, columns = part
    if isinstance(kernel, Product):
        raise InvalidInputError(
            "a Product inside a Product; list its parts directly.", argument="parts"
        )
    if isinstance(columns, (str, int, np.integer)):
        columns = (columns,)
    cleaned = tuple(c if isinstance(c, str) else int(c) for c in columns)
    if not cleaned:
        raise InvalidInputError(
            f"no columns for {kernel!r} in a Product; expected one or more.", argument="parts"
        )
    return kernel, cleaned


def _positions(columns: tuple[int | str, ...], table: Table) -> list[int]:
    known = {name: p for p, name in enumerate(table.names)}
    found = []
    for column in columns:
        position = known.get(column) if isinstance(column, str) else column
        if position is None or not 0 <= position < table.n_columns:
            raise InvalidInputError(
                f"no column {column!r} in the data; the columns are {listed(table.names, 12)}.",
                argument="parts",
            )
        found.append(position)
    return found
