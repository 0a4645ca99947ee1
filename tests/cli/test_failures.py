"""Errors are one paragraph in the words of the command line; codes tell what happened."""

import numpy as np
import pandas as pd
import pytest

import partita as pt


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


FILES = {
    **{"short.csv": "item,cluster\ng0,1\ng1,1\n", "plain.csv": "1\n2\n"},
    **{"fractions.csv": "1.5,2.25\n3.1,0.5\n", "headed.csv": "x,y\n1,2\n3.5,1\n"},
    **{"mixed.csv": "id,x,group\na,1.5,u\nb,3.1,v\n"},
    **{"nothing.csv": "", "blank.csv": "\n\n", "header.csv": "x,y\n"},
}
ARRAYS = {
    "nan.npy": np.array([0.0, np.nan, 1.0]),
    "cube.npy": np.zeros((2, 2, 2), int),
    "none.npy": np.zeros((0, 2), int),
}

USAGE = "Usage: partita"


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        *(
            (words, 2, USAGE)
            for words in (
                *("nonsense", "summarize", "compare labels.csv", "summarize draws.csv --loss l2"),
                *("summarize draws.csv --nonsense", "summarize draws.csv --prob 0"),
                *("fit data.csv --draws 0", "convert draws.csv - --to doc"),
            )
        ),
        ("compare labels.csv truth.csv --loss vi(3)", 2, USAGE),
        ("path draws.csv --low 1.5 --high 1", 1, "partita: --low: 1.5, high=1.0; expected"),
        ("summarize draws.csv --var-name z", 1, "partita: --var-name: "),
        ("summarize nowhere.csv --path", 1, "partita: nowhere.csv does not exist"),
        ("summarize draws.csv --out missing/results --force", 1, "does not exist. Make it first"),
        ("summarize draws.csv --out draws.csv --force", 1, "is a file; expected a directory"),
        *(
            (f"summarize {name}.csv", 1, f"partita fit {name}.csv")
            for name in ("fractions", "headed", "mixed")
        ),
        *((f"fit {name}.csv", 1, "row") for name in ("nothing", "blank", "header")),
        ("compare labels.csv draws.csv", 1, "name a column as FILE:COLUMN"),
        ("compare labels.csv:colour labels.csv", 1, "there is no column 'colour'"),
        ("compare labels.csv short.csv", 1, "name different items, such as 'g10'"),
        ("compare plain.csv labels.csv", 1, "plain.csv labels 2 items and labels.csv 15"),
        ("compare labels.csv nowhere.csv", 1, "does not exist"),
        ("compare nan.npy labels.csv", 1, "row 2: no label"),
        ("compare null.parquet labels.csv", 1, "row 2: no label"),
        ("compare cube.npy labels.csv", 1, "has shape (2, 2, 2)"),
        ("compare none.npy labels.csv", 1, "is empty"),
        ("compare cut.parquet labels.csv", 1, "is damaged, cut short or not parquet"),
        ("compare draws.npz labels.csv", 1, "from text, npy, parquet or R"),
        ("fit data.csv", 1, "column 'id' holds a different text in every row"),
        ("fit data.csv --columns z", 1, "has no column 'z'. Its columns are id, x, y"),
        ("fit data.csv --columns id --kernel normal", 1, "needs numbers"),
        *(
            (f"fit data.csv --columns x {words}", code, message)
            for words, code, message in (
                ("--prior dp --discount 0.5", 2, "belongs to --prior py"),
                ("--concentration a", 2, "SHAPE,RATE"),
                ("--concentration -1", 1, "--concentration: -1.0; expected"),
                ("--set mean=1", 2, "name one with --kernel"),
                ("--kernel normal --set tail=1", 2, "It has mean, precision"),
                ("--kernel normal --set mean=a", 2, "expected NAME=NUMBER"),
                ("--kernel types --set a=2", 2, "--set needs a kernel"),
                ("--prior dp --dynamic", 2, USAGE),
                ("--prior mfm --weight beta", 2, USAGE),
                ("--kernel poisson", 1, "count"),
                ("--prior mfm --mean-components 0.5", 1, "above 1"),
            )
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(place, partita, command, code, message):
    for name, text in FILES.items():
        (place / name).write_text(text)
    for name, array in ARRAYS.items():
        np.save(place / name, array)
    pd.DataFrame({"cluster": pd.array([0, None, 1], "Int64")}).to_parquet("null.parquet")
    (place / "cut.parquet").write_bytes((place / "null.parquet").read_bytes()[:-20])
    before = sorted(place.iterdir())
    result = partita(*command.split(), code=code)
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    if code == 1:  # one paragraph
        assert (result.stderr[:9], result.stderr.count("\n")) == ("partita: ", 1)
    if command.startswith("fit ") and code == 1:  # data are not called draws
        assert "draw" not in result.stderr
    assert sorted(place.iterdir()) == before
