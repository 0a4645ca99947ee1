"""Errors are one paragraph in the words of the command line; codes tell what happened."""

from __future__ import annotations

import pytest

from partita.cli.failures import in_options
from partita.summary import summarize as make


def test_an_error_is_one_paragraph(place, partita):
    (place / "bad.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    result = partita("summarize", "bad.csv")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("partita: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("before", [True, False])
def test_debug_shows_the_traceback(place, partita, before):
    arguments = ["summarize", "nowhere.csv"]
    arguments = ["--debug", *arguments] if before else [*arguments, "--debug"]
    result = partita(*arguments)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert "FileMissingError" in result.stderr


def test_a_fault_of_partita_asks_for_a_report(place, partita, monkeypatch):
    def fault(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(make, "summarize", fault)
    result = partita("summarize", "draws.csv")
    assert result.exit_code == 1
    assert "unexpected ZeroDivisionError: division by zero" in result.stderr
    assert "--debug" in result.stderr


def test_interrupted_before_anything_was_made(place, partita, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(make, "summarize", stop)
    result = partita("summarize", "draws.csv", "--out", "results")
    assert result.exit_code == 130
    assert result.stderr.strip() == "partita: interrupted; this command did not finish."
    assert not (place / "results").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("summarize",),
        ("summarize", "draws.csv", "--loss", "l2"),
        ("summarize", "draws.csv", "--prob", "0"),
        ("summarize", "draws.csv", "--nonsense"),
        ("fit", "data.csv", "--kernel", "cauchy"),
        ("demo", "iris"),
        ("compare", "labels.csv"),
        ("completion", "tcsh"),
    ],
)
def test_wrong_usage(place, partita, arguments):
    result = partita(*arguments)
    assert result.exit_code == 2
    assert "Usage: partita" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("library", "shown"),
    [
        ("Pass overwrite=True to replace it.", "Pass --force to replace it."),
        (
            "Name the format with format=..., one of csv.",
            "Name the format with --format, one of csv.",
        ),
        ("prob=2.0; expected", "--prob 2.0; expected"),
        ("header=False says", "--no-header says"),
        ("continued with resume='run 1.npz'.", "continued with --resume 'run 1.npz'."),
        ("var_name=.... Choose", "--var-name. Choose"),
        ("Pass loss='vi' or another", "Pass --loss 'vi' or another"),
        ("with noise=(-1, 'cluster') (one)", "with --noise -1:cluster (one)"),
        ("pass it as similarity=..., not", "pass it as partita summarize --similarity FILE, not"),
        ("a=1 and alpha=2 stay", "a=1 and alpha=2 stay"),
        ("redraws=1 stays", "redraws=1 stays"),
    ],
)
def test_arguments_of_the_library_are_named_as_options(library, shown):
    assert in_options(library) == shown
