"""Outputs appear whole or not at all, and replace nothing without being told to."""

from __future__ import annotations

import sys

import pytest

from partita.cli import outputs


def listing(place):
    return sorted(str(p.relative_to(place)) for p in place.rglob("*"))


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
