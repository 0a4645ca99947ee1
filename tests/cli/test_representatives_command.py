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


def test_the_earlier_name_still_works(place, partita):
    done = partita("rivals", "draws.csv", "--n", "2", "--bound", "none")
    assert done.exit_code == 0
    assert "partita rivals is now partita representatives" in done.stderr
    assert "rivals" not in partita("--help").stdout
