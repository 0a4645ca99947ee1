"""Files of values computed elsewhere; ``tests/data/README.md`` says by whom."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent / "data"
GROUND_TRUTH = DATA / "ground_truth.json"
PAPER_DRAWS = DATA / "paper" / "draws"

needs_paper_draws = pytest.mark.skipif(
    not PAPER_DRAWS.is_dir(),
    reason="the paper's draws (GPL) are in the repository, not in the source distribution",
)
