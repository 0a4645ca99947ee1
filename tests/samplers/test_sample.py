"""sample(): reproducible, resumable, interruptible."""

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.samplers import chains as chain_module
from partita.samplers import sample as beginning_module
from samplers.test_user_defined import DATA as FILES

DATA = pt.datasets.four_normals(example=2, n=40, rng=5).data
SHORT = {"draws": 60, "burn_in": 20, "chains": 3, "rng": 3, "progress": False}
SHORT["kernel"] = "empirical"


def same(a: pt.Fit, b: pt.Fit) -> bool:
    return a.draws == b.draws and all(np.array_equal(a.trace[k], b.trace[k]) for k in a.trace)


def test_shapes_chains_and_traces():
    fit = pt.sample(DATA, thin=2, **SHORT)
    assert fit.draws.n_draws == 180
    assert fit.draws.n_items == 40
    assert np.asarray(fit.draws.chain).tolist() == [0] * 60 + [1] * 60 + [2] * 60
    assert set(fit.trace) == {"concentration", "n_clusters", "log_posterior"}
    assert fit.trace["n_clusters"].shape == (3, 60)
    np.testing.assert_array_equal(fit.trace["n_clusters"].ravel(), fit.draws.n_clusters)
    assert np.array_equal(fit.draws.labels, pt.Draws(fit.draws.labels).labels)  # canonical


def test_the_same_rng_gives_the_same_draws_for_every_n_jobs():
    one = pt.sample(DATA, n_jobs=1, **SHORT)
    assert same(one, pt.sample(DATA, n_jobs=2, **SHORT))
    assert same(one, pt.sample(DATA, n_jobs=-1, **SHORT))
    other = pt.sample(DATA, **(SHORT | {"rng": 4}))
    assert not same(one, other)


def test_thinning_keeps_every_second_draw():
    every = pt.sample(DATA, draws=60, burn_in=10, chains=1, rng=0)
    second = pt.sample(DATA, draws=30, burn_in=10, thin=2, chains=1, rng=0)
    np.testing.assert_array_equal(every.draws.labels[1::2], second.draws.labels)


def test_rounds_change_nothing_while_the_number_of_clusters_jumps(monkeypatch):
    options = SHORT | {"prior": pt.PitmanYor(6.0, 0.7), "initial": "one", "split_merge": 5}
    whole = pt.sample(DATA, **options)
    assert np.abs(np.diff(whole.trace["n_clusters"])).max() > 8
    monkeypatch.setattr(chain_module, "_ROUND_SECONDS", 0.0)
    assert same(whole, pt.sample(DATA, **options))


def test_growing_beyond_the_room_of_the_store_changes_no_distribution():
    """Many clusters: a concentration that makes almost every item its own."""
    fit = pt.sample(
        np.zeros(60),
        kernel=pt.DirichletCategorical(),
        prior=pt.DirichletProcess(200.0),
        draws=600,
        burn_in=10,
        chains=4,
        initial="one",
        rng=0,
        progress=False,
    )
    expected = pt.DirichletProcess(200.0).expected_clusters(60)
    mean = fit.trace["n_clusters"][:, 10:].mean()
    assert mean == pytest.approx(expected, abs=0.3)  # sd of k is 2.6, effective draws > 1,000


def test_starts_from_a_column_or_a_file(tmp_path):
    labels = np.arange(40) % 3
    options = {"draws": 5, "burn_in": 0, "chains": 2, "rng": 0}
    expected = pt.sample(DATA, initial=labels, **options)
    pd.DataFrame({"cluster": labels}).to_csv(tmp_path / "labels.csv", index=False)
    words = pd.DataFrame({"cluster": [f"c{k}" for k in labels]})
    for initial in (tmp_path / "labels.csv", str(tmp_path / "labels.csv"), words):
        assert pt.sample(DATA, initial=initial, **options).draws == expected.draws


def test_many_rows_start_from_samples():
    """Four far groups of 12,000 rows, one cell missing: found before the first sweep of all."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 12_000)
    rows = np.array([[0.0, 0], [9, 0], [0, 9], [9, 9]])[truth] + rng.normal(size=(12_000, 2))
    rows[rng.integers(12_000), 1] = np.nan
    run = {"kernel": "hierarchical", "draws": 1, "burn_in": 0, "chains": 2, "rng": 0}
    fit = pt.sample(rows, sweeps=0, split_merge=1, n_jobs=1, **run)
    assert (fit.draws.n_clusters <= 8).all()
    for labels in fit.draws.labels:
        assert pt.distance(labels, truth, loss="binder") < 0.005
    assert not np.array_equal(*fit.draws.labels)
    assert "each chain started from 5,000 random rows of its own or more" in fit.notes[-1]
    # What was learned on the sample goes along: the rate is far from the mean of its prior.
    assert (fit.trace["rate of 0"] < 3 * 4).all()
    again = pt.sample(rows, sweeps=0, split_merge=1, n_jobs=2, initial="sample", **run)
    assert again.draws == fit.draws


def test_samples_of_many_clusters_are_larger(monkeypatch):
    monkeypatch.setattr(beginning_module, "ROWS", 60)
    monkeypatch.setattr(beginning_module, "CENTRES", 10)
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(12), 50)
    rows = 20.0 * truth[:, None] + rng.normal(size=(600, 1))
    fit = pt.sample(rows, initial="sample", draws=1, burn_in=0, chains=1, sweeps=0, rng=0)
    assert fit.draws.n_clusters[0] >= 11  # of 60 rows in 10 groups hardly more than 10 can come
    prior = pt.FiniteMixture.exactly(3)
    few = pt.sample(rows, initial="sample", prior=prior, draws=1, burn_in=0, chains=1, rng=0)
    assert few.draws.n_clusters[0] <= 3


def test_labels_as_start_and_a_prior_that_caps_clusters():
    prior = pt.FiniteMixture.exactly(3)
    fit = pt.sample(DATA, prior=prior, draws=100, burn_in=0, chains=3, rng=0)
    assert fit.draws.n_clusters.max() <= 3
    assert "concentration" not in fit.trace
    start = np.arange(40) % 3
    pt.sample(DATA, prior=prior, draws=5, burn_in=0, chains=2, initial=start, rng=0)
    with pytest.raises(pt.PartitaError, match="4 clusters, but the prior allows 3"):
        pt.sample(DATA, prior=prior, draws=5, initial=np.arange(40) % 4)


def test_a_checkpoint_continues_to_the_identical_result(tmp_path, monkeypatch):
    whole = pt.sample(DATA, **SHORT)
    path = tmp_path / "run.npz"
    stop_after(monkeypatch, 30)
    part = pt.sample(DATA, checkpoint=path, checkpoint_every=1e9, **SHORT)
    assert part.interrupted
    assert part.draws.n_draws < whole.draws.n_draws
    monkeypatch.undo()
    resumed = pt.sample(DATA, checkpoint=path, resume=path, **SHORT)
    assert same(whole, resumed)
    longer = pt.sample(DATA, resume=path, **(SHORT | {"draws": 90}))
    assert same(longer, pt.sample(DATA, **(SHORT | {"draws": 90})))


def test_a_checkpoint_within_burn_in_continues(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    stop_after(monkeypatch, 5)
    with pytest.raises(KeyboardInterrupt, match=r"within burn-in.*resume"):
        pt.sample(DATA, checkpoint=path, **SHORT)
    monkeypatch.undo()
    assert same(pt.sample(DATA, resume=path, **SHORT), pt.sample(DATA, **SHORT))


def stop_after(monkeypatch, iterations: int) -> None:
    """Ctrl-C in the round that would pass so many iterations."""
    original = chain_module._advance

    def advance(model, task):
        if task.last > iterations:
            raise KeyboardInterrupt
        return original(model, task)

    monkeypatch.setattr(chain_module, "_advance", advance)
    monkeypatch.setattr(chain_module, "_ROUND_SECONDS", 0.0)


def test_ctrl_c_keeps_what_is_there_and_says_so(monkeypatch, capsys):
    whole = pt.sample(DATA, **SHORT)
    stop_after(monkeypatch, 45)
    part = pt.sample(DATA, **SHORT)
    assert part.interrupted
    assert part.trace["n_clusters"].shape == (3, 25)
    np.testing.assert_array_equal(part.trace["n_clusters"], whole.trace["n_clusters"][:, :25])
    assert "interrupted: 25 of 60 draws of each chain" in capsys.readouterr().err
    assert "interrupted" in repr(part)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    pt.sample(DATA, checkpoint=path, **SHORT)
    before = path.read_bytes()
    for change in ({"thin": 2}, {"chains": 2}, {"prior": pt.DirichletProcess(1.0)}):
        with pytest.raises(pt.PartitaError, match="belongs to another run"):
            pt.sample(DATA, resume=path, **(SHORT | change))
    with pytest.raises(pt.PartitaError, match="belongs to another run"):
        pt.sample(DATA + 1, resume=path, **SHORT)
    with pytest.raises(pt.PartitaError, match="Ask for at least as many draws"):
        pt.sample(DATA, resume=path, **(SHORT | {"draws": 10}))
    with pytest.raises(pt.PartitaError, match="exists already"):
        pt.sample(DATA, checkpoint=path, **SHORT)
    assert path.read_bytes() == before


def test_a_run_goes_on_as_it_was_begun(tmp_path):
    """Another rng or initial would be ignored, and is refused; without one a run knows its own."""
    path = tmp_path / "run.npz"
    start = np.arange(40) % 3
    whole = pt.sample(DATA, checkpoint=path, initial=start, **SHORT)
    for change in ({"rng": 8}, {"initial": "one"}):
        with pytest.raises(pt.PartitaError, match=f"another {next(iter(change))}") as caught:
            pt.sample(DATA, resume=path, **({"initial": start} | SHORT | change))
        assert caught.value.argument in change
    assert same(pt.sample(DATA, resume=path, initial=start, **SHORT), whole)
    assert same(pt.sample(DATA, resume=path, checkpoint=path, **(SHORT | {"rng": None})), whole)
    with pytest.raises(pt.PartitaError, match="another rng"):
        pt.sample(DATA, resume=path, **(SHORT | {"rng": 8}))


def test_checkpoints_that_cannot_be(tmp_path):
    with pytest.raises(pt.PartitaError, match=r"directory .* does not exist") as caught:
        pt.sample(DATA, checkpoint=tmp_path / "no" / "run.npz", **SHORT)
    assert caught.value.argument == "checkpoint"
    with pytest.raises(pt.PartitaError, match="does not exist"):
        pt.sample(DATA, resume=tmp_path / "none.npz", **SHORT)
    wrong = tmp_path / "wrong.npz"
    wrong.write_bytes(b"PK\x03\x04 not a zip file")
    with pytest.raises(pt.PartitaError, match="not a partita checkpoint file, or is damaged"):
        pt.sample(DATA, resume=wrong, **SHORT)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["wrong.npz"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws=0; expected a whole number from 1"),
        ({"sweeps": 0, "split_merge": 0}, "leave nothing to do"),
        ({"initial": "random"}, "initial='random' is unknown"),
        ({"initial": [0, 1]}, "2 items, but 40"),
        ({"initial": np.zeros((2, 40))}, "2 partitions for 3 chains"),
    ],
)
def test_settings_out_of_range(options, message):
    with pytest.raises(pt.PartitaError, match=message):
        pt.sample(DATA, **(SHORT | options))


def test_an_extended_fit_is_that_of_one_run(tmp_path, monkeypatch):
    whole = pt.sample(DATA, **(SHORT | {"draws": 100, "thin": 2}))
    short = pt.sample(DATA, **(SHORT | {"draws": 60, "thin": 2}))
    assert same(short.extend(draws=40, progress=False), whole)
    short.save(tmp_path / "fit.npz")
    loaded = pt.Fit.load(tmp_path / "fit.npz")
    assert same(loaded.extend(draws=25, progress=False).extend(draws=15, progress=False), whole)
    stop_after(monkeypatch, 90)
    part = pt.sample(DATA, **(SHORT | {"draws": 100, "thin": 2}))
    monkeypatch.undo()
    assert part.interrupted
    left = 100 - part.trace["n_clusters"].shape[1]
    finished = part.extend(draws=left, progress=False)
    assert same(finished, whole)
    assert not finished.interrupted
    with pytest.raises(pt.PartitaError, match="draws=0"):
        short.extend(draws=0)
    with pytest.raises(pt.PartitaError, match="cannot go on"):
        pt.Fit.load(FILES / "fit_0_1_wishart.npz").extend(draws=5)


def test_progress_where_nothing_can_be_replaced_is_lines(capsys, monkeypatch):
    monkeypatch.setattr(chain_module, "_PAUSE", 0.0)
    fit = pt.sample(DATA, **(SHORT | {"progress": True}))
    err = capsys.readouterr().err
    assert fit.notes[0] in err
    total = fit.settings.iterations
    assert f"{total:,}/{total:,} iterations" in err.splitlines()[-1]
    assert "0:00:00 left" in err.splitlines()[-1]
    assert "R-hat" in err.splitlines()[-1]
    pt.sample(DATA, **(SHORT | {"progress": None}))
    assert capsys.readouterr().err == ""  # by default nothing
