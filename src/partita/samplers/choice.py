"""The kernel for a table whose user named none."""

from __future__ import annotations

from partita._wording import listed
from partita.samplers.bernoulli import BetaBernoulli
from partita.samplers.categorical import DirichletCategorical
from partita.samplers.kernel import Kernel
from partita.samplers.normal import NormalInverseGamma
from partita.samplers.product import Product
from partita.samplers.table import Table


def choose_kernel(table: Table) -> tuple[Kernel, str]:
    """A kernel by the columns' types, and a sentence that says which.

    Numbers, integers included, get independent normals with the paper's empirical rule;
    booleans get Bernoulli, text and categories get categorical columns.
    """
    by_type: dict[str, list[int]] = {"numbers": [], "booleans": [], "categories": []}
    names = {"f": "numbers", "b": "booleans", "O": "categories"}
    for position, column in enumerate(table.columns):
        by_type[names[column.dtype.kind]].append(position)
    parts: list[tuple[Kernel, list[int]]] = []
    said = []
    for name, positions in by_type.items():
        if not positions:
            continue
        kernel = _kernel_for(name, table.select(positions))
        parts.append((kernel, positions))
        rule = ", prior by the empirical rule" if name == "numbers" else ""
        columns = listed([repr(table.names[p]) for p in positions])
        said.append(f"{kernel.kind} for the {name} in column {columns}{rule}")
    kernel = parts[0][0] if len(parts) == 1 else Product(*parts)
    return kernel, f"kernel chosen by the columns' types: {'; '.join(said)}."


def _kernel_for(name: str, table: Table) -> Kernel:
    if name == "numbers":
        return NormalInverseGamma.empirical(table)
    return BetaBernoulli() if name == "booleans" else DirichletCategorical()
