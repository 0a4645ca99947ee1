"""Errors are one paragraph in the words of the command line; codes tell what happened."""

from __future__ import annotations

import pytest

from partita.errors import PartitaError
from partita.kernels import listeners
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


def test_compiling_is_said_once_where_no_terminal_shows_it(place, partita, monkeypatch):
    def compiles(*_, **__):
        for now in (10.0, 10.2, 12.0, 14.0):
            monkeypatch.setattr("time.monotonic", lambda now=now: now)
            for listener in tuple(listeners):
                listener()
        raise PartitaError("enough")

    monkeypatch.setattr(make, "summarize", compiles)
    result = partita("summarize", "draws.csv")
    assert [line.partition(";")[0] for line in result.stderr.splitlines()] == [
        "partita: compiling for this machine",
        "partita: enough",
    ]
    assert not any("_Compiling" in repr(listener) for listener in listeners)


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
        ("summarize", "draws.csv", "--method", "luck"),
        ("convert", "draws.csv", "-", "--to", "doc"),
    ],
)
def test_wrong_usage(place, partita, arguments):
    result = partita(*arguments)
    assert result.exit_code == 2
    assert "Usage: partita" in result.stderr
    assert result.stdout == ""


def test_an_error_about_an_argument_names_the_option(place, partita):
    for arguments, shown in [
        (("path", "draws.csv", "--low", "1.5", "--high", "1"), "--low: 1.5, high=1.0; expected"),
        (("summarize", "draws.csv", "--var-name", "z"), "--var-name: "),
        (("compare", "labels.csv", "truth.csv", "--loss", "vi(3)"), None),
        (("summarize", "nowhere.csv", "--path"), "nowhere.csv does not exist"),
    ]:
        result = partita(*arguments)
        assert result.exit_code == (2 if shown is None else 1)
        assert result.stderr.startswith(f"partita: {shown}" if shown else "Usage"), result.stderr


@pytest.mark.parametrize("name", ["method=x.csv", "prob=2.csv", "(header=False", "similarity=..."])
def test_a_file_that_is_named_like_an_argument_keeps_its_name(place, partita, name):
    result = partita("summarize", name, "--format", "csv")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"partita: {name} does not exist")


def test_only_rules_that_were_given_are_named(place, partita):
    for option, shown in [
        (("--min-size", "16"), "--min-size: 16: 16 items"),
        (("--n-clusters", "16"), "--n-clusters: 16: 16 items"),
        (("--n-clusters", "4", "--min-size", "4"), "--n-clusters: 4, min_size=4: 16 items"),
    ]:
        result = partita("summarize", "draws.csv", *option)
        assert result.stderr.startswith(f"partita: {shown} would be needed, but there are 15.")
