"""Errors are one paragraph in the words of the command line; codes tell what happened."""

import pytest

import partita as pt


def test_an_error_is_one_paragraph(place, partita):
    (place / "bad.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    result = partita("summarize", "bad.csv", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("partita: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("before", [True, False])
def test_debug_shows_the_traceback(place, partita, before):
    arguments = ["summarize", "nowhere.csv"]
    arguments = ["--debug", *arguments] if before else [*arguments, "--debug"]
    result = partita(*arguments, code=1)
    assert "Traceback (most recent call last)" in result.stderr
    assert "FileMissingError" in result.stderr


def test_a_fault_of_partita_asks_for_a_report(place, partita, monkeypatch):
    def fault(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(pt, "summarize", fault)
    result = partita("summarize", "draws.csv", code=1)
    assert "unexpected ZeroDivisionError: division by zero" in result.stderr
    assert "--debug" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("summarize",),
        ("summarize", "draws.csv", "--loss", "l2"),
        ("summarize", "draws.csv", "--prob", "0"),
        ("summarize", "draws.csv", "--nonsense"),
        ("compare", "labels.csv"),
        ("convert", "draws.csv", "-", "--to", "doc"),
    ],
)
def test_wrong_usage(place, partita, arguments):
    result = partita(*arguments, code=2)
    assert "Usage: partita" in result.stderr
    assert result.stdout == ""


def test_an_error_about_an_argument_names_the_option(place, partita):
    for arguments, shown in [
        (("path", "draws.csv", "--low", "1.5", "--high", "1"), "--low: 1.5, high=1.0; expected"),
        (("summarize", "draws.csv", "--var-name", "z"), "--var-name: "),
        (("compare", "labels.csv", "truth.csv", "--loss", "vi(3)"), None),
        (("summarize", "nowhere.csv", "--path"), "nowhere.csv does not exist"),
    ]:
        result = partita(*arguments, code=2 if shown is None else 1)
        assert result.stderr.startswith(f"partita: {shown}" if shown else "Usage"), result.stderr


@pytest.mark.parametrize("name", ["method=x.csv", "prob=2.csv", "(header=False", "similarity=..."])
def test_a_file_that_is_named_like_an_argument_keeps_its_name(place, partita, name):
    result = partita("summarize", name, "--format", "csv", code=1)
    assert result.stderr.startswith(f"partita: {name} does not exist")


@pytest.mark.filterwarnings("default")  # what is advised is a warning
def test_advice_names_options_and_not_arguments(place, partita):
    rows = "".join(f"cell{i},{i % 2},0,{i % 3},1,0,1\n" for i in range(5))
    (place / "cells.csv").write_text(",a,b,c,d,e,f\n" + rows)
    warned = partita("summarize", "cells.csv")
    assert "pass --transpose" in warned.stderr
    (place / "header=True").write_text("0;1\n0;0\n")
    text = partita("summarize", "header=True", "--format", "csv", code=1).stderr
    assert "header=True: cells" in text
    assert "--sep ';'" in text
