"""Convergence: numbers against arviz-stats, chains that agree or do not, each chain alone."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

import partita as pt
from partita import mcmc
from partita.diagnostics.agreement import _mismatches, choose_pairs, drift
from partita.errors import InvalidInputError
from simulated import renewed_chains

N_DRAWS, N_ITEMS = 600, 10


def chains_of(n_chains, *, n_clusters=3, seed=0):
    """Independent draws, hence chains that have converged."""
    labels = np.random.default_rng(seed).integers(0, n_clusters, (n_chains * N_DRAWS, N_ITEMS))
    return pt.Draws(labels, chain=np.repeat(np.arange(n_chains), N_DRAWS))


def test_numbers_are_arvizs_over_chains():
    draws = chains_of(4)
    found = pt.diagnose(draws, estimate=draws.labels[0])
    assert found.names == ("n_clusters", "entropy", "largest_cluster", "vi_to_estimate")
    distance = pt.pairwise_distances([draws.labels[0]], draws)[0].reshape(4, N_DRAWS)
    assert found.rhat[3] == pytest.approx(float(array_stats.rhat(distance, method="rank")))
    assert found.ess_bulk[3] == pytest.approx(float(array_stats.ess(distance, method="bulk")))
    tail = array_stats.ess(distance, method="tail", prob=(0.05, 0.95))
    assert found.ess_tail[3] == pytest.approx(float(tail))
    assert found.mcse[3] == pytest.approx(float(array_stats.mcse(distance, method="mean")))
    assert found.mean[0] == draws.n_clusters.mean()
    sizes = [np.bincount(row).max() for row in draws.labels]
    assert found.mean[2] == pytest.approx(np.mean(sizes))
    assert found.ok
    assert found.notes == ()


def test_the_order_of_chains_in_the_rows_does_not_matter():
    draws = chains_of(3)
    rows = np.arange(3 * N_DRAWS).reshape(3, N_DRAWS).T.reshape(-1)  # chains taking turns
    turns = pt.Draws(draws.labels[rows], chain=draws.chain[rows])
    assert np.array_equal(pt.diagnose(draws).rhat, pt.diagnose(turns).rhat)


def test_chains_that_disagree_are_told_apart_in_words():
    halves = [chains_of(1, n_clusters=k, seed=k).labels for k in (2, 5)]
    draws = pt.Draws(np.concatenate(halves), chain=np.repeat([0, 1], N_DRAWS))
    found = pt.diagnose(draws)
    assert not found.ok
    assert found.rhat[0] > 1.5
    text = " ".join(found.warnings)
    assert "not mixed: R-hat of" in text
    assert any("chance explains" in note for note in found.notes)
    assert "Run longer" in text
    assert "chains disagree on which items belong together" in text
    assert "representatives(draws) shows the answers they hold" in text


def one_mode(kind: int, n_draws: int, seed: int) -> np.ndarray:
    """Draws around one of two partitions of twelve items into three clusters of four."""
    rng = np.random.default_rng(seed)
    centre = np.repeat([0, 1, 2], 4) if kind == 0 else np.tile([0, 1, 2], 4)
    draws = np.tile(centre, (n_draws, 1))
    draws[np.arange(n_draws), rng.integers(0, 12, n_draws)] = rng.integers(0, 4, n_draws)
    return draws


@pytest.mark.parametrize("n_chains", [1, 2])
def test_a_chain_that_switches_between_modes_of_equal_shape_is_named(n_chains):
    halves = [one_mode(half % 2, 1_000, half) for half in range(2 * n_chains)]
    draws = pt.Draws(np.vstack(halves), chain=np.repeat(np.arange(n_chains), 2_000))
    found = pt.diagnose(draws)
    assert not found.ok
    assert "moves between modes" in found.warnings[-1]
    assert found.drift_average_sd > 0.2
    assert found.drift_moved > 0.25
    mixed = np.vstack(halves)[np.random.default_rng(0).permutation(2_000 * n_chains)]
    assert pt.diagnose(pt.Draws(mixed, chain=draws.chain)).ok
    four = np.vstack([one_mode(q % 2, 500, q) for q in range(4)])  # quarters: halves look alike
    assert "moves between modes" in pt.diagnose(pt.Draws(four)).warnings[-1]


@pytest.mark.parametrize("blocks", [8, 16])
def test_a_chain_that_moves_to_and_fro_is_named(blocks):
    """Its halves and quarters are alike; draws that follow each other are more so."""
    each = 4_000 // blocks
    draws = np.vstack([one_mode(block % 2, each, block) for block in range(blocks)])
    found = pt.diagnose(pt.Draws(draws))
    assert "moves between modes" in found.warnings[-1]
    assert found.drift_average_sd < 0.05
    mixed = draws[np.random.default_rng(0).permutation(len(draws))]
    assert pt.diagnose(pt.Draws(mixed)).ok


def test_independent_draws_of_two_modes_do_not_seem_to_drift():
    """All pairs change with the mode: their average varies as much as that of one pair."""
    modes = np.stack([np.repeat([0, 1], 20), np.tile([0, 1], 20)])
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise, redrawn = rng.integers(0, 2, (4, 250, 40)), rng.random((4, 250, 40)) < 0.05
        chains = np.where(redrawn, noise, modes[rng.integers(0, 2, (4, 250))])
        draws = pt.Draws(chains.reshape(-1, 40), chain=np.repeat(range(4), 250))
        assert drift(draws, tau=1.0).average_sd < 0.05


def test_matched_clusters_beyond_the_share_within_parts():
    # Two modes: matched, half the items of one lie outside the clusters of the other.
    one, other = np.repeat([0, 1], 4), np.tile([0, 1], 4)
    assert _mismatches(np.stack([one, other, 1 - other, one]).astype(np.int32)) == pytest.approx(
        np.array([[0, 0.5, 0.5, 0], [0.5, 0, 0, 0.5], [0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0]])
    )
    draws = pt.Draws(np.vstack([np.tile(one, (40, 1)), np.tile(other, (40, 1))]))
    assert 0.25 < drift(draws, tau=1.0).moved <= 0.5
    assert drift(draws, tau=3.0).moved == 0.0  # too few effective draws to say


def test_too_few_effective_draws_are_named():
    draws = pt.Draws(np.repeat(chains_of(1).labels[:60], 10, axis=0))
    found = pt.diagnose(draws)
    said = (text for text in found.warnings if "effective draws (400 wanted)" in text)
    assert "Run longer" in next(said)
    one_change = pt.diagnose(pt.Draws([[0, 0, 0, 0]] * 200 + [[0, 0, 1, 1]] * 200))
    assert any("only 1 effective draw (" in text for text in one_change.warnings)


def test_one_chain_uses_its_quarters_and_says_so():
    draws = chains_of(1)
    found = pt.diagnose(draws)
    assert np.isfinite(found.rhat).all()
    assert found.agreement is None
    assert "One chain: R-hat compares its quarters" in found.notes[0]
    drifting = pt.Draws(np.sort(draws.labels, axis=0))
    assert not pt.diagnose(drifting).ok


def test_unequal_chains_are_cut_at_their_beginning():
    draws = chains_of(2)
    shorter = pt.Draws(draws.labels[100:], chain=draws.chain[100:])
    same = draws.drop(100)
    found = pt.diagnose(shorter)
    assert np.array_equal(found.rhat, pt.diagnose(same).rhat)
    assert any("differ in length (500 to 600 draws)" in text for text in found.notes)


def test_constants_and_few_draws_give_no_warnings_of_numpy():
    constant = pt.diagnose(pt.Draws(np.zeros((40, 3), int), chain=np.repeat([0, 1], 20)))
    assert np.isnan(constant.rhat).all()
    assert constant.sd.tolist() == [0.0] * 3
    few = pt.diagnose([[0, 1], [0, 0]])
    assert np.isnan(few.ess_bulk).all()
    assert "too few draws" in few.warnings[0]
    assert np.isnan(pt.diagnose([[0, 1]]).sd).all()
    stuck = np.repeat([[0, 0, 0], [0, 1, 2]], 50, axis=0)
    assert not pt.diagnose(pt.Draws(stuck, chain=np.repeat([0, 1], 50))).ok


def test_weighted_draws_have_kishs_size_and_no_rhat():
    labels = chains_of(1).labels
    weights = np.random.default_rng(1).random(N_DRAWS) + 0.1
    draws = pt.Draws(labels, weights=weights)
    found = pt.diagnose(draws)
    assert found.ess_bulk == pytest.approx(np.full(3, 1 / np.square(draws.weights).sum()))
    assert np.isnan(found.rhat).all()
    assert found.mean[0] == pytest.approx(draws.weights @ draws.n_clusters)
    assert "weighted" in found.notes[0]


class Fit:
    """What diagnostics read from sampler output."""

    def __init__(self, draws, trace):
        self.draws, self.trace = draws, trace

    def __draws__(self):
        return self.draws


def test_sampler_output_adds_its_trace():
    draws = chains_of(2)
    rng = np.random.default_rng(2)
    trace = {"concentration": rng.random(2 * N_DRAWS), "log_posterior": rng.random(2 * N_DRAWS)}
    found = pt.diagnose(Fit(draws, trace))
    assert found.names[-2:] == ("concentration", "log_posterior")
    wanted = array_stats.ess(trace["concentration"].reshape(2, N_DRAWS), method="bulk")
    assert found.ess_bulk[3] == pytest.approx(float(wanted))
    with pytest.raises(InvalidInputError, match="one per draw"):
        pt.diagnose(Fit(draws, {"concentration": [1.0]}))


# ------------------------------------------------------------------ scaled by Monte Carlo error


def about(found: pt.results.Diagnostics, words: str) -> bool:
    return any(words in text for text in found.warnings)


@pytest.mark.parametrize("n_items", [2, 10])
def test_one_pair_on_which_long_chains_disagree(n_items):
    """1,000 independent draws a chain, of which two items are together with these probabilities."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        chains = rng.integers(0, 3, (4, 1_000, n_items))
        for chain, prob in zip(chains, (0.67, 0.66, 0.31, 0.31), strict=True):
            other = (chain[:, 0] + rng.integers(1, 3, 1_000)) % 3
            chain[:, 1] = np.where(rng.random(1_000) < prob, chain[:, 0], other)
        found = pt.diagnose(pt.as_draws(chains))
        assert found.chains_disagree
        assert found.agreement.maximal_excess > 0.1


@pytest.mark.parametrize("shape", [(4, 40, 15), (2, 20, 30), (8, 60, 10)])
def test_short_chains_that_agree_are_not_accused(shape):
    for seed in range(12):
        draws = np.random.default_rng(seed).integers(0, 3, shape)
        found = pt.diagnose(pt.as_draws(draws))
        assert not found.chains_disagree
        assert not any(about(found, w) for w in ("not mixed", "start far from", "between modes"))


def test_autocorrelation_is_no_disagreement_and_stuck_chains_are():
    for seed in range(4):
        chains = renewed_chains(np.random.default_rng(seed), 800, noise=0.3, renewed=0.2)
        assert not pt.diagnose(pt.as_draws(chains)).chains_disagree
        chains[3, :, 20:] = 0  # one chain keeps four items elsewhere
        assert pt.diagnose(pt.as_draws(chains)).chains_disagree


def test_chains_of_few_effective_draws_are_not_said_to_differ_beyond_their_error():
    """About three effective draws a chain: their Monte Carlo error is not known."""
    rngs = map(np.random.default_rng, range(12))
    slow = [renewed_chains(rng, 200, noise=0.3, renewed=0.03) for rng in rngs]
    found = [pt.diagnose(pt.as_draws(chains)) for chains in slow]
    assert not any(about(each, "more than Monte Carlo error") for each in found)
    assert all(about(each, "effective draws") for each in found)


def test_the_largest_of_several_rhats_is_judged_as_such():
    """With 400 effective draws the largest of six R-hats of mixed chains is often above 1.01."""
    above = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        draws = pt.as_draws(rng.integers(0, 3, (4, 100, 12)))
        trace = {name: rng.normal(size=400) for name in ("concentration", "weight", "rate of x")}
        found = pt.diagnose(Fit(draws, trace))
        above += np.nanmax(found.rhat) > 1.01
        assert not about(found, "not mixed")
    assert above >= 5


@pytest.mark.parametrize("share", [0.02, 0.05])
@pytest.mark.parametrize("renewed", [1.0, 0.2])
def test_burn_in_left_in_is_named(share, renewed):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        chains = renewed_chains(rng, 800, noise=0.15, renewed=renewed)
        assert not about(pt.diagnose(pt.as_draws(chains)), "start far from")
        burn = int(800 * share)
        still = rng.random((4, burn, 24)) < np.linspace(1, 0, burn)[:, None]
        chains[:, :burn] = np.where(still, 0, chains[:, :burn])  # all chains from one cluster
        found = pt.diagnose(pt.as_draws(chains))
        assert about(found, "start far from")
        assert about(found, "draws.drop(80)")
        assert not about(pt.diagnose(pt.as_draws(chains[:, 80:])), "start far from")


@pytest.mark.parametrize("short", [1, 2, 3, 30])
def test_chains_too_short_are_left_out_and_that_is_said(short, tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, (800 + short, 8))
    draws = pt.Draws(labels, chain=np.repeat([0, 1, 2], [400, 400, short]))
    found = pt.diagnose(draws)
    whole = pt.diagnose(draws[:800])
    np.testing.assert_array_equal(found.rhat, whole.rhat)
    np.testing.assert_array_equal(found.ess_bulk, whole.ess_bulk)
    assert found.agreement == whole.agreement
    assert found.mean[0] == pytest.approx(draws.n_clusters.mean())
    assert any("1 of 3 chains has fewer than eight draws" in note for note in found.notes)
    if short == 2:
        summary = pt.summarize(draws)
        summary.to_html(tmp_path / "report.html")
        assert summary.to_json()
        assert summary.to_latex()


def test_agreement_is_the_spread_of_pair_probabilities():
    draws = chains_of(3)
    labels = draws.labels.reshape(3, N_DRAWS, N_ITEMS)
    per_chain = (labels[..., None] == labels[:, :, None]).mean(axis=1)
    spread = per_chain.std(axis=0, ddof=1)[np.triu_indices(N_ITEMS, 1)]
    found = pt.chain_agreement(draws)
    assert found.average_sd == pytest.approx(spread.mean())
    assert found.maximal_sd == pytest.approx(spread.max())
    assert (found.n_pairs, found.all_pairs, found.n_chains) == (45, True, 3)


def test_a_subset_of_pairs_has_no_pair_twice():
    for n_items in (3, 10, 100, 100_000):
        first, second, complete = choose_pairs(n_items, 50, 7)
        assert complete == (n_items <= 10)
        assert (first < second).all()
        assert (second < n_items).all()
        assert (first >= 0).all()
        assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == first.size
    found = pt.chain_agreement(chains_of(2), max_pairs=20, rng=1)
    assert (found.n_pairs, found.all_pairs) == (20, False)
    assert found == pt.chain_agreement(chains_of(2), max_pairs=20, rng=1, n_jobs=1)


# ----------------------------------------------------------- sizes and errors against arviz-stats


@pytest.mark.parametrize("seed", range(60))
def test_numbers_are_arvizs(seed):
    rng = np.random.default_rng(seed)
    # In very short chains correlations can sum to exactly 0, and rounding decides where they end.
    n_chains, n_draws = int(rng.integers(2, 5)), int(rng.integers(40, 300))
    chains, memory = rng.normal(size=(n_chains, n_draws)), rng.uniform(-0.5, 0.99)
    for i in range(1, n_draws):
        chains[:, i] += memory * chains[:, i - 1]
    if seed % 3 == 0:
        chains = np.round(chains)  # ties
    ours = [mcmc.mcse_mean(chains), mcmc.ess_bulk(chains), mcmc.ess_tail(chains)]
    ours += [mcmc.rhat(chains), mcmc.mcse_quantile(chains, 0.9), mcmc.ess_mean(chains)]
    theirs = [
        array_stats.mcse(chains, method="mean"),
        array_stats.ess(chains, method="bulk"),
        array_stats.ess(chains, method="tail", prob=(0.05, 0.95)),
        array_stats.rhat(chains, method="rank"),
        array_stats.mcse(chains, method="quantile", prob=0.9),
        array_stats.ess(chains, method="mean"),
    ]
    assert ours == pytest.approx(np.array(theirs, np.float64), rel=1e-9)


def test_one_chain_has_sizes_and_errors_too():
    chain = np.random.default_rng(0).normal(size=(1, 101))
    assert mcmc.ess_bulk(chain) == pytest.approx(float(array_stats.ess(chain, method="bulk")))
    assert mcmc.mcse_mean(chain) == pytest.approx(float(array_stats.mcse(chain, method="mean")))


@pytest.mark.parametrize("n_draws", [20, 60, 333])
def test_chains_that_are_constants_of_their_own_are_not_correlated_within(n_draws):
    """Rounding of their means must not pass for a correlation."""
    chains = np.repeat([[0.1], [0.7], [0.7]], n_draws, axis=1)
    assert mcmc.ess_within(chains) == 3 * n_draws - 3 * (n_draws % 2)


# ------------------------------------------------------------- what each chain would report alone


@pytest.fixture(scope="module")
def draws():
    """Two chains about one partition, and one about another."""
    rng = np.random.default_rng(0)
    truths = np.repeat([0, 1, 2], 6), np.repeat([0, 1, 2], 6), np.repeat([0, 1], 9)
    anew = rng.integers(0, 3, (3, 40, 18))
    noisy = np.where(rng.random((3, 40, 18)) < 0.05, anew, np.stack(truths)[:, None, :])
    return pt.as_draws(noisy)


def test_chains_one_by_one(draws):
    found = pt.chain_estimates(draws)
    whole = pt.estimate(draws, bound=None)
    assert found.expected_loss == pytest.approx(whole.expected_loss)
    for c, chain in enumerate(found.chains):
        own = draws[np.flatnonzero(draws.chain == chain)]
        alone = pt.estimate(own, bound=None)
        assert found.within[c] == pytest.approx(alone.expected_loss)
        assert np.array_equal(found.labels[c], alone.labels)
        assert found.to_estimate[c] == pytest.approx(pt.distance(whole.labels, alone.labels))
    assert found.distances[0, 2] == pytest.approx(pt.distance(found.labels[0], found.labels[2]))
    assert found.within.mean() <= found.expected_loss
    assert found.distances[0, 1] == 0 < found.between


def test_a_summary_shows_it_in_details_and_report_only(draws, tmp_path):
    summary = pt.summarize(draws)
    assert summary.chain_estimates.expected_loss == pytest.approx(summary.estimate.expected_loss)
    assert "Each chain alone." in summary.details()
    summary.to_html(tmp_path / "report.html")
    assert "Each chain alone." in (tmp_path / "report.html").read_text()
    assert "Each chain alone." not in str(summary)
    assert pt.summarize(draws[draws.chain == 0]).chain_estimates is None


def test_one_chain_is_refused(draws):
    with pytest.raises(pt.PartitaError, match="fewer than two chains") as refused:
        pt.chain_estimates(draws.labels)
    assert refused.value.argument == "draws"


def test_chains_count_by_their_draws():
    """Weighted by its draws, the mean within chains is at most the loss over all of them."""
    rows = np.array([[0, 0, 1, 1]] * 8 + [[0, 1, 0, 1], [0, 1, 1, 1]])
    found = pt.chain_estimates(pt.Draws(rows, chain=[0] * 8 + [1] * 2))
    np.testing.assert_allclose(found.share, [0.8, 0.2])
    assert found.within @ found.share <= found.expected_loss
    assert f"{found.within @ found.share:.3g}" in found.sentence
