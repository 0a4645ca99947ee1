"""Posterior, ensemble or tilted: declared, kept, and weights by worked values."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.draws import with_fields
from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError
from simulated import FIVE

LABELS = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 2]]
RUNS = pt.Draws(LABELS, item_names=["a", "b", "c"], kind="ensemble")
TILTED = pt.Draws(LABELS, item_names=["a", "b", "c"]).reweighted("entropy", 30)


def test_draws_are_of_a_posterior_unless_declared():
    assert pt.Draws(LABELS).kind == "posterior"
    assert RUNS.kind == "ensemble"
    assert pt.Draws(LABELS, item_names=["a", "b", "c"]) != RUNS
    assert repr(RUNS).startswith("<Draws: 4 runs of 3 items")
    assert "draw" not in RUNS._repr_html_().lower()
    with pytest.raises(UnknownNameError, match="'posterior', 'ensemble'"):
        pt.Draws(LABELS, kind="bootstrap")


@pytest.mark.parametrize("draws", [RUNS, TILTED], ids=["ensemble", "tilted"])
def test_what_comes_of_draws_is_of_their_kind(draws):
    derived = [
        *(draws[:2], draws[[0, 3]], draws.drop(1), draws.thin(2), draws.unique()),
        *(draws.select_items(["c", "a"]), draws.reweighted("entropy", 1.0)),
        *(pt.Draws.concat([draws, draws]), pt.as_draws(draws, weights=[1, 2, 3, 4])),
        *(pt.Draws(draws), pt.as_draws(draws), pickle.loads(pickle.dumps(draws))),
    ]
    assert {found.kind for found in derived} == {draws.kind}


def test_a_pickle_of_an_earlier_version_is_of_a_posterior():
    restore, (cls, *fields) = pt.Draws(LABELS).__reduce__()
    assert restore(cls, *fields[:-1]) == pt.Draws(LABELS)


def test_kinds_do_not_mix():
    with pytest.raises(InvalidInputError, match="as_draws\\(part, kind='ensemble'\\)"):
        pt.Draws.concat([RUNS, with_fields(RUNS, kind="posterior")])


def test_an_ensemble_has_no_chains():
    with pytest.raises(InvalidInputError, match="runs of an ensemble are in no chains"):
        pt.Draws(LABELS, chain=[0, 0, 1, 1], kind="ensemble")
    cube = np.array(LABELS).reshape(2, 2, 3)
    assert pt.as_draws(cube).n_chains == 2
    for source in (cube, np.asfortranarray(cube), pt.as_draws(cube)):
        runs = pt.as_draws(source, kind="ensemble")
        assert (runs.kind, runs.chain) == ("ensemble", None)
        assert np.array_equal(runs.labels, LABELS)


def test_a_file_is_declared_where_it_is_read(tmp_path):
    text = "a,b,c\n0,0,1\n0,1,1\n"
    assert pt.read_draws(io.StringIO(text)).kind == "posterior"
    assert pt.read_draws(io.StringIO(text), kind="ensemble").kind == "ensemble"
    both = pt.read_draws([io.StringIO(text), io.StringIO(text)], kind="ensemble")
    assert (both.kind, both.chain) == ("ensemble", None)
    path = tmp_path / "runs.csv"
    pt.write_draws(RUNS, path)
    assert path.read_text().splitlines()[:2] == ['.run,"a","b","c"', "1,0,0,1"]
    assert pt.as_draws(path) == RUNS
    assert pt.as_draws(path, kind="posterior").kind == "posterior"
    with pytest.raises(NotSupportedError, match="'npy' cannot hold kind"):
        pt.write_draws(pt.Draws(LABELS, kind="ensemble"), tmp_path / "runs.npy")


def test_a_table_with_a_column_run_is_an_ensemble():
    frame = pd.DataFrame(LABELS, columns=["a", "b", "c"])
    assert pt.as_draws(frame).kind == "posterior"
    assert pt.as_draws(frame.assign(**{".run": range(4)})) == RUNS


# -------------------------------------------------- reweighted by evenness, against worked values


FIVE_DRAWS = pt.Draws(FIVE)


def test_the_worked_example():
    found = FIVE_DRAWS.reweighted("entropy", 10)
    expected = [0.298866, 0.135124, 0.298866, 0.132020, 0.135124]
    np.testing.assert_allclose(found.weights, expected, atol=5e-7)
    assert found.n_effective == pytest.approx(4.2994, abs=5e-5)
    assert pt.estimate(found, loss="vi").expected_loss == pytest.approx(0.6596391926, abs=1e-9)
    assert np.array_equal(found.labels, FIVE_DRAWS.labels)


def test_one_cluster_counts_as_uneven_and_weights_multiply():
    draws = pt.Draws([[0, 0, 0, 0], [0, 0, 1, 1]], weights=[3, 1])
    found = draws.reweighted("entropy", np.log(6))
    np.testing.assert_allclose(found.weights, [1 / 3, 2 / 3])
    np.testing.assert_allclose(draws.reweighted("entropy", 0).weights, [0.75, 0.25])
    assert FIVE_DRAWS.n_effective == 5
    assert draws.n_effective == pytest.approx(1.6)
