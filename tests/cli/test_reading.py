"""What commands read and say: matrices alone, labels to the last digit, hints that work there."""

import json
import os
import shlex
import subprocess

import numpy as np
import pandas as pd
import pytest
import rdata

import partita as pt
from cli.conftest import MOVED, NAMES, PROGRAM, TRUTH, start
from io_r import Atom, Listed, write_rda, write_rds


@pytest.mark.parametrize("suffix", ["csv", "npy", "txt", "rds"])
def test_a_similarity_matrix_alone(place, partita, suffix):
    draws = pt.read_draws("draws.csv")
    matrix, path = pt.similarity(draws), f"m.{suffix}"
    if suffix == "csv":
        partita("summarize", "draws.csv", "--out", "r", "--similarity", "csv")
        path = "r/similarity.csv"
    else:
        {"npy": np.save, "txt": np.savetxt, "rds": rdata.write_rds}[suffix](path, matrix)
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


def test_labels_are_compared_to_the_last_digit(place, partita):
    big = np.array([2**53, 2**53 + 1, 2**53])
    np.save("big.npy", big)
    pd.DataFrame({"cluster": big}).to_parquet("big.parquet")
    texts = pd.DataFrame({"cluster": ["01", "1", "01"]}, index=["a", "b", "c"])
    texts.to_parquet("texts.parquet")
    (place / "big.csv").write_text("\n".join(map(str, big)) + "\n")
    (place / "texts.csv").write_text("01\n1\n01\n")
    (place / "same.csv").write_text("item,cluster\nc,0\nb,1\na,0\n")
    (place / "one.csv").write_text("0\n0\n0\n")
    for source in ("big.npy", "big.parquet", "big.csv", "texts.parquet", "texts.csv"):
        assert "the same clustering" in partita("compare", source, "same.csv").stdout
        assert "the same clustering" not in partita("compare", source, "one.csv").stdout


def test_compare_matches_items_by_name(place, partita):
    result = partita("compare", "labels.csv", "truth.csv", "--json", "--loss", "vi", "--loss", "id")
    found = json.loads(result.stdout)
    assert result.stderr == "items of truth.csv were put in the order of labels.csv, by name\n"
    assert found["distances"] == {name: pt.distance(TRUTH, MOVED, name) for name in ("vi", "id")}
    assert found["cross_table"] == pt.cross_table(TRUTH, MOVED).tolist()
    assert found["meet"]["labels"] == pt.lattice.meet(TRUTH, MOVED).tolist()
    assert found["join"]["labels"] == pt.lattice.join(TRUTH, MOVED).tolist()
    assert not found["a_refines_b"]


def test_losses_with_a_parameter_are_told_apart(place, partita):
    losses = ("vi(0.7)", "vi(1.3)", "entropy(1.5)")
    given = [word for loss in losses for word in ("--loss", loss)]
    found = json.loads(partita("compare", "labels.csv", "truth.csv", "--json", *given).stdout)
    assert found["distances"] == {loss: pt.distance(TRUTH, MOVED, loss) for loss in losses}
    text = partita("compare", "labels.csv", "truth.csv", *given).stdout
    assert f"{pt.distance(TRUTH, MOVED, losses[0]):.6g} bits" in text
    against = ("compare", "draws.csv", "--against", "truth.csv", "--json", "--loss", losses[2])
    assert json.loads(partita(*against).stdout)["loss"] == "entropy(1.5)"


def test_compare_reads_rows_columns_arrays_and_named_columns(place, partita):
    (place / "row.csv").write_text(",".join(map(str, TRUTH)) + "\n")
    (place / "named row.csv").write_text(",".join(NAMES) + "\n" + ",".join("abc"[t] for t in TRUTH))
    (place / "column.csv").write_text("\n".join("abc"[t] for t in TRUTH) + "\n")
    np.save("labels.npy", TRUTH)
    (place / "several.csv").write_text(
        '"","old","new"\n' + "\n".join(f'"{n}",0,{t}' for n, t in zip(NAMES, TRUTH, strict=True))
    )
    for source in ("row.csv", "named row.csv", "labels.npy", "several.csv:new"):
        result = partita("compare", source, "labels.csv")
        assert "the same clustering" in result.stdout
    result = partita("compare", "-", "labels.csv", stdin=(place / "row.csv").read_text())
    assert "the same clustering" in result.stdout
    result = partita("compare", "labels.csv", "several.csv:old")
    assert "A refines B" in result.stdout


def test_compare_writes_both_and_their_meet(place, partita):
    partita("compare", "labels.csv", "truth.csv", "--out", "both.csv")
    lines = (place / "both.csv").read_text().splitlines()
    assert lines[:3] == ["item,a,b,meet", "g0,0,0,0", "g1,0,1,1"]
    again = partita("compare", "labels.csv", "truth.csv", "--out", "both.csv", code=1)
    assert "--force" in again.stderr


def test_convert_through_pipes(place, partita):
    result = partita("convert", "-", "-", "--to", "tsv", stdin=(place / "draws.csv").read_text())
    assert result.stderr == ""
    (place / "piped.tsv").write_text(result.stdout)
    assert pt.read_draws("piped.tsv") == pt.read_draws("draws.csv")


def test_one_clustering_of_r_is_compared(place, partita):
    labels = np.array([3, 3, 1, 2, 2, 2])
    names = np.array(["a", "b", "c", "d", "e", "f"])
    write_rds(place / "plain.rds", Atom(labels.astype(float)))
    write_rds(place / "named.rds", Atom(labels, names=names))
    write_rda(place / "all.RData", z=Atom(labels))
    frame = Listed({"item": Atom(names), "cluster": Atom(labels)}, r_class=["data.frame"])
    write_rds(place / "frame.rds", frame)
    (place / "same.csv").write_text(
        "item,cluster\n"
        + "".join(f"{n},{k}\n" for n, k in zip(names, [7, 7, 8, 9, 9, 9], strict=True))
    )
    for name in ("plain.rds", "named.rds", "all.RData", "frame.rds"):
        result = partita("compare", name, "same.csv", "--json")
        assert set(json.loads(result.stdout)["distances"].values()) == {0.0}, name
    write_rds(place / "several.rds", Listed({"x": Atom(labels), "y": Atom(labels)}))
    result = partita("compare", "several.rds", "same.csv", code=1)
    assert "is not a single clustering" in result.stderr
