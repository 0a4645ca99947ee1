"""``partita summarize``: what it prints is what the library says, and files hold the same."""

import csv
import json
import signal

import numpy as np
import pytest

import partita as pt
from cli.conftest import MOVED, NAMES, TRUTH


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_prints_the_summary_of_the_library(place, partita):
    result = partita("summarize", "draws.csv", "--prob", "0.9", "--loss", "binder")
    expected = pt.summarize(pt.read_draws("draws.csv"), prob=0.9, loss="binder")
    assert result.stdout == f"{expected}\n"
    assert result.stderr == ""


def test_writes_every_table(place, partita):
    result = partita("summarize", "draws.csv", "--out", "results", "--similarity", "csv", "--json")
    assert result.stderr == "wrote results\n"
    out = place / "results"
    summary = pt.summarize(pt.read_draws("draws.csv"))
    labels = rows_of(out / "labels.csv")
    assert [row["item"] for row in labels] == NAMES
    assert [int(row["cluster"]) for row in labels] == summary.labels.tolist() == TRUTH.tolist()
    bounds = rows_of(out / "bounds.csv")
    for kind, bound in summary.ball.bounds.items():
        for number, expected in enumerate(bound.labels, start=1):
            column = kind if number == 1 else f"{kind}.{number}"
            assert [int(row[column]) for row in bounds] == expected.tolist()
    items = rows_of(out / "items.csv")
    assert [float(row["probability"]) for row in items] == summary.items.probability.tolist()
    assert [float(row["placement.2"]) for row in items] == summary.items.placement[:, 2].tolist()
    clusters = rows_of(out / "clusters.csv")
    assert [int(row["size"]) for row in clusters] == [5, 5, 5]
    similarity = rows_of(out / "similarity.csv")
    matrix = [[float(row[name]) for name in NAMES] for row in similarity]
    assert np.array_equal(matrix, pt.similarity(summary.draws))
    printed, stored = json.loads(result.stdout), json.loads((out / "summary.json").read_text())
    assert {**printed, "seconds": 0} == {**stored, "seconds": 0}
    assert printed["labels"] == TRUTH.tolist()
    assert (out / "summary.txt").read_text() == f"{summary}\n"


def test_options_of_reading_reach_the_reader(place, partita):
    chains = [pt.read_draws(f"chain{i}.csv") for i in (1, 2)]
    expected = pt.summarize(pt.Draws.concat(chains).drop(100).thin(2))
    result = partita("summarize", "chain1.csv", "chain2.csv", "--burn-in", 100, "--thin", 2)
    assert result.stdout == f"{expected}\n"
    labels = pt.read_draws("draws.csv").labels
    np.savetxt("items.txt", labels.T, fmt="%d")
    result = partita(
        "summarize", "items.txt", "--format", "txt", "--no-header", "--transpose", "--json"
    )
    assert json.loads(result.stdout)["n_items"] == TRUTH.size
    result = partita("summarize", "samples.csv", "--var-name", "z", "--json")
    assert json.loads(result.stdout)["n_draws"] == 20


def test_standard_input(place, partita):
    text = (place / "draws.csv").read_text()
    result = partita("summarize", "-", "--json", stdin=text)
    assert json.loads(result.stdout)["labels"] == TRUTH.tolist()
    result = partita("summarize", "-", "--data", "-", stdin=text, code=1)
    assert "given twice" in result.stderr


def test_weights(place, partita):
    weights = np.random.default_rng(0).random(300)
    (place / "w.csv").write_text("weight\n" + "\n".join(map(str, weights.tolist())) + "\n")
    result = partita("summarize", "draws.csv", "--weights", "w.csv", "--thin", 3)
    draws = pt.as_draws(pt.read_draws("draws.csv"), weights=weights).thin(3)
    assert result.stdout == f"{pt.summarize(draws)}\n"
    (place / "two.csv").write_text("a,b\n1,2\n")
    result = partita("summarize", "draws.csv", "--weights", "two.csv", code=1)
    assert "one weight per draw in one column" in result.stderr


def test_search_options_reach_the_search(place, partita):
    result = partita(
        *("summarize", "draws.csv", "--method", "sweep", "--bound", "none", "--json"),
        *("--max-clusters", 2, "--time-limit", 5, "--seed", 3, "--jobs", 1),
    )
    found = json.loads(result.stdout)
    assert found["estimate"]["lower_bound"] is None
    assert found["n_clusters"] <= 2
    options = found["options"]
    assert (options["method"], options["rng"], options["time_limit"]) == ("sweep", 3, 5.0)
    assert (options["n_jobs"], options["max_clusters"], options["bound"]) == (1, 2, None)


def test_after_ctrl_c_in_the_search_results_are_kept_and_the_code_says_so(
    place, partita, monkeypatch
):
    real = pt.summarize

    def interrupted(draws, **options):
        with pytest.raises(KeyboardInterrupt):  # as the search does, which keeps the best so far
            signal.raise_signal(signal.SIGINT)
        return real(draws, **options)

    monkeypatch.setattr(pt, "summarize", interrupted)
    before = signal.getsignal(signal.SIGINT)
    result = partita("summarize", "draws.csv", "--out", "results", code=130)
    assert "Estimate from 300 draws of 15 items: 3 clusters" in result.stdout
    assert (place / "results" / "labels.csv").exists()
    assert signal.getsignal(signal.SIGINT) is before


LABELS = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]] * 4)


@pytest.fixture(scope="module")
def summary():
    return pt.summarize(LABELS, data=np.arange(5.0))


def test_tables_of_a_summary(summary):
    items, again = summary.to_frame(), summary.to_frame(one_based=True)
    assert items.index.tolist() == [0, 1, 2, 3, 4]
    assert again.index.tolist() == [1, 2, 3, 4, 5]
    assert again["cluster"].tolist() == (items["cluster"] + 1).tolist()
    other = items["other"].to_numpy()
    assert again["other"].tolist() == np.where(other < 0, -1, other + 1).tolist()
    assert summary.to_frame("clusters", one_based=True).index.tolist() == [1, 2]
    assert summary.to_frame("clusters", one_based=True)["nearest"].tolist() == [2, 1]
    assert set(summary.to_frame("profiles", one_based=True)["cluster"]) == {1, 2}
    assert summary.to_frame("bounds", one_based=True).equals(summary.to_frame("bounds"))
    core = summary.core.to_frame(one_based=True)
    inside = core["in_core"]
    assert core["core"][inside].min() == 1
    assert (core["core"][~inside] == -1).all()


def test_a_directory_of_a_summary(partita, place):
    done = partita("summarize", "draws.csv", "--data", "data.csv", "--out", "one", "--one-based")
    partita("summarize", "draws.csv", "--data", "data.csv", "--out", "zero")
    for name, columns in {
        "labels.csv": ["cluster"],
        "bounds.csv": ["estimate", "upper", "lower", "horizontal"],
        "items.csv": ["cluster"],
        "clusters.csv": ["cluster", "nearest"],
        "profiles.csv": ["cluster"],
    }.items():
        ones, zeros = rows_of(place / "one" / name), rows_of(place / "zero" / name)
        for column in columns:
            assert [int(r[column]) - 1 for r in ones] == [int(r[column]) for r in zeros]
        if "item" in ones[0]:
            assert [r["item"] for r in ones] == [f"g{i}" for i in range(15)]
    assert "placement.1" in rows_of(place / "one" / "items.csv")[0]
    assert "placement.0" not in rows_of(place / "one" / "items.csv")[0]
    printed = (place / "one" / "summary.txt").read_text()
    assert printed in done.output


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
    rows = rows_of(out)
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


def test_a_core_as_text_json_and_file(draws, tmp_path, partita):
    out = tmp_path / "core.csv"
    core = pt.credible_core(pt.read_draws(draws), prob=0.6, held_out=False)
    asked = ["core", draws, "--prob", "0.6", "--in-sample"]
    done = partita(*asked, "--out", out)
    assert done.stdout == f"{core}\n"
    rows = rows_of(out)
    assert [row["item"] for row in rows] == list("abcdef")
    assert [int(row["core"]) for row in rows] == core.labels.tolist()
    done = partita(*asked, "--json")
    plain = json.loads(done.stdout)
    assert (plain["size"], plain["in_sample_probability"], plain["is_proven"]) == (4, 0.6, True)
    assert plain["probability"] is None  # nothing was held out
    assert plain["in_sample_curve"] == [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    done = partita("core", draws, "--prob", "0.6")
    assert "8 effective draws held out" in done.stdout


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
    p = pt.p_value(draws, MOVED)
    level = pt.credible_ball(draws, pt.estimate(draws)).credible_level(MOVED)
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
    used = pt.Draws(draws, weights=weights).drop(5).thin(2)
    assert found["p_value"] == pytest.approx(float(pt.p_value(used, MOVED)))


def test_the_earlier_name_still_works(place, partita):
    done = partita("rivals", "draws.csv", "--n", "2", "--bound", "none")
    assert "partita rivals is now partita representatives" in done.stderr
    assert "rivals" not in partita("--help").stdout
