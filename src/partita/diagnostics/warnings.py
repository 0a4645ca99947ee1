"""What the diagnostics mean, and what to do about it."""

from __future__ import annotations

import numpy as np

from partita.diagnostics.agreement import ChainAgreement
from partita.diagnostics.drift import Drift, Start
from partita.draws import Draws
from partita.kernels.arrays import Floats

MAX_RHAT = 1.01
MIN_ESS = 400.0
MAX_AVERAGE_SD = 0.05
MAX_SD = 0.25
MAX_MOVED = 0.1
"""Limits beyond which a warning is given; R-hat and ESS after Vehtari et al. (2021)."""

MAX_PAIR_EXCESS = 0.1
"""Standard deviation of one pair's probability over chains, beyond Monte Carlo error."""

PROSE = {
    "n_clusters": "the number of clusters",
    "entropy": "the entropy",
    "largest_cluster": "the size of the largest cluster",
    "vi_to_estimate": "the distance to the estimate",
    "concentration": "the concentration",
    "weight": "the Dirichlet weight",
    "n_components": "the number of components",
    "log_posterior": "the log posterior",
}
"""Functionals as they are called in sentences."""


def warnings_for(
    names: tuple[str, ...],
    *,
    ess: Floats,
    rhat: Floats,
    by_chance: Floats,
    agreement: ChainAgreement | None,
    drifted: Drift,
    start: Start | None,
    draws: Draws,
) -> tuple[str, ...]:
    """Sentences that say what is wrong and what to do."""
    texts = []
    if np.isnan(ess).all():
        texts.append(
            "There are too few draws per chain to check convergence. Draw at least a few hundred."
        )
    worst = _worst(rhat / np.maximum(by_chance, MAX_RHAT), largest=True)
    if worst is not None and rhat[worst] > max(by_chance[worst], MAX_RHAT):
        parts = "The chains have" if draws.n_chains > 1 else "The parts of the chain have"
        texts.append(
            f"{parts} not mixed: R-hat of {prose(names[worst])} is {rhat[worst]:.3f} (above "
            f"{max(by_chance[worst], MAX_RHAT):.3g}, which chance does not explain). Run longer, "
            "drop more burn-in, or start from other places; do not report these results yet."
        )
    worst = _worst(ess, largest=False)
    if worst is not None and ess[worst] < MIN_ESS:
        advice = (
            "Use more draws or weights that vary less."
            if draws.weights is not None
            else "Run longer; thinning does not help."
        )
        texts.append(
            f"The effective sample size of {prose(names[worst])} is only {ess[worst]:.0f} "
            f"(below {MIN_ESS:.0f}), so its summaries are noisy. {advice}"
        )
    if agreement is not None and disagree(agreement):
        texts.append(
            "The chains disagree on which items belong together: the pair probabilities differ "
            f"between chains by {agreement.average_sd:.3f} on average and up to "
            f"{agreement.maximal_sd:.3f} (standard deviations), more than Monte Carlo error "
            "explains. representatives(draws) shows which answers they hold and what differs; run "
            "longer."
        )
    if start is not None:
        texts.append(
            f"The chains begin elsewhere: in the first {start.n_draws:,} draws of each, "
            f"{prose(start.name)} differs from the rest by {start.shift:.1f} standard deviations. "
            f"Drop more burn-in: draws.drop({draws.n_draws // draws.n_chains // 10:,})."
        )
    if changed_mind(drifted):
        texts.append(
            f"{'A' if draws.n_chains > 1 else 'The'} chain changed its mind on which items belong "
            "together: the pair probabilities differ between its halves or quarters by "
            f"{drifted.average_sd:.3f} on average and up to {drifted.maximal_sd:.3f} (standard "
            f"deviations, beyond chance), and {100 * drifted.moved:.0f}% more of the items are in "
            "another cluster than within a part or from one draw to the next of those compared. It "
            "moves between modes too rarely to say how probable each is. Run several longer chains "
            "from different starts."
        )
    return tuple(texts)


def prose(name: str) -> str:
    """A functional as it is called in sentences; learned rates by the names they have."""
    return PROSE.get(name, f"the {name}")


def disagree(agreement: ChainAgreement) -> bool:
    """Whether chains describe different posteriors, by the pairs of items they keep together."""
    if np.isnan(agreement.average_excess):  # very short chains, and files of earlier versions
        return agreement.average_sd > MAX_AVERAGE_SD or agreement.maximal_sd > MAX_SD
    beyond = agreement.average_excess > MAX_AVERAGE_SD
    return beyond or agreement.maximal_excess > MAX_PAIR_EXCESS


def changed_mind(drifted: Drift) -> bool:
    """Whether the parts of a chain describe different posteriors; not where none were compared."""
    return (
        drifted.average_sd > MAX_AVERAGE_SD
        or drifted.maximal_sd > MAX_SD
        or drifted.moved > MAX_MOVED
    )


def notes_for(draws: Draws, compared: Draws, agreement: ChainAgreement | None) -> tuple[str, ...]:
    """Sentences that say how numbers were made when it was not the usual way.

    ``compared`` are the draws of the chains that are long enough.
    """
    texts = []
    left_out = draws.n_chains - compared.n_chains
    if left_out:
        texts.append(
            f"{left_out} of {draws.n_chains} chains {'has' if left_out == 1 else 'have'} fewer "
            "than eight draws or a tenth of the longest: left out of R-hat, effective sizes and "
            "the comparison of chains."
        )
    if draws.weights is not None:
        texts.append(
            "Draws are weighted: effective sizes are Kish's 1/Σw², and R-hat is not defined."
        )
    elif compared.n_chains == 1:
        texts.append(
            "One chain: R-hat compares its quarters, and cannot show a mode it never visited. "
            "Run several chains."
        )
    if compared.chain is not None and draws.weights is None:
        lengths = np.unique(compared.chain, return_counts=True)[1]
        if lengths.min() != lengths.max():
            texts.append(
                f"Chains differ in length ({lengths.min():,} to {lengths.max():,} draws); the "
                "longer ones were cut at their beginning."
            )
    if agreement is not None and not agreement.all_pairs:
        texts.append(
            f"Agreement between chains was measured on {agreement.n_pairs:,} random pairs of items."
        )
    return tuple(texts)


def _worst(values: Floats, *, largest: bool) -> int | None:
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if largest else np.nanargmin(values))
