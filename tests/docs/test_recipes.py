"""Recipes for other samplers: with a Gibbs sampler in place of each, and for real where it is."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import partita as pt
from doc_pages import DOCS, run_page
from reference.finite_mixture import exact_posterior, gibbs, log_weights
from stand_ins import FILES

RECIPES = {"howto/pymc.md": "pymc", "howto/numpyro.md": "numpyro", "howto/stan.md": "cmdstanpy"}


def test_labels_drawn_from_log_weights_have_the_posterior_of_the_partition():
    """Five items, two components: all 16 partitions, against integration over the parameters."""
    x = np.array([-2.0, -1.0, 0.0, 1.5, 2.5])
    exact = exact_posterior(x, 2)
    chains = gibbs(x, 2, draws=5_000, burn_in=100, chains=2, seed=0)
    draws = pt.draws_from_memberships(log_weights(chains, x), log=True)
    sampled = Counter(map(tuple, draws.labels.tolist()))
    drawn = Counter(map(tuple, pt.Draws(chains["z"].reshape(-1, 5)).labels.tolist()))
    assert len(exact) == 16
    # Autocorrelation leaves a few thousand of the 10,000 draws; 0.03 is four standard errors.
    for partition, p in exact.items():
        assert sampled[partition] / 10_000 == pytest.approx(p, abs=0.03)
        assert drawn[partition] / 10_000 == pytest.approx(p, abs=0.03)


@pytest.mark.filterwarnings("default")  # what the other libraries warn of is theirs
@pytest.mark.parametrize(("page", "library"), RECIPES.items())
def test_recipe_for_real(page, library, tmp_path, monkeypatch):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "cmdstanpy":
        try:
            module.cmdstan_path()
        except ValueError:
            pytest.skip("CmdStan is not installed")
    monkeypatch.chdir(tmp_path)
    for prepare in FILES.get(page, ()):
        prepare(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    assert run_page(text, page, stand_ins=None) == []
