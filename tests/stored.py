"""Files of values computed elsewhere; ``tests/data/README.md`` says by whom."""

from pathlib import Path

import pytest
from examples.paper.draws import MISSING, find_draws

DATA = Path(__file__).resolve().parent / "data"
GROUND_TRUTH = DATA / "ground_truth.json"
PAPER_DRAWS = find_draws() or DATA / "nowhere"

needs_paper_draws = pytest.mark.skipif(find_draws() is None, reason=MISSING)
