"""Summaries survive a file bit by bit; damaged files are refused, those of 0.1 still load."""

import json
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from loss_instances import OWN
from partita._archive import part_from, part_named
from partita.errors import FileFormatError, NotSupportedError
from partita.losses import LOSSES, WITH_ARGUMENTS
from same_bits import assert_same

rng = np.random.default_rng(4)
LABELS = rng.integers(0, 3, (60, 9))
MODES = np.repeat([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3], 30, axis=0)
CHAIN = np.repeat(["a", "b"], 30)
ONE = pt.DirichletProcess(1.0)
CASES = {
    "chains": pt.Draws(LABELS, chain=CHAIN, item_names=list("abcdefghi")),
    "weights": pt.Draws(LABELS, weights=rng.random(60) + 0.1),
    "one draw": pt.Draws(LABELS[:1]),
    "chains in two modes": pt.Draws(MODES, chain=CHAIN),
    "an ensemble": pt.Draws(LABELS, kind="ensemble"),
    "tilted": pt.Draws(LABELS).reweighted("entropy", 1.0),
    "another prior": pt.Draws(LABELS).reweighted(prior=ONE, from_prior=ONE),
}


def saved(case, place):
    path = place / "file with any name"
    data = rng.normal(size=(9, 2))
    summary = pt.summarize(CASES[case], data=data, loss="nvi" if case == "chains" else "vi")
    summary.save(path)
    return summary, pt.Summary.load(path), path


def document(path: Path) -> dict:
    with np.load(path) as archive:
        return json.loads(archive["document"].tobytes())


@pytest.fixture(scope="module", params=CASES)
def pair(request, tmp_path_factory):
    return saved(request.param, tmp_path_factory.mktemp("summary"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return saved("chains", tmp_path_factory.mktemp("summary"))[2]


def test_every_bit_comes_back(pair):
    summary, loaded, _ = pair
    assert_same(summary, loaded)
    assert repr(loaded.draws.reweighting) == repr(summary.draws.reweighting)
    assert str(loaded) == str(summary)
    assert loaded.details() == summary.details()
    assert loaded.to_json() == summary.to_json()


def test_what_was_one_object_is_one_again(pair):
    _, loaded, _ = pair
    assert loaded.ball.draws is loaded.draws
    labels = loaded.draws.labels[0]
    assert loaded.ball.contains(labels) == pair[0].ball.contains(labels)
    assert loaded.ball.at(0.5).radius == pair[0].ball.at(0.5).radius


def test_the_file_holds_plain_arrays_only_and_depends_on_nothing_else(pair, tmp_path):
    summary, _, path = pair
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "biufU" for name in archive.files)
    assert "partita." not in json.dumps(document(path))  # nor names of modules
    again = tmp_path / "again"
    summary.save(again)
    assert again.read_bytes() == path.read_bytes()


def rewritten(path, out, change):
    """The same file with its document changed."""
    with np.load(path) as archive:
        arrays = dict(archive)
    change(tree := document(path))
    arrays["document"] = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    with open(out, "wb") as file:
        np.savez(file, **arrays)
    return out


def test_a_newer_format_is_named(path, tmp_path):
    new = rewritten(path, tmp_path / "new", lambda tree: tree.update(version=99))
    with pytest.raises(FileFormatError, match="version 99"):
        pt.Summary.load(new)


@pytest.mark.parametrize(
    "part", ["os:system", "partita.errors:PartitaError", "partita.nothing:Here", "subprocess:Popen"]
)
def test_a_file_cannot_ask_for_anything_but_parts_of_a_summary(path, tmp_path, part):
    bad = rewritten(path, tmp_path / "bad", lambda tree: tree["summary"].update(part=part))
    with pytest.raises(FileFormatError, match="damaged"):
        pt.Summary.load(bad)


def arrays_of(node, field):
    """Names of the arrays that a document has in fields of that name, at any depth."""
    entries = list(node.values() if isinstance(node, dict) else node)
    named = [node["fields"].get(field)] if isinstance(node, dict) and "fields" in node else []
    found = [entry["array"] for entry in named if isinstance(entry, dict) and "array" in entry]
    inner = [entry for entry in entries if isinstance(entry, (dict, list))]
    return found + [name for entry in inner for name in arrays_of(entry, field)]


def forged(path, target, **changes):
    """A copy of the file with other arrays in fields of these names."""
    with np.load(path) as archive:
        arrays = dict(archive)
    for field, change in changes.items():
        for name in arrays_of(document(path)["summary"], field):
            arrays[name] = change(arrays[name].copy())
    np.savez(target, **arrays)
    return target


def too_large(labels):
    labels.flat[0] = 200
    return labels


@pytest.mark.parametrize(
    "changes",
    [
        {"_labels": too_large},
        {"_labels": lambda a: a.astype(float)},
        {"_labels": lambda a: a[:, :-1]},
        {"_n_clusters": lambda a: a + 1},
        {"labels": too_large},
        {"labels": lambda a: a[..., :-1]},
        {"center": lambda a: a - 5},
    ],
)
def test_arrays_read_back_are_checked(path, tmp_path, changes):
    with pytest.raises(FileFormatError, match="damaged"):
        pt.Summary.load(forged(path, tmp_path / "forged.npz", **changes))


SQUARES = [x**2 for x in range(10)]
STORED = [
    *OWN,
    pt.FARO(),
    *(pt.Entropy(1.5), pt.Entropy(2.5, a=0.7)),
    *(pt.Additive(SQUARES, metric=True), pt.Additive(SQUARES, scale=81, a=0.7)),
]


def test_every_loss_that_can_be_stored_is_here():
    homes = (*LOSSES.values(), *WITH_ARGUMENTS.values())
    assert {type(loss).__name__ for loss in STORED} == {home.partition(":")[2] for home in homes}


@pytest.mark.parametrize("loss", STORED, ids=repr)
def test_every_loss_comes_back(loss, tmp_path):
    summary = pt.summarize(LABELS[:20], loss=loss)
    summary.save(tmp_path / "file")
    loaded = pt.Summary.load(tmp_path / "file")
    assert loaded.loss == summary.loss == loss
    assert_same(summary, loaded)
    assert loaded.to_json() == summary.to_json()


def test_functions_cannot_be_stored(tmp_path):
    for loss in (
        pt.Additive(lambda x: x**2),
        pt.Additive(SQUARES, scale=lambda n: n**2),
        pt.CallableLoss(lambda e, t: abs(len(set(e)) - len(set(t)))),
        pt.loss("half", term="pairs")(lambda joint, estimate, truth, n: (truth - joint) / n),
    ):
        with pytest.raises(NotSupportedError, match="cannot be stored"):
            pt.summarize(LABELS[:20], loss=loss).save(tmp_path / "file")
        assert not (tmp_path / "file").exists()


def test_load_tells_a_summary_from_a_fit(tmp_path):
    run = {"draws": 20, "burn_in": 5, "chains": 2, "rng": 1, "checkpoint": tmp_path / "run.npz"}
    fit = pt.sample(np.arange(8.0)[:, None], **run)
    summary = pt.summarize(fit.draws)
    fit.save(tmp_path / "fit.npz")
    summary.save(tmp_path / "summary.npz")
    assert np.array_equal(pt.load(tmp_path / "fit.npz").draws.labels, fit.draws.labels)
    assert pt.load(tmp_path / "summary.npz").to_dict() == summary.to_dict()
    np.savez(tmp_path / "other.npz", labels=fit.draws.labels)
    with pytest.raises(pt.errors.FileFormatError, match="read_draws"):
        pt.load(tmp_path / "other.npz")
    with pytest.raises(
        pt.errors.FileFormatError, match=r"continued by pt.sample\(..., resume=path"
    ):
        pt.load(tmp_path / "run.npz")


EARLIER = Path(__file__).parents[1] / "data" / "earlier"


@pytest.mark.parametrize("name", ["summary_0_1.npz", "summary_0_1_weighted.npz"])
def test_summaries_of_0_1(name, tmp_path):
    """Written by 0.1.0 on nine items; no number of an estimate or a ball may have changed."""
    old = pt.Summary.load(EARLIER / name)
    weighted = "weighted" in name
    loss = pt.VI(a=0.7) if weighted else pt.VI()
    assert old.loss == loss
    assert old.draws.n_draws == 24
    assert (old.draws.weights is not None) == weighted
    again = pt.expected_loss(old, old.draws, loss)[0]
    assert old.estimate.expected_loss == pytest.approx(again, abs=1e-12)
    new = pt.summarize(old, loss=loss)
    assert pt.distance(old, new) == 0
    assert old.ball.radius == pytest.approx(new.ball.radius, abs=1e-12)
    assert old.items.probability == pytest.approx(new.items.probability[: old.draws.n_items])
    assert old.data_names == new.data_names
    assert "credible ball" in old.details()
    old.save(tmp_path / "again.npz")
    assert str(pt.Summary.load(tmp_path / "again.npz")) == str(old)


def test_a_fit_of_0_1():
    old = pt.Fit.load(EARLIER / "fit_0_1.npz")
    assert old.draws.n_items == 9
    assert old.trace["n_clusters"].shape == (2, 6)
    assert isinstance(old.kernel, pt.NormalInverseGamma)


NAMED = (
    *("Summary", "LossComparison", "PointEstimate", "SearchReport", "Start", "CredibleBall"),
    *("Bound", "Levels", "ItemUncertainty", "ClusterUncertainty", "ClusterCounts", "ClusterSizes"),
    *("Diagnostics", "ChainAgreement", "Profiles", "Representatives", "HeldOutCurve", "PricePath"),
    *("ClustersCurve", "VI", "Binder", "NVI", "ID", "NID", "VILowerBound", "OneMinusARI"),
    *("OneMinusPEAR", "Additive", "Entropy"),
)
"""Names that are in files: they never change."""


@pytest.mark.parametrize("name", NAMED)
def test_every_name_that_is_in_files_is_a_part(name):
    assert is_dataclass(part_named(name))


def test_fields_that_files_name_otherwise_than_arguments():
    """Files that nothing could read when they were written, as they were written."""
    fields = {"a": 0.7, "f": (0.0, 1.0, 4.0, 9.0), "divisor": 9.0, "metric": False}
    assert part_from("Additive", fields) == pt.Additive([0, 1, 4, 9], scale=9, a=0.7)


def test_fits_and_checkpoints_have_the_same_format(tmp_path):
    data = np.array([[-2.0], [-1.9], [2.0], [2.1]])
    fit = pt.sample(data, draws=4, chains=1, checkpoint=tmp_path / "checkpoint.npz", rng=0)
    fit.save(tmp_path / "fit.npz")
    for kind in ("fit", "checkpoint"):
        found = document(tmp_path / f"{kind}.npz")
        assert (found["format"], found["version"]) == (f"partita {kind}", 2)
        assert "partita." not in json.dumps(found)
    fit.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "fit.npz").read_bytes()
    assert pt.Fit.load(tmp_path / "fit.npz").draws == fit.draws
