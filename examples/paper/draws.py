"""Where the paper's own draws are.

They are data of the R package mcclust.ext 1.0, under the GPL, and not part of
this project: ``example1.npz`` and ``galaxy.npz``, each with an array ``labels``
of shape (10000, n_items), the first with ``true_labels`` besides.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PARTITA_PAPER_DRAWS"
MISSING = (
    "the paper's draws (GPL) are not in ../shared/paper/draws; "
    f"set {VARIABLE} to the directory of example1.npz and galaxy.npz"
)


def find_draws() -> Path | None:
    """The directory of the paper's draws, or None."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "paper" / "draws"
    named = os.environ.get(VARIABLE)
    for folder in (beside, *([Path(named)] if named else [])):
        if (folder / "example1.npz").is_file() and (folder / "galaxy.npz").is_file():
            return folder
    return None
