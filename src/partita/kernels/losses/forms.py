"""Arithmetic shared by all losses of two partitions.

With f the loss's term, every such loss is a function of three sums:
joint = Σ f(n_te), estimate = Σ f(n_e), truth = Σ f(n_t), where n_e, n_t are
cluster sizes and n_te the sizes of their intersections.
f(x) = x·log2(x) for the entropic losses, f(x) = x² for those that count pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.losses.form_codes import BINDER, ID, NID, NVI, OMARI, VI

SOME_BITS = 1.0
"""N times an entropy is 0 or at least 2 bits; less is the rounding of running sums."""


@kernel
def term_table(form: int, n_items: int) -> NDArray[np.float64]:
    """f(0), …, f(n_items) for the loss's term f."""
    terms = np.zeros(n_items + 1)
    for x in range(1, n_items + 1):
        if form in (BINDER, OMARI):
            terms[x] = float(x) * float(x)
        else:
            terms[x] = x * np.log2(x)
    return terms


@kernel
def combine(form: int, a: float, joint: float, estimate: float, truth: float, n: int) -> float:
    """Loss from its three sums; 0 for equal partitions, also where the ratio would be 0/0."""
    if form == VI:
        value = (a * (truth - joint) + (2.0 - a) * (estimate - joint)) / n
    elif form == BINDER:
        value = (a * truth + (2.0 - a) * estimate - 2.0 * joint) / (float(n) * float(n))
    elif form == ID:
        value = (max(truth, estimate) - joint) / n
    elif form == NVI:
        below = n * np.log2(n) - joint
        value = (truth + estimate - 2.0 * joint) / below if below > SOME_BITS else 0.0
    elif form == NID:
        below = n * np.log2(n) - min(truth, estimate)
        value = (max(truth, estimate) - joint) / below if below > SOME_BITS else 0.0
    else:
        # 1 − ARI in numbers of ordered pairs: (mean − joint) / (mean − expected by chance).
        pairs = float(n) * (float(n) - 1.0)
        mean = 0.5 * (truth + estimate) - n
        chance = (truth - n) * (estimate - n) / pairs if n > 1 else 0.0
        below = mean - chance
        # One cluster against itself is 0/0. Where the sums are means over draws they carry
        # rounding, and a denominator of that size would turn 0 into 1; the smallest genuine
        # one, a single item out of place in one of many draws, is far larger.
        value = (mean - (joint - n)) / below if below > 1e-14 * (truth + estimate) else 0.0
    return max(value, 0.0)
