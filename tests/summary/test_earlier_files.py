"""Files that earlier versions wrote still load; files name parts, never modules."""

import json
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita._archive import part_from, part_named

EARLIER = Path(__file__).parents[1] / "data" / "earlier"


@pytest.mark.parametrize("name", ["summary_0_1.npz", "summary_0_1_weighted.npz"])
def test_summaries_of_0_1(name):
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


def test_what_was_loaded_can_be_saved_and_loaded(tmp_path):
    old = pt.Summary.load(EARLIER / "summary_0_1.npz")
    old.save(tmp_path / "new.npz")
    new = pt.Summary.load(tmp_path / "new.npz")
    assert str(new) == str(old)


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


def document(path: Path) -> dict:
    with np.load(path) as archive:
        return json.loads(archive["document"].tobytes())


def test_files_name_no_modules(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]], 40, axis=0)
    noisy = np.where(rng.random(labels.shape) < 0.05, 3, labels)
    apart = pt.summarize(pt.Draws(noisy, chain=np.repeat([0, 1], 40)), data=np.arange(6.0) ** 2)
    assert apart.representatives is not None
    apart.save(tmp_path / "apart.npz")
    text = json.dumps(document(tmp_path / "apart.npz"))
    assert "partita." not in text
    again = pt.Summary.load(tmp_path / "apart.npz")
    assert np.array_equal(again.representatives.labels, apart.representatives.labels)


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
