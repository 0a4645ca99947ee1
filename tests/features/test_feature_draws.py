"""Draws of feature allocations: what goes in, how it is kept, files, what is refused."""

import pickle

import numpy as np
import pytest
import rdata
import xarray
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import partita as pt
from feature_cases import cube, f5
from partita.errors import FileFormatError, InvalidInputError, UnknownNameError

allocations = st.integers(1, 70).flatmap(
    lambda n: st.lists(
        st.lists(st.sets(st.integers(0, n - 1)), max_size=5), min_size=1, max_size=4
    ).map(lambda draws: (n, draws))
)


@given(allocations)
def test_a_draw_comes_back_as_its_features_by_size_and_items(drawn):
    n, sets = drawn
    draws = pt.FeatureDraws.from_sets(sets, n_items=n)
    for m, features in enumerate(sets):
        kept = sorted((tuple(sorted(f)) for f in features if f), key=lambda f: (-len(f), f))
        assert draws.sets(m) == tuple(kept)
        assert draws[m].shape == (n, len(kept))
        assert [tuple(np.flatnonzero(c)) for c in draws[m].T] == kept
        assert draws.n_features[m] == len(kept)
        assert draws.n_memberships[m] == sum(map(len, kept))


@given(allocations, st.randoms(use_true_random=False))
def test_order_of_columns_and_empty_columns_do_not_matter(drawn, random):
    n, sets = drawn
    shuffled = [random.sample([*f, set()], len(f) + 1) for f in sets]
    ways = (pt.FeatureDraws.from_sets(x, n_items=n) for x in (sets, shuffled))
    assert next(ways) == next(ways)


def test_lists_cubes_sparse_and_named_arrays_are_one():
    draws, wide = f5(), np.pad(cube(), ((0, 0), (0, 0), (1, 2)))
    assert pt.FeatureDraws(wide) == draws
    assert pt.FeatureDraws([draws[m] for m in range(5)]) == draws
    assert pt.FeatureDraws([sparse.csr_matrix(c) for c in wide]) == draws
    named = xarray.DataArray(wide, dims=("draw", "gene", "feature"), coords={"gene": list("abcd")})
    assert pt.FeatureDraws(named.transpose("feature", "draw", "gene")) == f5(item_names="abcd")
    chains = xarray.DataArray(wide[None].repeat(2, 0), dims=("chain", "draw", "gene", "feature"))
    assert pt.FeatureDraws(chains).n_chains == 2


def test_equal_features_are_kept_and_equal_draws_found():
    draws = pt.FeatureDraws.from_sets([[{0}, {0}], [{0}], [{0}, {0}]], n_items=2)
    assert draws.n_features.tolist() == [2, 1, 2]
    assert draws.unique().weights == pytest.approx([2 / 3, 1 / 3])
    assert draws.unique().sets(0) == ((0,), (0,))


def test_selection_is_that_of_draws():
    draws = f5(chain=[1, 1, 1, 2, 2], weights=[1, 2, 3, 4, 5])
    assert draws.drop(1).sets(2) == draws.sets(4)
    assert draws.thin(2).n_draws == 3
    assert draws.select_chains(2).n_draws == 2
    assert draws[[3, 1]].sets(0) == draws.sets(3)
    assert draws[1:3].weights == pytest.approx([0.4, 0.6])
    assert draws.select_items([3, 2]).sets(1) == ((0, 1),)
    both = pt.FeatureDraws.concat([draws[:3], draws[3:]])
    assert both.sets(4) == draws.sets(4)
    assert both.chain.tolist() == [1, 1, 1, 2, 2]
    assert pickle.loads(pickle.dumps(draws)) == draws
    with pytest.raises(AttributeError):
        draws.kind = "ensemble"


def test_partitions_are_allocations_too():
    labels = [[0, 0, 1, 1], [0, 1, 2, 2]]
    draws = pt.FeatureDraws.from_partitions(pt.Draws(labels, weights=[1, 3], item_names="abcd"))
    assert draws.sets(0) == ((0, 1), (2, 3))
    assert draws.weights.tolist() == [0.25, 0.75]
    own = pt.pairwise_distances(labels, loss="faro")
    assert pt.pairwise_distances(draws, loss=pt.FARO()) == pytest.approx(own)


@pytest.mark.parametrize(
    ("matrices", "said"),
    [
        ([[[0, 2], [1, 0]]], r"matrices\[0\]\[0, 1\] is 2; expected 0 or 1"),
        ([[[0.5], [1]]], "Probabilities of membership"),
        ([[[np.nan], [1]]], "is nan; expected 0 or 1"),
        ([[[1], [0]], [[1]]], r"matrices\[1\] has 1 items and those before have 2"),
        ([], "there are no draws"),
        ([[0, 1]], "expected \\(item, feature\\)"),
        (np.zeros((2, 3)), "For a single draw"),
        (np.ones((1, 2, 501)), "compared in time K³"),
        ("draws.npz", "read_features"),
    ],
)
def test_what_is_refused(matrices, said):
    with pytest.raises(InvalidInputError, match=said) as error:
        pt.FeatureDraws(matrices)
    assert error.value.argument == "matrices"


def test_zeros_and_ones_in_three_dimensions_are_never_guessed():
    cube = np.random.default_rng(0).integers(0, 2, (2, 50, 4))
    for values in (cube, cube.astype(bool), cube.tolist(), [cube[0], cube[1]]):
        with pytest.raises(InvalidInputError, match=r"pt.FeatureDraws\(array\)") as error:
            pt.estimate(values)
        assert error.value.argument == "draws"
    labels = pt.Draws(cube.reshape(-1, 4), chain=np.repeat(range(2), 50))
    assert labels == pt.as_draws(cube + 1)  # what the message says to call


def test_sets_name_items_that_exist():
    with pytest.raises(InvalidInputError, match="n_items is missing"):
        pt.FeatureDraws.from_sets([[{0}]])
    with pytest.raises(InvalidInputError, match="draw 1 has the item 4"):
        pt.FeatureDraws.from_sets([[{0}], [{4}]], n_items=4)
    draws = pt.FeatureDraws.from_sets([[{"a", "c"}]], item_names="abc")
    assert draws.sets(0) == ((0, 2),)


def test_npz_keeps_everything(tmp_path):
    draws = f5(weights=[1, 2, 3, 4, 5], chain=list("aabbb"), item_names="wxyz")
    pt.write_features(draws, tmp_path / "own.npz")
    assert pt.read_features(tmp_path / "own.npz") == draws
    with pytest.raises(FileExistsError):
        pt.write_features(draws, tmp_path / "own.npz")
    runs = f5(kind="ensemble")
    pt.write_features(runs, tmp_path / "runs.npz")
    assert pt.read_features(tmp_path / "runs.npz") == runs
    with pytest.raises(InvalidInputError, match="read_features reads them"):
        pt.read_draws(tmp_path / "own.npz")


def test_a_cube_in_npz_and_damaged_files(tmp_path):
    np.savez(tmp_path / "cube.npz", allocations=cube(), n_features=f5().n_features)
    assert pt.read_features(tmp_path / "cube.npz") == f5()
    assert pt.read_features(tmp_path / "cube.npz", var_name="allocations") == f5()
    with pytest.raises(InvalidInputError, match="'z' is not among"):
        pt.read_features(tmp_path / "cube.npz", var_name="z")
    forged = {"columns": f5().columns | np.uint64(1), "offsets": f5().offsets, "n_items": 4}
    np.savez(tmp_path / "forged.npz", **forged)
    (tmp_path / "short.npz").write_bytes((tmp_path / "cube.npz").read_bytes()[:200])
    with pytest.raises(FileNotFoundError):
        pt.read_features(tmp_path / "missing.npz")
    np.savez(tmp_path / "two.npz", a=cube(), b=cube())
    for name in ("forged.npz", "short.npz", "two.npz"):
        with pytest.raises(pt.PartitaError) as caught:
            pt.read_features(tmp_path / name)
        assert caught.value.argument == "path"
    with pytest.raises(UnknownNameError, match="suffix"):
        pt.read_features(tmp_path / "draws.xlsx")


def test_a_long_table_goes_there_and_back(tmp_path):
    draws = pt.FeatureDraws.from_sets(
        [[{"a", "b"}, {"b"}], [], [{"c"}]], item_names="abc", chain=["x", "x", "y"]
    )
    pt.write_features(draws, tmp_path / "long.csv")
    assert pt.read_features(tmp_path / "long.csv") == draws
    bad = tmp_path / "bad.csv"
    bad.write_text("draw,feature,item\n1,1,a\n1,,b\n")
    with pytest.raises(FileFormatError, match="row 3 lacks"):
        pt.read_features(bad)
    bad.write_text("draw,item\n1,1\n")
    with pytest.raises(FileFormatError, match="expected a header"):
        pt.read_features(bad)
    bad.write_text("draw;feature;item\n1;1;a\n")
    with pytest.raises(
        FileFormatError, match=r"semicolon in every line. Write it as CSV"
    ) as caught:
        pt.read_features(bad)
    assert caught.value.argument == "path"


def test_lists_of_matrices_in_files_of_r(tmp_path):
    matrices = [f5()[m].astype(np.int32) for m in range(5)]
    rdata.write_rds(tmp_path / "list.rds", matrices)
    assert pt.read_features(tmp_path / "list.rds") == f5()
    rdata.write_rda(tmp_path / "two.RData", {"samples": matrices, "alpha": np.array([1.0])})
    assert pt.read_features(tmp_path / "two.RData") == f5()
    assert pt.read_features(tmp_path / "two.RData", var_name="samples") == f5()
    with pytest.raises(InvalidInputError, match="one list of matrices"):
        pt.read_features(tmp_path / "two.RData", var_name="alpha")
