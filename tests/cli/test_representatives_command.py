"""``partita representatives`` and ``partita compare DRAWS --against LABELS``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import partita as pt


def test_it_prints_writes_and_is_the_library(place, partita):
    result = partita(
        "representatives", "draws.csv", "--n", "2", "--out", "representatives.csv", "--json"
    )
    assert result.exit_code == 0, result.stderr
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


def test_chains_of_several_files(place, partita):
    result = partita("representatives", "chain1.csv", "chain2.csv", "--n", "2", "--bound", "none")
    assert "chains:" in result.stdout
    assert "no lower bound" in result.stdout


def test_against_prints_both_numbers_and_what_they_mean(place, partita):
    result = partita("compare", "draws.csv", "--against", "truth.csv")
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    draws = pt.read_draws("draws.csv")
    moved = np.repeat([0, 1, 2], 5)
    moved[0] = 2
    p = pt.p_value(draws, moved)
    level = pt.credible_ball(draws, pt.estimate(draws)).credible_level(moved)
    assert f"p-value: {float(p):.3g} credible level: {100 * level:.3g}%" in text
    assert "more typical than this clustering (p = " in text
    assert "the credible ball around the estimate contains it from" in text
    assert "From the estimate: item g0 moves from cluster 0 to cluster 2" in text
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
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    moved = np.repeat([0, 1, 2], 5)
    moved[0] = 2
    used = pt.Draws(draws, weights=weights).drop(5).thin(2)
    assert found["p_value"] == pytest.approx(float(pt.p_value(used, moved)))


def test_options_of_draws_need_draws(place, partita):
    wrong = partita("compare", "labels.csv", "truth.csv", "--sep", ";")
    assert wrong.exit_code == 2
    assert "--sep is about draws; give it with --against" in wrong.stderr


def test_compare_says_what_differs(place, partita):
    assert (
        "From A to B: item g0 moves from cluster 0"
        in partita("compare", "labels.csv", "truth.csv").stdout
    )


def test_usage(place, partita):
    assert partita("compare", "draws.csv").exit_code == 2
    wrong = partita("compare", "draws.csv", "labels.csv", "--against", "truth.csv")
    assert wrong.exit_code == 2
    assert "--against takes draws" in wrong.stderr


def test_the_earlier_name_still_works(place, partita):
    done = partita("rivals", "draws.csv", "--n", "2", "--bound", "none")
    assert done.exit_code == 0
    assert "partita rivals is now partita representatives" in done.stderr
    assert "rivals" not in partita("--help").stdout
