"""Outputs appear whole or not at all, and replace nothing without being told to."""

from __future__ import annotations

import sys

import pytest

import partita as pt
from partita.cli import outputs


def listing(place):
    return sorted(str(p.relative_to(place)) for p in place.rglob("*"))


def test_an_empty_directory_may_be_filled(place, partita):
    (place / "empty").mkdir()
    assert partita("summarize", "draws.csv", "--out", "empty").exit_code == 0


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("missing/results", "does not exist. Make it first"),
        ("draws.csv", "is a file; expected a directory"),
    ],
)
def test_impossible_directories(place, partita, out, message):
    result = partita("summarize", "draws.csv", "--out", out, "--force")
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_failure_leaves_nothing_behind(place, partita, monkeypatch):
    before = listing(place)

    def full(*_):
        raise OSError(28, "No space left on device", "clusters.csv")

    monkeypatch.setattr(outputs, "_write_clusters", full)
    result = partita("summarize", "draws.csv", "--out", "results")
    assert result.exit_code == 1
    assert "results cannot be written: No space left on device. Free some space" in result.stderr
    assert "Estimate" in result.stdout  # what was computed is not thrown away
    assert listing(place) == before


def test_a_report_is_not_overwritten(place, partita):
    (place / "report.html").write_text("old")
    result = partita("summarize", "draws.csv", "--report", "report.html")
    assert result.exit_code == 1
    assert "report.html exists already. Add --force" in result.stderr
    assert (place / "report.html").read_text() == "old"
    result = partita("summarize", "draws.csv", "--report", "report.html", "--force")
    assert result.exit_code == 0
    assert (place / "report.html").read_text() != "old"


def test_a_report_without_its_libraries_is_refused_early(place, partita, monkeypatch):
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    result = partita("summarize", "no such file.csv", "--report", "report.html")
    assert result.exit_code == 1
    assert 'pip install "partita[report]"' in result.stderr


def test_convert_does_not_overwrite(place, partita):
    (place / "d.npz").write_text("mine")
    result = partita("convert", "chain1.csv", "d.npz")
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert (place / "d.npz").read_text() == "mine"
    assert partita("convert", "draws.csv", "d.npz", "--force").exit_code == 0
    assert partita("convert", "chain1.csv", "d.npz").exit_code == 1
    assert partita("convert", "chain1.csv", "d.npz", "--force").exit_code == 0
    assert pt.read_draws("d.npz") == pt.read_draws("chain1.csv")


def test_a_store_of_draws_is_replaced_and_no_other_directory(place, partita):
    assert partita("convert", "draws.csv", "d.zarr").exit_code == 0
    assert partita("convert", "chain1.csv", "d.zarr").exit_code == 1
    assert partita("convert", "chain1.csv", "d.zarr", "--force").exit_code == 0
    assert pt.read_draws("d.zarr") == pt.read_draws("chain1.csv")
    (place / "d.zarr" / "mine.txt").write_text("mine")
    result = partita("convert", "draws.csv", "d.zarr")
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert partita("convert", "draws.csv", "d.zarr", "--force").exit_code == 1  # it holds more
    assert (place / "d.zarr" / "mine.txt").read_text() == "mine"


# ------------------------------------------------------------------------ hostile names


def test_names_are_no_formulas(tmp_path, monkeypatch):
    names = ("=cmd|' /C calc'!A0", "+1", "-x", "@SUM(A1)", "\tx", "plain", -1.5, "1-2")
    outputs.write_table(tmp_path / "t.csv", ("item",), ([name] for name in names))
    cells = (tmp_path / "t.csv").read_text().splitlines()[1:]
    assert cells == [
        "'=cmd|' /C calc'!A0",
        "'+1",
        "'-x",
        "'@SUM(A1)",
        "'\tx",
        "plain",
        "-1.5",
        "1-2",
    ]
    monkeypatch.setenv("PARTITA_RAW_CSV", "1")
    outputs.write_table(tmp_path / "t.csv", ("item",), ([name] for name in names))
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == names[0]


def test_escapes_are_shown_and_not_obeyed(capsys):
    from partita.cli.outputs import say, show

    show("item \x1b[31mred\x07\nnext line")
    say("file \x1b]0;title\x07")
    out, err = capsys.readouterr()
    assert out == "item \\x1b[31mred\\x07\nnext line\n"
    assert err == "file \\x1b]0;title\\x07\n"


def test_colours_come_from_what_a_line_is(capsys, monkeypatch):
    """A name that looks like a heading or a warning is coloured as what it is: an item."""
    import partita as pt
    from partita.cli import outputs as show
    from partita.summary.text import screen, screen_lines

    names = ["Cluster : x", "  ! odd", "=" * 5, "d", "e"]
    draws = pt.Draws([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]] * 4, item_names=names)
    summary = pt.summarize(draws)
    kinds = {line.kind for line in screen_lines(summary)}
    assert kinds == {"plain", "warning"}
    show.show_summary(summary)
    assert capsys.readouterr().out == screen(summary) + "\n"
    monkeypatch.setattr(show, "coloured", lambda: True)
    monkeypatch.setattr(
        show.click, "echo", lambda text: print(text)
    )  # click strips for no terminal
    show.show_summary(summary)
    coloured = capsys.readouterr().out
    assert "\x1b[36m\x1b[1mEstimate from 12 draws of 5 items:\x1b[0m" in coloured
    assert "\x1b[33m  ! " in coloured
    assert show.click.unstyle(coloured) == screen(summary) + "\n"
