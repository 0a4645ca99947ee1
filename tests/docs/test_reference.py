"""The reference lists every public name, and every public docstring has what a reader needs."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import partita as pt
from doc_pages import DOCS

ROOMS = ("plots", "datasets", "lattice", "results", "sklearn", "arviz", "anndata", "testing")
"""Public modules beside the package itself."""

NOT_OBJECTS = {"__version__", *ROOMS}


def listed() -> set[str]:
    """Full names in the tables of the reference pages; none may stand in two."""
    names, module = [], "partita"
    for page in sorted((DOCS / "reference").glob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   ([A-Za-z][\w.]*)", line):
                names.append(f"{module}.{found[1]}")
    assert len(names) == len(set(names))
    return set(names)


def public() -> dict[str, object]:
    """Every public object by its full name."""
    things = {f"partita.{n}": getattr(pt, n) for n in pt.__all__ if n not in NOT_OBJECTS}
    for room in ROOMS:
        module = importlib.import_module(f"partita.{room}")
        for name in module.__all__:
            things[f"partita.{room}.{name}"] = getattr(module, name)
    return things


RESULTS_SHOWN_BY = {"partita.datasets.FourNormals"}
"""A result that the function beside it, which makes it, documents with its example."""

PUBLIC = {name: thing for name, thing in public().items() if name not in RESULTS_SHOWN_BY}


def test_the_reference_lists_every_public_name_and_no_other():
    assert listed() == set(PUBLIC)


def sections(thing: object) -> set[str]:
    return set(re.findall(r"^([A-Z][A-Za-z ]+)\n-{3,}$", inspect.getdoc(thing) or "", re.MULTILINE))


def parameters(function: object) -> list[str]:
    return [p for p in inspect.signature(function).parameters if p != "self"]


SIMPLE = {
    "load",
    "warmup",
    *("canonical", "n_clusters", "cluster_sizes", "cross_table", "distance"),
    *("pairwise_distances", "expected_loss", "covers", "covered_by", "all_partitions"),
    *("as_draws", "read_draws", "write_draws", "Draws", "Gamma", "Product", "PartitaError"),
    *("PartialPartition", "profiles"),
    *("n_clusters_posterior", "cluster_sizes_posterior", "galaxies", "HasseDiagram"),
}
"""Names whose meaning is elementary, or whose source is that of what they are made of."""

IS_RESULT = {
    *("PointEstimate", "Summary", "CredibleBall", "CredibleCore", "Diagnostics"),
    *("HasseDiagram", "Fit"),
    *("Representatives", "Modes", "Explanation", "PValue", "ConformalSet"),
    *("PricePath", "ClustersCurve"),
}
PARTS_OF_RESULTS = {
    *("Bound", "ItemUncertainty", "ClusterUncertainty", "ClusterCounts", "ClusterSizes"),
    *("ChainAgreement", "LossComparison", "SearchReport", "Start"),
    *("Profiles",),
    *("ClusterParameters", "Density", "Moments", "Settings"),
    *("Stability", "Corner", "Change", "HeldOutCurve", "Peaks", "FunctionLoss"),
}
"""Results that the function or result they come from shows in its examples."""

ALIASES = {"DrawsLike", "LabelsLike", "Rng"}
"""Names for type checkers."""

BASES = {"Loss"}
"""What families are made of; the members show examples."""

DRAWINGS_AND_FILES = ("partita.plots.", "partita.arviz.", "partita.anndata.", "partita.datasets.")
"""Where the cost is that of what is shown or written."""


def missing(full: str, thing: object) -> list[str]:
    """Sections that the docstring of a public object lacks."""
    name = full.rpartition(".")[2]
    wanted = {"Examples"}
    if (inspect.isclass(thing) and issubclass(thing, Exception)) or name in ALIASES | BASES:
        wanted = set()
    elif name in PARTS_OF_RESULTS:
        wanted = {"Attributes"}
    elif name in IS_RESULT:
        wanted |= {"Attributes"}
    elif inspect.isclass(thing):
        wanted |= {"Parameters"} if parameters(thing) else set()
        wanted |= {"Notes", "References"}
    else:
        wanted |= {"Parameters"} if parameters(thing) else set()
        returns = inspect.signature(thing).return_annotation
        if returns not in (None, "None"):
            wanted |= {"Yields" if "Iterator" in str(returns) else "Returns"}
        if not full.startswith(DRAWINGS_AND_FILES):
            wanted |= {"Notes", "References"}
    if name in SIMPLE:
        wanted -= {"References"}
    return sorted(wanted - sections(thing))


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_has_what_a_reader_needs(name):
    assert missing(name, PUBLIC[name]) == []


@pytest.mark.parametrize("name", [n for n in PUBLIC if n.startswith("partita.")])
def test_members_are_documented(name):
    thing = PUBLIC[name]
    if inspect.isclass(thing):
        members = {m for m in vars(thing) if not m.startswith("_")}
        fields = set(getattr(thing, "__dataclass_fields__", ()))
        shown = {m for m in members - fields if callable(getattr(thing, m, None))}
        assert [m for m in sorted(shown) if not inspect.getdoc(getattr(thing, m))] == []


def test_the_check_sees_what_is_missing():
    def silent(x: int) -> int:
        """Nothing but a line."""

    assert missing("partita.silent", silent) == [
        *("Examples", "Notes", "Parameters", "References", "Returns")
    ]
