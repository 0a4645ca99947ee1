"""Membership probabilities: partitions drawn from them, and their similarity matrix."""

import numpy as np
import pytest
import xarray as xr

import partita as pt
from partita.io import memberships

P = np.array([[[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [[0.3, 0.7], [0.2, 0.8], [0.9, 0.1]]])


def test_the_matrix_of_the_worked_example():
    found = pt.similarity_from_memberships(P)
    np.testing.assert_allclose(found, [[1, 0.68, 0.26], [0.68, 1, 0.26], [0.26, 0.26, 1]])


def test_the_matrix_is_the_limit_of_drawing():
    draws = pt.draws_from_memberships(P, per_draw=20_000, rng=1)
    assert draws.n_draws == 40_000
    np.testing.assert_allclose(
        pt.similarity(draws), pt.similarity_from_memberships(P), atol=0.01
    )  # four standard errors of 0.0025


def test_blocks_of_draws_change_nothing(monkeypatch):
    p = np.random.default_rng(0).dirichlet([1, 1, 1], size=(7, 5))
    whole = pt.similarity_from_memberships(p)
    monkeypatch.setattr(memberships, "_CELLS", 16)
    np.testing.assert_allclose(pt.similarity_from_memberships(p), whole, atol=1e-15)


def test_chains_logs_and_variables_by_name():
    chains = np.stack([P, P[::-1]])
    draws = pt.draws_from_memberships(chains, per_draw=3)
    assert np.asarray(draws.chain).tolist() == [0] * 6 + [1] * 6
    again = pt.draws_from_memberships(np.log(chains) - 7.5, log=True, per_draw=3)
    assert draws == again
    array = xr.DataArray(chains, dims=("chain", "draw", "item", "k")).transpose("item", "k", ...)
    assert pt.draws_from_memberships(array, per_draw=3) == draws
    data = xr.Dataset({"p": array, "mu": (("chain", "draw"), np.zeros((2, 2)))})
    tree = xr.DataTree.from_dict({"posterior": data})
    assert pt.draws_from_memberships(tree, var_name="p", per_draw=3) == draws
    np.testing.assert_array_equal(
        pt.similarity_from_memberships(tree, var_name="p"), pt.similarity_from_memberships(chains)
    )


def test_certain_memberships_are_partitions():
    p = np.eye(3)[None, [0, 0, 2, 1]]
    assert pt.draws_from_memberships(p, per_draw=4).labels.tolist() == [[0, 0, 1, 2]] * 4
    assert pt.estimate(similarity=pt.similarity_from_memberships(p), loss="binder").n_clusters == 3


@pytest.mark.parametrize(
    ("p", "options", "message"),
    [
        (P[0], {}, r"shape \(3, 2\)"),
        (P[:, :, :1], {}, "sum to"),
        (np.log(P), {}, "log=True"),
        (P * np.nan, {}, "missing"),
        (np.full((1, 2, 2), -np.inf), {"log": True}, "all -inf"),
        (P, {"var_name": "p"}, "no variables"),
    ],
)
def test_refusals(p, options, message):
    with pytest.raises(pt.PartitaError, match=message):
        pt.draws_from_memberships(p, **options)


def test_dimensions_are_honoured_by_name_and_a_variable_without_item_is_refused():
    w = xr.DataArray(
        np.random.default_rng(0).dirichlet([1, 1, 1], (2, 2)), dims=("chain", "draw", "w_dim")
    )
    p = xr.DataArray(np.stack([P, P[::-1]]), dims=("chain", "draw", "obs", "k"))
    data = xr.Dataset({"w": w, "p": p})
    tree = xr.DataTree.from_dict({"posterior": data})
    for held in (tree, data):
        with pytest.raises(pt.PartitaError, match=r"dimensions are \(chain, draw, w_dim\)"):
            pt.draws_from_memberships(held, var_name="w")
    with pytest.raises(pt.PartitaError, match="w_dim"):
        pt.draws_from_memberships(w)
    with pytest.raises(pt.PartitaError, match="dim_0"):
        pt.draws_from_memberships(xr.DataArray(P))
    assert pt.draws_from_memberships(tree) == pt.draws_from_memberships(p)
    named = p.assign_coords(obs=["a", "b", "c"], chain=[3, 7])
    draws = pt.draws_from_memberships(named)
    assert draws.item_names == ("a", "b", "c")
    assert draws.chain.tolist() == [3, 3, 7, 7]


def test_dicts_of_samples_are_taken():
    chains = np.stack([P, P[::-1]])
    samples = {"mu": np.zeros((2, 2, 2)), "sigma": np.zeros((2, 2)), "p": chains}
    expected = pt.draws_from_memberships(chains)
    assert pt.draws_from_memberships(samples, var_name="p") == expected
    assert pt.draws_from_memberships({"p": chains, "mu": np.zeros((2, 2))}) == expected
    for wanted, message in (
        (None, r"several variables .*mu \(2, 2, 2\)"),
        ("z", "var_name='z' is not among"),
    ):
        with pytest.raises(pt.PartitaError, match=message):
            pt.draws_from_memberships(samples, var_name=wanted)
