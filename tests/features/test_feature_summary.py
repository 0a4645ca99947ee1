"""The summary of feature draws: numbers, words, report, command line, representatives."""

import json
import pickle

import numpy as np
import pytest

import partita as pt
from feature_cases import ESTIMATE, cube, f5, two_modes
from partita.errors import FileFormatError, InvalidInputError


def test_a_summary_says_what_its_parts_say(tmp_path):
    summary = pt.summarize(f5(), prob=0.8)
    assert summary.estimate.expected_loss == pytest.approx(1.4)
    np.testing.assert_array_equal(summary.allocation, ESTIMATE.astype(bool))
    np.testing.assert_allclose(summary.membership, summary.estimate.membership)
    assert summary.items.contribution.sum() == pytest.approx(1.4)
    assert (summary.ball.radius, summary.ball.coverage) == (2.0, 0.8)
    assert summary.counts.values.tolist() == [2, 3]
    assert summary.counts_shared.values.tolist() == [1, 2]
    assert summary.counts_shared.probabilities == pytest.approx([0.6, 0.4])
    for said in ("2 features of sizes 2, 2", "proven optimal", "within 2 memberships"):
        assert said in str(summary)
    assert "Of two items or more" in summary.how_many
    document = json.loads(summary.to_json())
    assert document["estimate"]["allocation"] == ESTIMATE.tolist()
    assert document["ball"]["sparsest"]["n_memberships"] == [3, 3]
    assert summary.to_frame("features")["size"].tolist() == [2, 2]
    assert all(len(line) <= 80 for line in summary.details().splitlines())
    summary.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert summary.sentence in page
    assert page.count("<svg") == 5
    assert "<script" not in page
    again = pt.credible_ball(summary, summary, prob=0.8)
    assert again.radius == summary.ball.radius


def test_a_path_is_of_the_prices_asked_for():
    summary = pt.summarize(f5(), path=(0.9, 1.1))
    np.testing.assert_array_equal(summary.path.edges, pt.price_path(f5(), low=0.9, high=1.1).edges)
    assert summary.path.edges[0] == pytest.approx(0.9)
    with pytest.raises(InvalidInputError, match="path="):
        pt.summarize(f5(), path="all")


@pytest.mark.parametrize("made", ["weighted", "path", "two modes"])
def test_a_summary_comes_back_from_its_file(tmp_path, made):
    if made == "two modes":
        summary = pt.summarize(two_modes())
    else:
        draws = f5(weights=[0.1, 0.3, 0.2, 0.3, 0.1], item_names="abcd", chain=[1, 1, 2, 2, 2])
        summary = pt.summarize(draws, path=made == "path", rng=np.random.default_rng(1))
    file = tmp_path / "summary.npz"
    summary.save(file)
    for again in (pt.load(file), type(summary).load(file), pickle.loads(pickle.dumps(summary))):
        assert type(again) is type(summary)
        assert again.draws == summary.draws
        assert again.to_dict() == summary.to_dict()
        assert again.details() == summary.details()
        assert again.ball.at(0.5).radius == summary.ball.at(0.5).radius
        again.to_html(tmp_path / "report.html", overwrite=True)
    again.save(tmp_path / "second.npz")
    assert (tmp_path / "second.npz").read_bytes() == file.read_bytes()
    with pytest.raises(FileFormatError, match="not a Summary"):
        pt.Summary.load(file)


def test_a_forged_file_is_refused(tmp_path):
    summary = pt.summarize(f5())
    summary.save(tmp_path / "summary.npz")
    with np.load(tmp_path / "summary.npz") as stored:
        arrays = dict(stored)
    for name, array in arrays.items():
        if array.dtype == np.uint64:
            wrong = {**arrays, name: array | np.uint64(1)}  # an item that is not there
        elif array.dtype == np.bool_ and array.ndim == 2:
            wrong = {**arrays, name: array[:-1]}
        else:
            continue
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(FileFormatError, match="damaged"):
            pt.load(tmp_path / "wrong.npz")


def test_the_prices_at_which_an_estimate_stays():
    summary = pt.summarize(f5(), path=True)
    assert "from 0.4 to 1.2" in str(summary)


def test_representatives_of_partitions_by_evaluation():
    """FARO has no closed form on partitions: the distance is real, and above its bound."""
    rng = np.random.default_rng(0)
    two = np.where(rng.random((60, 1)) < 0.5, np.arange(8) // 4, np.arange(8) % 2)
    draws = pt.Draws(np.where(rng.random((60, 8)) < 0.05, 2, two))
    found = pt.representatives(draws, n=2, loss="faro")
    far = pt.pairwise_distances(found.labels, draws, loss="faro").min(axis=0)
    assert found.distance == pytest.approx(far.mean())
    assert found.lower_bound <= found.distance
    assert sorted(map(tuple, found.labels)) == [(0, 0, 0, 0, 1, 1, 1, 1), (0, 1) * 4]


def test_chains_that_disagree_are_told_by_representatives():
    summary = pt.summarize(two_modes())
    assert summary.representatives.n == 2
    assert summary.representatives.weights == pytest.approx([0.5, 0.5])
    assert summary.representatives.chains_are_separate
    assert "no answer yet" in str(summary)
    assert "No chain crosses" in summary.details()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_representatives_of_few_draws_are_between_bound_and_medoids(n):
    draws = f5()
    found = pt.representatives(draws, n=n)
    apart = pt.pairwise_distances(draws)
    from itertools import combinations

    medoids = min(apart[list(s)].min(axis=0).mean() for s in combinations(range(5), n))
    assert found.lower_bound <= found.distance <= medoids + 1e-12
    far = np.min(
        [pt.pairwise_distances(pt.FeatureDraws([z]), draws)[0] for z in found.allocations], 0
    )
    assert found.distance == pytest.approx(far.mean())


def test_the_command_line(tmp_path, monkeypatch, partita):
    monkeypatch.chdir(tmp_path)
    np.savez("draws.npz", z=cube())
    ask = ("summarize", "draws.npz", "--features")
    done = partita(*ask, "--prob", 0.8, "--out", "results", "--one-based")
    assert "2 features of sizes 2, 2" in done.output
    rows = (tmp_path / "results" / "memberships.csv").read_text().splitlines()
    assert rows[0] == "item,feature,estimate,probability"
    assert rows[8].startswith("4,2,1,0.6")
    assert json.loads((tmp_path / "results" / "summary.json").read_text())["n_items"] == 4
    wrong = partita(*ask, "--min-size", 2, code=2)
    assert "--min-size is for partitions" in wrong.output
    drawing = (*ask, "--figures", "png", "--out", "pictures")
    partita(*drawing, "--report", "r.html")
    drawn = sorted(file.stem for file in (tmp_path / "pictures" / "figures").iterdir())
    assert drawn == ["ball", "distances", "memberships", "n_features", "posterior_map"]
    assert "name one with --out" in partita(*ask, "--figures", "png", code=2).output
    assert "exists already" in partita(*drawing, code=1).output
