"""``partita compare`` and ``partita convert``."""

import json

import numpy as np
import pytest

import partita as pt
from cli.conftest import NAMES, TRUTH


def test_compare_matches_items_by_name(place, partita):
    moved = TRUTH.copy()
    moved[0] = 2
    result = partita("compare", "labels.csv", "truth.csv", "--json", "--loss", "vi", "--loss", "id")
    found = json.loads(result.stdout)
    assert result.stderr == "items of truth.csv were put in the order of labels.csv, by name\n"
    assert found["distances"] == {name: pt.distance(TRUTH, moved, name) for name in ("vi", "id")}
    assert found["cross_table"] == pt.cross_table(TRUTH, moved).tolist()
    assert found["meet"]["labels"] == pt.lattice.meet(TRUTH, moved).tolist()
    assert found["join"]["labels"] == pt.lattice.join(TRUTH, moved).tolist()
    assert not found["a_refines_b"]


def test_losses_with_a_parameter_are_told_apart(place, partita):
    moved = TRUTH.copy()
    moved[0] = 2
    losses = ("vi(0.7)", "vi(1.3)", "entropy(1.5)")
    given = [word for loss in losses for word in ("--loss", loss)]
    found = json.loads(partita("compare", "labels.csv", "truth.csv", "--json", *given).stdout)
    assert found["distances"] == {loss: pt.distance(TRUTH, moved, loss) for loss in losses}
    text = partita("compare", "labels.csv", "truth.csv", *given).stdout
    assert f"{pt.distance(TRUTH, moved, losses[0]):.6g} bits" in text
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
    assert (
        "--force"
        in partita("compare", "labels.csv", "truth.csv", "--out", "both.csv", code=1).stderr
    )


@pytest.mark.parametrize("suffix", ["tsv", "npz", "parquet", "rds"])
def test_convert_there_and_back(place, partita, suffix):
    partita("convert", "chain1.csv", "chain2.csv", f"d.{suffix}", "--burn-in", 250)
    partita("convert", f"d.{suffix}", "back.csv")
    both = pt.Draws.concat([pt.read_draws(f"chain{i}.csv") for i in (1, 2)])
    assert pt.read_draws("back.csv") == both.drop(250)


def test_convert_through_pipes(place, partita):
    result = partita("convert", "-", "-", "--to", "tsv", stdin=(place / "draws.csv").read_text())
    assert result.stderr == ""
    (place / "piped.tsv").write_text(result.stdout)
    assert pt.read_draws("piped.tsv") == pt.read_draws("draws.csv")


def test_one_clustering_of_r_is_compared(place, partita):
    from io_r import Atom, Listed, write_rda, write_rds

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
