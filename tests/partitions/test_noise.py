"""Noise is said to be noise: never guessed, placed as the rule says."""

import io

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.errors import InvalidLabelsError
from partita.lattice import PartialPartition

NOISY = [[0, 0, -1, -1], [0, 1, 1, -1]]
SINGLETONS = [[0, 0, 1, 2], [0, 1, 1, 2]]
CLUSTER = [[0, 0, 1, 1], [0, 1, 1, 2]]


@pytest.mark.parametrize("make", [np.array, lambda x: x, lambda x: np.array(x, float)])
def test_the_two_meanings(make):
    assert pt.as_draws(make(NOISY), noise=(-1, "singletons")).labels.tolist() == SINGLETONS
    assert pt.as_draws(make(NOISY), noise=(-1, "cluster")).labels.tolist() == CLUSTER


@pytest.mark.parametrize("wrap", [np.array, lambda x: np.array(x, object), lambda x: x])
def test_minus_one_beside_other_labels_is_refused_with_advice(wrap):
    with pytest.raises(InvalidLabelsError, match=r"draw 0, item 2.*noise=\(-1, 'singletons'\)"):
        pt.as_draws(wrap(NOISY))
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.Draws(wrap(NOISY))
    with pytest.raises(InvalidLabelsError, match="item 2"):
        pt.distance(wrap(NOISY[0]), [0, 0, 1, 1])


def test_negative_labels_alone_are_labels():
    assert pt.as_draws([[-1, -1, -2]]).labels.tolist() == [[0, 0, 1]]
    assert pt.as_draws([[-1, -1, -1]]).labels.tolist() == [[0, 0, 0]]
    assert pt.as_draws([[-5, 3, 3]]).labels.tolist() == [[0, 1, 1]]


def test_any_label_can_mark_noise():
    text = [["a", "noise", "noise", "a"]]
    assert pt.as_draws(text, noise=("noise", "singletons")).labels.tolist() == [[0, 1, 2, 0]]
    assert pt.as_draws([[7, 9, 9, 7]], noise=(9, "singletons")).labels.tolist() == [[0, 1, 2, 0]]


def test_files_and_tables_follow_the_rule(tmp_path):
    text = "a,b,c,d\n0,0,-1,-1\n0,1,1,-1\n"
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.read_draws(io.StringIO(text))
    found = pt.read_draws(io.StringIO(text), noise=(-1, "singletons"))
    assert found.labels.tolist() == SINGLETONS
    np.save(tmp_path / "draws.npy", np.array(NOISY))
    for given in (tmp_path / "draws.npy", str(tmp_path / "draws.npy")):
        assert pt.as_draws(given, noise=(-1, "cluster")).labels.tolist() == CLUSTER
    frame = pd.DataFrame(NOISY, columns=list("abcd"))
    assert pt.as_draws(frame, noise=(-1, "singletons")).labels.tolist() == SINGLETONS
    # The rule ends with the reading.
    with pytest.raises(InvalidLabelsError, match="noise="):
        pt.as_draws(frame)


def test_the_command_line_and_the_estimator(tmp_path, partita):
    path = tmp_path / "draws.csv"
    path.write_text("a,b,c,d\n0,0,-1,-1\n0,1,1,-1\n")
    out = tmp_path / "clean.npz"
    partita("convert", path, out, "--noise", "-1:singletons")
    assert pt.read_draws(out).labels.tolist() == SINGLETONS
    partita("convert", path, out, "--noise", "-1", code=2)
    sklearn = pytest.importorskip("partita.sklearn")
    consensus = sklearn.PartitionConsensus(noise=(-1, "singletons")).fit(np.array(NOISY).T)
    assert consensus.labels_.shape == (4,)
    with pytest.raises(InvalidLabelsError, match="noise="):
        sklearn.PartitionConsensus().fit(np.array(NOISY).T)


def test_partial_partitions():
    part = PartialPartition([5, -1, 2, 2, -3])
    assert part.labels.tolist() == [1, -1, 0, 0, -1]
    assert part.items.tolist() == [0, 2, 3]
    assert (part.size, part.n_clusters, part.is_full, len(part)) == (3, 2, False, 5)
    assert part == PartialPartition([9, -1, 4, 4, -1])
    assert part != PartialPartition([9, -1, 4, 9, -1])
    assert part.agrees([0, 0, 1, 1, 2])
    assert not part.agrees([0, 0, 0, 0, 1])
    assert np.asarray(part).tolist() == part.labels.tolist()
    with pytest.raises(ValueError, match="read-only"):
        part.labels[0] = 3
    nothing = PartialPartition([-1, -1])
    assert (nothing.size, nothing.n_clusters, nothing.agrees([0, 1])) == (0, 0, True)


def test_partial_partitions_where_they_have_a_meaning():
    part = PartialPartition([0, -1, 0, 1])
    assert pt.lattice.refines(part, [0, 1, 0, 0])  # each stated cluster lies within one cluster
    assert pt.lattice.refines(part, [0, 1, 0, 2])
    assert not pt.lattice.refines(part, [0, 0, 1, 1])
    for refused in (
        lambda: pt.distance(part, [0, 1, 0, 1]),
        lambda: pt.lattice.refines([0, 1, 0, 1], part),
        lambda: pt.estimate(part),
    ):
        with pytest.raises(InvalidLabelsError):
            refused()
