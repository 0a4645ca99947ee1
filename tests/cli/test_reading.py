"""What commands read and say: matrices alone, labels to the last digit, hints that work there."""

import json
import os
import shlex
import subprocess

import numpy as np
import pandas as pd
import pytest

import partita as pt
from cli.conftest import PROGRAM, start


@pytest.mark.parametrize("suffix", ["csv", "npy", "txt", "rds"])
def test_a_similarity_matrix_alone(place, partita, suffix):
    draws = pt.read_draws("draws.csv")
    matrix = pt.similarity(draws)
    if suffix == "csv":
        partita("summarize", "draws.csv", "--out", "r", "--similarity", "csv")
        path = "r/similarity.csv"
    elif suffix == "npy":
        np.save("m.npy", matrix)
        path = "m.npy"
    elif suffix == "txt":
        np.savetxt("m.txt", matrix)
        path = "m.txt"
    else:
        import rdata

        rdata.write_rds("m.rds", matrix)
        path = "m.rds"
    result = partita("summarize", "--similarity", path, "--loss", "binder", "--json", "--out", "s")
    found = json.loads(result.stdout)
    expected = pt.estimate(similarity=matrix, loss="binder")
    assert found["labels"] == expected.labels.tolist()
    assert found["item_names"] == (list(draws.item_names) if suffix == "csv" else None)
    assert (place / "s" / "labels.csv").read_text().startswith("item,cluster\n")
    result = partita("summarize", "--similarity", path)
    assert "vi_lb" in result.stderr


def test_a_matrix_and_what_it_cannot_give(place, partita):
    np.save("m.npy", np.eye(3))
    refused = partita("summarize", "--similarity", "m.npy", "--loss", "nvi", code=2)
    assert "from a matrix there are 'binder'" in refused.stderr
    for loss in ("binder(1.3)", "entropy(2)"):  # whatever a matrix gives, whoever it is
        partita("summarize", "--similarity", "m.npy", "--loss", loss)
    partita("summarize", "draws.csv", "--similarity", "m.npy", code=2)
    partita("summarize", code=2)
    (place / "m.csv").write_text("1,0.5\n0.5,x\n")
    result = partita("summarize", "--similarity", "m.csv", "--loss", "binder", code=1)
    assert "row 2, column 2: 'x' is not a number" in result.stderr


def compare(partita, a, b, **told):
    with open("a.csv", "w") as first, open("b.csv", "w") as second:
        first.write("\n".join(a) + "\n")
        second.write("\n".join(b) + "\n")
    return partita("compare", "a.csv", "b.csv", **told)


def test_labels_are_compared_to_the_last_digit(place, partita):
    big = [str(2**53), str(2**53 + 1), str(2**53)]
    assert "the same clustering" in compare(partita, big, ["0", "1", "0"]).stdout
    assert "the same clustering" not in compare(partita, big, ["0", "0", "0"]).stdout
    assert "the same clustering" in compare(partita, ["01", "1", "01"], ["0", "1", "0"]).stdout


def test_a_blank_line_is_no_label(place, partita):
    result = compare(partita, ["0", "", "1", "1"], ["0", "1", "1"], code=1)
    assert "a blank line before line 3" in result.stderr
    result = compare(partita, ["x", "0", "NA", "1"], ["0", "1", "1"], code=1)
    assert "'NA' in column" in result.stderr


def test_a_warning_is_a_sentence(place):
    comments = "# num_samples = 4\n# num_warmup = 3\n# save_warmup = 1\n"
    (place / "s.csv").write_text(comments + "lp__,z.1,z.2\n" + "-1,1,2\n" * 7)
    process = start("convert", "s.csv", "out.csv")
    _, errors = process.communicate()
    assert errors.startswith("partita: warning: s.csv was written with save_warmup")
    assert "UserWarning" not in errors


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet", "nc"])
def test_labels_from_one(place, partita, suffix):
    partita("convert", "draws.csv", f"d.{suffix}", "--one-based")
    assert pt.read_draws(f"d.{suffix}") == pt.read_draws("draws.csv")
    if suffix == "csv":
        rows = (place / "d.csv").read_text().splitlines()[1:]
        assert min(int(cell) for row in rows for cell in row.split(",")) == 1
    if suffix == "npz":
        with np.load("d.npz") as stored:
            assert stored["labels"].min() == 1


@pytest.mark.skipif(os.name == "nt", reason="the shell's way to close a stream is POSIX's")
@pytest.mark.parametrize("words", ["--version", "convert draws.csv -"])
def test_a_closed_output_is_no_fault_of_ours(place, words):
    program = f"{shlex.join(PROGRAM)} {words} >&-"
    done = subprocess.run(program, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "fault" not in done.stderr


def test_labels_of_arrays_and_tables_are_compared_to_the_last_digit(place, partita):
    big = np.array([2**53, 2**53 + 1, 2**53])
    np.save("big.npy", big)
    pd.DataFrame({"cluster": big}).to_parquet("big.parquet")
    texts = pd.DataFrame({"cluster": ["01", "1", "01"]}, index=["a", "b", "c"])
    texts.to_parquet("texts.parquet")
    (place / "same.csv").write_text("item,cluster\nc,0\nb,1\na,0\n")
    (place / "one.csv").write_text("0\n0\n0\n")
    for source in ("big.npy", "big.parquet", "texts.parquet"):
        assert "the same clustering" in partita("compare", source, "same.csv").stdout
        assert "the same clustering" not in partita("compare", source, "one.csv").stdout
