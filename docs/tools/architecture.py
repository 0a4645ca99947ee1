"""The import graph of the package, as a picture and as a table, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "partita"

DOORS = (("summary", "report"), ("summary", "plots"))
"""``Summary.to_html`` and ``Summary.plot`` open these by name when called: the arrows up."""

SAID = {
    "cli": "the commands",
    "reproduce": "the paper's tables and figures",
    "report": "one HTML file",
    "plots": "figures",
    "sklearn": "estimators",
    "arviz": "trees in and out",
    "anndata": "annotated data in and out",
    "summary": "everything in one object",
    "testing": "checks of what users bring",
    "rivals": "several answers, p-values, modes",
    "search": "point estimates and proofs",
    "samplers": "mixtures that produce draws",
    "credible": "balls, items, clusters",
    "diagnostics": "convergence of chains",
    "losses": "distances and expectations",
    "io": "readers and writers",
    "partitions": "labels, lattice, Draws, similarity",
    "kernels": "Numba; arrays in, arrays out",
    "datasets": "the paper's data",
    "errors": "what can go wrong, by type",
}
"""What happens in each room."""


def modules() -> Iterator[tuple[str, Path]]:
    """Room and file of every module; the front door, which names all rooms, is left out."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in ("__init__", "__main__"):
            yield parts[0], path


def imported_rooms(path: Path) -> Iterator[str]:
    """Rooms of the package that a file imports anywhere, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            whole = node.module == "partita"
            names = [f"partita.{a.name}" for a in node.names] if whole else [node.module]
        else:
            continue
        for name in names:
            if name.startswith("partita."):
                yield name.split(".")[1]


def graph() -> dict[str, set[str]]:
    """Each room with the rooms it imports; the small private modules are left out."""
    arrows: dict[str, set[str]] = {}
    for room, path in modules():
        if room.startswith("_"):
            continue
        others = {r for r in imported_rooms(path) if r != room and not r.startswith("_")}
        arrows.setdefault(room, set()).update(others)
    return {room: {o for o in others if (room, o) not in DOORS} for room, others in arrows.items()}


def floors(arrows: dict[str, set[str]]) -> dict[str, int]:
    """Height of each room: one more than the highest room it imports."""
    height: dict[str, int] = {}

    def of(room: str) -> int:
        if room not in height:
            height[room] = 1 + max((of(other) for other in arrows.get(room, ())), default=-1)
        return height[room]

    for room in arrows:
        of(room)
    return height


def reduced(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Arrows that no longer way down replaces, which is all a picture needs."""

    def below(room: str) -> set[str]:
        found = set(arrows.get(room, ()))
        for other in arrows.get(room, ()):
            found |= below(other)
        return found

    return {
        room: {o for o in others if not any(o in below(x) for x in others - {o})}
        for room, others in arrows.items()
    }


def table() -> str:
    """Markdown: each room, what happens there, its size, and what it imports."""
    arrows, height = graph(), floors(graph())
    size: dict[str, list[int]] = {}
    for room, path in modules():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        size.setdefault(room, []).append(lines)
    rows = ["| floor | room | what happens there | files | lines | imports |"]
    rows.append("|---:|---|---|---:|---:|---|")
    for room in sorted(arrows, key=lambda r: (-height[r], r)):
        others = ", ".join(f"`{o}`" for o in sorted(arrows[room] - {"errors"})) or "nothing"
        rows.append(
            f"| {height[room]} | `{room}` | {SAID.get(room, '')} | {len(size[room])} "
            f"| {sum(size[room]):,} | {others} |"
        )
    return "\n".join(rows) + "\n"


def draw(path: Path) -> None:
    """The rooms on their floors, with the arrows that remain after reduction."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    arrows = {room: others - {"errors"} for room, others in graph().items() if room != "errors"}
    height = floors(arrows)
    levels = sorted(set(height.values()))
    place: dict[str, tuple[float, float]] = {}
    for level in levels:
        here = _ordered([r for r in height if height[r] == level], arrows, place)
        for j, room in enumerate(here):
            place[room] = ((j - (len(here) - 1) / 2) * 2.5, 1.35 * level)
    figure, axes = plt.subplots(figsize=(10, 1.2 * len(levels)))
    for room, others in reduced(arrows).items():
        for other in others:
            _arrow(axes, place[room], place[other])
    for room, (x, y) in place.items():
        _box(axes, x, y, room, SAID.get(room, ""))
    reach = max(abs(x) for x, _ in place.values()) + 1.3
    axes.set(xlim=(-reach, reach), ylim=(-0.6, 1.35 * levels[-1] + 0.6))
    axes.set_axis_off()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _ordered(
    rooms: list[str], arrows: dict[str, set[str]], place: dict[str, tuple[float, float]]
) -> list[str]:
    """Rooms of a floor above what they import, so that few arrows cross."""

    def middle(room: str) -> tuple[float, str]:
        below = [place[o][0] for o in arrows[room] if o in place]
        return (sum(below) / len(below) if below else 0.0, room)

    return sorted(rooms, key=middle)


def _box(axes: object, x: float, y: float, room: str, said: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = FancyBboxPatch(
        (x - 1.05, y - 0.3), 2.1, 0.6, boxstyle="round,pad=0.06", fc="#eef3f8", ec="#33566f", lw=1
    )
    axes.add_patch(shape)  # type: ignore[attr-defined]
    centred = {"ha": "center", "va": "center"}
    axes.text(x, y + 0.1, room, fontsize=11, **centred)  # type: ignore[attr-defined]
    axes.text(x, y - 0.17, said, fontsize=6.5, color="#445", **centred)  # type: ignore[attr-defined]


def _arrow(axes: object, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(  # type: ignore[attr-defined]
        "",
        xy=(end[0], end[1] + 0.36),
        xytext=(start[0], start[1] - 0.36),
        arrowprops={"arrowstyle": "-|>", "color": "#8899a6", "lw": 1, "shrinkA": 0, "shrinkB": 0},
        zorder=1,
    )
