"""The map for contributors is drawn from the imports that are there."""

from __future__ import annotations

import importlib.util

from doc_pages import DOCS

spec = importlib.util.spec_from_file_location("architecture", DOCS / "tools" / "architecture.py")
assert spec is not None
assert spec.loader is not None
architecture = importlib.util.module_from_spec(spec)
spec.loader.exec_module(architecture)


def test_every_room_stands_on_a_floor_above_what_it_imports():
    arrows = architecture.graph()
    height = architecture.floors(arrows)
    assert {"kernels", "partitions", "losses", "search", "summary", "cli"} <= set(arrows)
    assert all(height[room] > height[other] for room in arrows for other in arrows[room])
    assert height["kernels"] < height["partitions"] < height["losses"] < height["search"]
    assert height["search"] < height["summary"]


def test_rooms_are_described():
    assert set(architecture.graph()) <= set(architecture.SAID)


def test_the_picture_leaves_out_what_a_longer_way_replaces():
    arrows = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert architecture.reduced(arrows) == {"a": {"b"}, "b": {"c"}, "c": set()}
    assert architecture.floors(arrows) == {"a": 2, "b": 1, "c": 0}


def test_table_and_picture(tmp_path):
    table = architecture.table()
    assert "| `search` | point estimates and proofs |" in table
    assert "`samplers`" not in next(row for row in table.splitlines() if "| `search` | " in row)
    picture = tmp_path / "map.svg"
    architecture.draw(picture)
    assert picture.stat().st_size > 5_000
