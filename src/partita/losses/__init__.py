"""Losses between partitions, as small frozen values, and their expectations."""

from __future__ import annotations

LOSSES = {
    "vi": "builtin:VI",
    "binder": "builtin:Binder",
    "vi_lb": "builtin:VILowerBound",
    "nvi": "builtin:NVI",
    "id": "builtin:ID",
    "nid": "builtin:NID",
    "one_minus_ari": "builtin:OneMinusARI",
    "one_minus_pear": "builtin:OneMinusPEAR",
    "faro": "builtin:FARO",
}
"""Losses that a name alone makes, with their file in this folder and their class, a public name.
A new one is found everywhere once it stands here."""

WITH_ARGUMENTS = {"entropy": "builtin:Entropy", "additive": "user:Additive"}
"""Losses that have to be given something, in brackets or in Python."""
