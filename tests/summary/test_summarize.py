"""One call: every part is what the part's own function gives, and the text fits a screen."""

import base64
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import partita as pt
from partita.errors import InvalidDataError, InvalidInputError, UnknownNameError
from partita.summary.text import screen, statements
from simulated import labels_around

TRUTH = np.repeat([0, 1, 2], 8)


@pytest.fixture(scope="module")
def draws():
    names = [f"item {i}" for i in range(TRUTH.size)]
    return pt.Draws(labels_around(TRUTH, 800), chain=np.repeat([0, 1, 2, 3], 200), item_names=names)


@pytest.fixture(scope="module")
def summary(draws):
    data = pd.DataFrame({"x": np.arange(24.0), "y": np.ones(24)})
    return pt.summarize(draws, data=data, prob=0.9)


def test_the_parts_are_those_of_their_own_functions(summary, draws):
    assert summary.draws is draws
    assert summary.labels.tolist() == TRUTH.tolist()
    assert (summary.n_clusters, summary.prob, summary.loss) == (3, 0.9, pt.VI())
    ball = pt.credible_ball(draws, summary.labels, prob=0.9)
    assert (summary.ball.radius, summary.ball.bounds) == (ball.radius, ball.bounds)
    items = pt.item_uncertainty(draws, summary.labels)
    assert np.array_equal(summary.items.placement, items.placement)
    clusters = pt.cluster_uncertainty(draws, summary.labels)
    assert np.array_equal(summary.clusters.unchanged, clusters.unchanged)
    counts = pt.n_clusters_posterior(draws)
    assert np.array_equal(summary.counts.probabilities, counts.probabilities)
    assert summary.sizes.tolist() == pt.cluster_sizes(summary.labels).tolist()
    assert np.array_equal(summary.sizes_posterior.mean, pt.cluster_sizes_posterior(draws).mean)
    diagnostics = pt.diagnose(draws, estimate=summary.labels)
    assert np.array_equal(summary.diagnostics.rhat, diagnostics.rhat)
    assert summary.diagnostics.agreement == diagnostics.agreement
    assert summary.data.shape == (24, 2)
    assert summary.data_names == ("x", "y")
    assert summary.representatives is None  # chains agree
    assert summary.to_dict()["representatives"] is None


def test_the_comparison_is_of_expected_losses(summary, draws):
    table = summary.comparison
    assert table.names == ("VI", "Binder")
    assert summary.vi_estimate is summary.estimate
    both = np.stack([summary.vi_estimate.labels, summary.binder_estimate.labels])
    for loss in ("binder", "vi_lb", "vi"):
        found = getattr(table, f"expected_{loss}")
        assert found == pytest.approx(pt.expected_loss(both, draws, loss), abs=1e-12)
    assert table.vi_distance == pt.distance(*both)
    assert table.binder_distance == pt.distance(*both, loss="binder")


def test_the_text_fits_one_screen(summary):
    assert len(str(summary).splitlines()) <= 12
    for width, shown in ((80, str(summary)), *((n, screen(summary, n)) for n in (40, 50, 79))):
        assert max(map(len, shown.splitlines())) <= width
        unwrapped = " ".join(shown.split())
        for said in ("800 draws of 24 items in 4 chains: 3 clusters", "90% credible ball"):
            assert said in unwrapped
        for said in (summary.sentence, "Least certain: item", "with probability 0."):
            assert said in unwrapped


def test_the_details_have_the_tables(summary):
    lines = summary.details().splitlines()
    assert max(len(line) for line in lines) <= 80
    shown = " ".join(summary.details().split())
    for name in ("bounds", "clusters", "items", "comparison", "curve", "diagnostics"):
        table = summary.tables()[name]
        assert table.caption in shown
        for row in table.rows:
            assert " ".join(" ".join(row).split()) in shown
    rows = summary.tables()["clusters"].rows
    assert [int(row[1].replace(",", "")) for row in rows] == summary.clusters.size.tolist()


def test_the_card_says_what_the_screen_says(summary):
    shown = re.sub(r"<[^>]+>", " ", summary._repr_html_())
    screen_text = " ".join(str(summary).split())
    for label, text in statements(summary):
        assert escape(label) in shown
        assert escape(text) in shown
        assert f": {text}" in screen_text


def test_chains_that_disagree_give_three_statements_and_their_answers_in_the_details():
    rng = np.random.default_rng(0)
    other = np.where(np.arange(24) >= 20, 0, TRUTH)
    labels = np.array([TRUTH, other])[np.repeat([0, 0, 0, 1], 100)]
    noise = rng.random(labels.shape) < 0.03
    labels = np.where(noise, rng.integers(0, 3, labels.shape), labels)
    summary = pt.summarize(pt.Draws(labels, chain=np.repeat(range(4), 100)), progress=False)
    assert summary.diagnostics.chains_disagree
    assert len(str(summary).splitlines()) == 3
    assert "The chains disagree" in str(summary)
    for text in (str(summary), summary._repr_html_()):
        assert "no answer yet" in text
    assert "Estimate: " in summary.details()
    assert summary.representatives.n == 2
    text = " ".join(summary.details().split())
    assert "Representative 0: 75% of the draws (chains 0, 1 and 2)." in text
    assert "items 20, 21, 22 and 23 move from cluster 2 to cluster 0" in text
    assert "No chain crosses" in text
    assert "representatives(draws)" in text
    with pytest.warns(DeprecationWarning, match="representatives"):
        assert summary.rivals is summary.representatives
    with pytest.warns(DeprecationWarning, match="chain_assignment"):
        assert summary.representatives.owners.tolist() == [0, 0, 0, 1]


def test_many_clusters_and_long_names_still_fit():
    truth = np.arange(60) // 2
    names = [f"{'a very long name of an item ' * 3}{i}" for i in range(60)]
    summary = pt.summarize(pt.Draws(labels_around(truth, 50), item_names=names), bound=None)
    lines = str(summary).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert len(lines) <= 24
    assert "30 clusters of size 2 each" in str(summary)
    assert max(len(line) for line in summary.details().splitlines()) <= 80


def test_a_loss_that_is_no_metric_gets_a_ball_of_vi(draws):
    summary = pt.summarize(draws, loss="one_minus_ari")
    assert summary.loss == pt.OneMinusARI()
    assert summary.ball.loss == pt.VI()
    assert summary.comparison.names == ("VI", "Binder", "OneMinusARI()")
    shown = " ".join(str(summary).split())
    assert "of variation of information (one minus the adjusted Rand index is not a met" in shown


def test_binder_is_measured_in_binder(draws):
    summary = pt.summarize(draws, loss="binder")
    assert summary.binder_estimate is summary.estimate
    assert summary.ball.loss == pt.Binder()
    wanted = pt.pairwise_distances([summary.labels], draws)[0].mean()
    row = summary.diagnostics.names.index("vi_to_estimate")
    assert summary.diagnostics.mean[row] == pytest.approx(wanted)


def test_sampler_output_brings_its_trace_and_data(draws):
    concentration = np.random.default_rng(0).random((4, 200))
    data = np.sin(np.arange(24.0))
    short = pt.sample(data, kernel="empirical", draws=1, burn_in=0, chains=1, rng=0)
    trace = {"n_clusters": draws.n_clusters.reshape(4, 200), "concentration": concentration}
    values = TRUTH[:, None].astype(float)
    fit = replace(short, draws=draws, trace=trace, values=values, columns=("x",))
    summary = pt.summarize(fit)
    assert "concentration" in summary.diagnostics.names
    assert summary.diagnostics.mean[-1] == pytest.approx(concentration.mean())
    assert summary.data[:, 0].tolist() == TRUTH.tolist()
    assert summary.data_names == ("x",)
    assert pt.summarize(fit, data=np.zeros((24, 3))).data.shape == (24, 3)


def test_arrays_and_weights_and_corners():
    labels = labels_around(TRUTH, 60)
    weighted = pt.summarize(pt.Draws(labels, weights=np.arange(1.0, 61.0)))
    assert "weighted" in str(weighted)
    assert pt.summarize(labels).n_clusters == 3  # arrays have a method named trace
    for corner in ([[0]], [[0, 0], [0, 0]], [[0, 1, 2]]):
        summary = pt.summarize(corner, prob=1)
        assert summary.ball.radius == 0.0
        assert summary.sentence in " ".join(str(summary).split())


def test_plain_values_are_json(summary, tmp_path):
    plain = summary.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["labels"] == TRUTH.tolist()
    assert plain["ball"]["radius"] == summary.ball.radius
    assert plain["items"]["placement"] == summary.items.placement.tolist()
    assert plain["options"]["prob"] == 0.9
    assert '"_' not in json.dumps(plain)  # fields only: no private attribute of a class
    path = tmp_path / "summary.json"
    text = summary.to_json(path)
    assert json.loads(path.read_text()) == json.loads(text) == plain
    assert pt.summarize([[0, 1]]).to_dict()["diagnostics"]["rhat"] == [None] * 4


def test_bad_input_is_refused_before_any_search(draws, summary, monkeypatch):
    monkeypatch.setattr("partita.summary.summarize.estimate_of", None)
    with pytest.raises(InvalidInputError, match=r"prob=95.*0\.95, not 95"):
        pt.summarize(draws, prob=95)
    with pytest.raises(InvalidDataError, match="expected one row per item"):
        pt.summarize(draws, data=[1, 2, 3])
    with pytest.raises(UnknownNameError, match="table='item'"):
        summary.to_frame("item")


# ------------------------------------------------------------------ cut short


def test_a_summary_that_was_cut_short_says_what_it_lacks(tmp_path):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 6, (40, 60))
    cut = pt.summarize(labels, time_limit=1e-6, bound=None, progress=False, path=True)
    late = ("uncertainty of items and clusters", "estimates under VI and Binder's loss")
    lost = ("price path", "curve over numbers of clusters")
    assert cut.missing == late + lost
    shown = " ".join(str(cut).split())
    assert "Not computed, for lack of time or memory: uncertainty of items and clusters" in shown
    assert "Least certain" not in shown
    assert cut.curve is None
    assert cut.core is None
    assert cut.ball.contains(cut.labels)
    assert len(cut.missing) == 4  # printing made none of them
    # What is asked for is made late, and then is there.
    whole = pt.item_uncertainty(labels, cut.labels)
    np.testing.assert_array_equal(cut.items.probability, whole.probability)
    assert "uncertainty of items and clusters" not in cut.missing
    assert "Least certain" in str(cut)
    assert cut.binder_estimate.loss == pt.Binder()
    cut.save(tmp_path / "cut.npz")
    again = pt.Summary.load(tmp_path / "cut.npz")
    assert again.missing == cut.missing == lost


def test_ctrl_c_after_the_estimate_loses_nothing_that_is_finished(draws, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("partita.summary.summarize.compare", interrupted)
    cut = pt.summarize(draws, progress=False)
    assert cut.missing[0] == "uncertainty of items and clusters"
    assert cut.estimate.n_clusters == 3
    assert "Not computed, for lack of" in " ".join(str(cut).split())
    with pytest.raises(AttributeError):
        cut.no_such_part  # noqa: B018


def test_a_long_name_of_one_word_is_cut():
    """Not dropped; that no name steers a terminal, tests/test_hostile_names.py says."""
    names = ["a", "ENSG000000000000000000000000123", *"cdef"]
    draws = [[0, 0, 0, 1, 1, 1]] * 6 + [[1, 0, 0, 1, 1, 1]] * 4 + [[0, 1, 0, 1, 1, 1]] * 5
    assert "ENSG0000000000000000000…" in str(pt.summarize(pt.as_draws(draws, item_names=names)))


@pytest.mark.parametrize(
    ("rho", "kernel"), [(0.9, "hierarchical"), (0.9, "wishart"), (0.0, "hierarchical")]
)
def test_correlation_within_clusters_is_warned_about(rho, kernel):
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 150)
    rows += [[8, -8]] * rng.integers(0, 2, (150, 1))
    fit = pt.sample(rows, kernel=kernel, draws=60, burn_in=60, chains=2, rng=0, progress=False)
    warned = [w for w in pt.summarize(fit).diagnostics.warnings if "Columns correlate up to" in w]
    assert len(warned) == (rho > 0 and kernel == "hierarchical")


@pytest.mark.parametrize("labels", [np.zeros(30, int), np.arange(30)], ids=["one", "singletons"])
def test_equal_draws_are_called_equal(labels):
    summary = pt.summarize(np.tile(labels, (200, 1)))
    shown = " ".join(str(summary).split())
    assert "Least certain" not in shown
    assert "Items: all 30 items stay in their cluster" in shown
    assert "within 0" not in shown
    assert "±" not in shown
    assert "the clustering is the estimate of" in summary.sentence


# ------------------------------------------------------------------- for a paper, and in a notebook


def test_the_table_has_every_number_and_balanced_environments(summary):
    text = summary.to_latex()
    for environment in ("table", "tabular"):
        begins = text.count(rf"\begin{{{environment}}}")
        assert begins == text.count(rf"\end{{{environment}}}") > 0
    assert f"{summary.estimate.expected_loss:.4g} bits" in text
    assert f"{summary.ball.radius:.4g} bits" in text
    rows = re.findall(r"^(\d+) & ([\d,]+) & ([\d.]+) & ", text, re.M)
    assert [int(size) for _, size, _ in rows] == summary.clusters.size.tolist()
    assert [float(within) for *_, within in rows] == np.round(summary.clusters.within, 2).tolist()
    assert r"90\%" in text
    assert not re.search(r"(?<!\\)%", text)  # would be a comment


def stated_limit(text):
    return float(re.search(r"at most ([\d,.]+)% above the minimum", text)[1].replace(",", "")) / 100


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ()),
        ({"n_clusters": 2}, ("exactly 2 clusters",)),
        ({"max_clusters": 2}, ("at most 2 clusters",)),
        ({"n_clusters": 4, "min_size": 4}, ("exactly 4 clusters", "at least 4 items in every")),
        ({"method": "average"}, ("cutting average linkage",)),
        ({"method": "draws"}, ("comparing the draws",)),
        ({"method": "hasse"}, ("the greedy search “hasse”",)),
    ],
)
def test_what_is_proven_holds_and_constraints_and_methods_are_named(asked, words, tmp_path):
    labels = labels_around(np.arange(20) % 5, 60, seed=3, redrawn=0.35, k=5)
    summary = pt.summarize(labels, progress=False, bound="fast", path=False, **asked)
    found = summary.estimate
    free = pt.estimate(labels, progress=False, bound=None)
    texts = [" ".join(str(summary).split()), summary.methods, found.proof, summary._repr_html_()]
    for text in texts:
        for word in words:
            assert word in text
        assert stated_limit(text) >= found.expected_loss / free.expected_loss - 1  # of a minimum
        exact = found.gap / (1 - found.gap)
        assert exact <= stated_limit(text) <= 1.1 * exact  # two digits, rounded up
        assert "minimises" not in text
    assert stated_limit(summary.to_latex().replace("\\", "")) >= exact
    for constraint in found.constraints:
        assert constraint in summary.to_latex()
    summary.save(tmp_path / "s.npz")
    assert pt.Summary.load(tmp_path / "s.npz").methods == summary.methods


def test_a_loss_without_a_bound_says_so():
    labels = labels_around(np.arange(14) % 3, 60, seed=3, redrawn=0.3, k=3)
    summary = pt.summarize(labels, loss="one_minus_ari", progress=False, path=False)
    assert "no lower bound" in summary.methods
    assert "proven" not in summary.methods


def shown(value):
    """The text of well-formed HTML."""
    tree = ET.fromstring(f"<div>{re.sub(r'<img[^>]*>', '', value._repr_html_())}</div>")
    return " ".join("".join(tree.itertext()).split())


def test_a_summary_is_a_small_page(summary):
    text = shown(summary)
    assert summary.sentence in text
    address = re.search("src='data:image/png;base64,([^']+)'", summary._repr_html_())[1]
    assert Image.open(io.BytesIO(base64.b64decode(address))).size == (24, 24)


def test_warnings_come_first(summary):
    warned = replace(summary, diagnostics=replace(summary.diagnostics, warnings=("not & yet",)))
    text = shown(warned)
    assert text.index("Warning. not & yet") < text.index("Estimate")
    assert "For your paper, once the warnings are resolved" in text
    search = replace(summary.estimate.search, interrupted=True)
    cut = replace(summary, estimate=replace(summary.estimate, search=search))
    assert "The search was cut short: this is the best so far." in " ".join(str(cut).split())
