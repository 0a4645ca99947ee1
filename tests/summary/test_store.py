"""Summaries survive a file bit by bit, without pickle; damaged files are refused."""

import json

import numpy as np
import pytest

import partita as pt
from clusters import assert_same
from loss_instances import OWN
from partita.errors import FileFormatError, NotSupportedError
from partita.losses import homes

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
    again = tmp_path / "again"
    summary.save(again)
    assert again.read_bytes() == path.read_bytes()


# ------------------------------------------------------------------ damaged and foreign files


def test_files_that_are_no_summary(path, tmp_path):
    content = path.read_bytes()
    other = tmp_path / "other.npz"
    np.savez(other, labels=LABELS)
    np.save(tmp_path / "array.npy", LABELS)
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello")
    for name in ("other.npz", "array.npy", "cut", "empty", "text"):
        with pytest.raises(FileFormatError, match="not a partita summary file"):
            pt.Summary.load(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        pt.Summary.load(tmp_path / "missing")


def rewritten(path, out, change):
    """The same file with its document changed."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    tree = json.loads(arrays["document"].tobytes())
    change(tree)
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


def forged(path, target, **changes):
    """A copy of the file with other arrays, found by their shape and kind in its document."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    tree = json.loads(arrays["document"].tobytes())

    def walk(node):
        if isinstance(node, dict) and "fields" in node:
            for name, entry in node["fields"].items():
                if name in changes and isinstance(entry, dict) and "array" in entry:
                    arrays[entry["array"]] = changes[name](arrays[entry["array"]].copy())
                walk(entry)
        elif isinstance(node, dict):
            for entry in node.values():
                walk(entry)
        elif isinstance(node, list):
            for entry in node:
                walk(entry)

    walk(tree["summary"])
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


# ------------------------------------------------------------------ losses

SQUARES = [x**2 for x in range(10)]
STORED = [
    *OWN,
    pt.FARO(),
    *(pt.Entropy(1.5), pt.Entropy(2.5, a=0.7)),
    *(pt.Additive(SQUARES, metric=True), pt.Additive(SQUARES, scale=81, a=0.7)),
]


def test_every_loss_that_can_be_stored_is_here():
    assert {type(loss) for loss in STORED} == {getattr(pt, name) for name in homes()}


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
    fit = pt.sample(np.arange(8.0)[:, None], draws=20, burn_in=5, chains=2, rng=1)
    summary = pt.summarize(fit.draws)
    fit.save(tmp_path / "fit.npz")
    summary.save(tmp_path / "summary.npz")
    assert np.array_equal(pt.load(tmp_path / "fit.npz").draws.labels, fit.draws.labels)
    assert pt.load(tmp_path / "summary.npz").to_dict() == summary.to_dict()
    np.savez(tmp_path / "other.npz", labels=fit.draws.labels)
    with pytest.raises(pt.errors.FileFormatError, match="read_draws"):
        pt.load(tmp_path / "other.npz")
