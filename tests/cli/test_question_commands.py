"""``partita path``, ``core``, ``representatives`` and ``compare --against``, and constraints."""

import csv
import json

import numpy as np
import pytest

import partita as pt

FIVE = "a,b,c,d,e,f\n1,1,2,2,3,3\n1,1,2,2,2,3\n1,1,1,2,2,2\n1,1,2,2,2,2\n1,2,2,3,3,3\n"


@pytest.fixture
def draws(tmp_path):
    path = tmp_path / "draws.csv"
    path.write_text(FIVE)
    return path


def test_text_json_and_file(draws, tmp_path, partita):
    out = tmp_path / "path.csv"
    path = pt.price_path(pt.read_draws(draws), loss="binder")
    done = partita("path", draws, "--loss", "binder", "--out", out)
    assert done.stdout == f"{path}\n"
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [[int(row[name]) for name in "abcdef"] for row in rows] == path.labels.tolist()
    assert [float(row["high"]) for row in rows[:-1]] == path.breakpoints.tolist()
    plain = json.loads(partita("path", draws, "--loss", "binder", "--json").stdout)
    assert np.round(plain["breakpoints"], 9).tolist() == [0.4, 0.6, 1.2, 1.85]
    assert plain["gap"] == 0.0
    assert plain["item_names"] == list("abcdef")


@pytest.mark.parametrize("rules", [{"n_clusters": 3}, {"min_size": 3}])
def test_summarize_keeps_the_rules(draws, rules, partita):
    ((name, value),) = rules.items()
    done = partita("summarize", draws, f"--{name.replace('_', '-')}", value, "--json")
    free, found = (pt.estimate(pt.read_draws(draws), **wish) for wish in ({"min_size": 1}, rules))
    assert json.loads(done.stdout)["estimate"]["labels"] == found.labels.tolist()
    sizes = np.bincount(found.labels)
    assert sizes.size == rules.get("n_clusters", sizes.size)
    assert sizes.min() >= rules.get("min_size", 1)
    assert free.expected_loss <= found.expected_loss


def test_a_range_of_prices_confines_the_path_of_a_summary(draws, partita):
    done = partita("summarize", draws, "--path-range", 0.6, 1.2, "--json")
    path = json.loads(done.stdout)["path"]
    assert (path["low"], path["high"]) == (0.6, 1.2)


# ----------------------------------------------------------------------------------- partita core


def test_a_core_as_text_json_and_file(tmp_path, partita):
    path, out = tmp_path / "draws.csv", tmp_path / "core.csv"
    path.write_text(FIVE)
    core = pt.credible_core(pt.read_draws(path), prob=0.6, held_out=False)
    asked = ["core", path, "--prob", "0.6", "--in-sample"]
    done = partita(*asked, "--out", out)
    assert done.stdout == f"{core}\n"
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item"] for row in rows] == list("abcdef")
    assert [int(row["core"]) for row in rows] == core.labels.tolist()
    done = partita(*asked, "--json")
    plain = json.loads(done.stdout)
    assert (plain["size"], plain["in_sample_probability"], plain["is_proven"]) == (4, 0.6, True)
    assert plain["probability"] is None  # nothing was held out
    assert plain["in_sample_curve"] == [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    done = partita("core", path, "--prob", "0.6")
    assert "8 effective draws held out" in done.stdout


# ------------------------------------------------------- partita representatives, compare --against


def test_it_prints_writes_and_is_the_library(place, partita):
    result = partita(
        "representatives", "draws.csv", "--n", "2", "--out", "representatives.csv", "--json"
    )
    found = json.loads(result.stdout)
    expected = pt.representatives(pt.read_draws("draws.csv"), n=2)
    assert found["labels"] == expected.labels.tolist()
    assert found["weights"] == pytest.approx(expected.weights)
    assert found["lower_bound"] == pytest.approx(expected.lower_bound)
    rows = (place / "representatives.csv").read_text().splitlines()
    assert rows[0] == "item,representative.0,representative.1"
    assert rows[1].startswith("g0,")
    text = partita("representatives", "draws.csv", "--modes").stdout
    assert "representative" in text
    assert "1 mode" in text


def test_against_prints_both_numbers_and_what_they_mean(place, partita):
    result = partita("compare", "draws.csv", "--against", "truth.csv")
    text = " ".join(result.stdout.split())
    draws = pt.read_draws("draws.csv")
    moved = np.repeat([0, 1, 2], 5)
    moved[0] = 2
    p = pt.p_value(draws, moved)
    level = pt.credible_ball(draws, pt.estimate(draws)).credible_level(moved)
    assert f"p-value: {float(p):.3g} credible level: {100 * level:.3g}%" in text
    found = json.loads(partita("compare", "draws.csv", "--against", "truth.csv", "--json").stdout)
    assert found["p_value"] == pytest.approx(float(p))
    assert found["credible_level"] == pytest.approx(level)
    assert len(found["p_values"]) == len(found["rates"]) == 6


def test_against_reads_draws_as_other_commands_do(place, partita):
    draws = pt.read_draws("draws.csv")
    text = (place / "draws.csv").read_text().replace(",", ";")
    (place / "draws.dat").write_text(text)
    weights = np.linspace(1, 2, draws.n_draws)
    np.savetxt("weights.csv", weights)
    words = ("--format", "csv", "--sep", ";", "--burn-in", "5", "--thin", "2", "--json")
    weighed = ("--weights", "weights.csv")
    done = partita("compare", "draws.dat", "--against", "truth.csv", *words, *weighed)
    found = json.loads(done.stdout)
    moved = np.repeat([0, 1, 2], 5)
    moved[0] = 2
    used = pt.Draws(draws, weights=weights).drop(5).thin(2)
    assert found["p_value"] == pytest.approx(float(pt.p_value(used, moved)))


def test_the_earlier_name_still_works(place, partita):
    done = partita("rivals", "draws.csv", "--n", "2", "--bound", "none")
    assert "partita rivals is now partita representatives" in done.stderr
    assert "rivals" not in partita("--help").stdout
