"""Without an optional library, the adapters say what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import numpy as np
import partita as pt
from partita import *
from partita.errors import MissingDependencyError
try:
    {call}
except MissingDependencyError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "call", "said"),
    [
        (["sklearn"], "pt.sklearn.BayesianMixture", 'pip install "partita[sklearn]"'),
        (
            ["pandas"],
            "pt.results.ClusterCounts(np.array([1]), np.array([1.0])).to_frame()",
            'pip install "partita[pandas]"',
        ),
        (
            ["xarray"],
            "pt.arviz.to_dataset(pt.summarize([[0, 1], [0, 0]]))",
            'pip install "partita[arviz]"',
        ),
    ],
)
def test_the_message_names_the_extra(missing, call, said):
    script = SCRIPT.format(missing=missing, call=call)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert said in done.stdout


def test_the_adapters_load_no_library_before_they_are_used():
    script = (
        "import sys, partita as pt; pt.sklearn, pt.anndata, pt.arviz; dir(pt.sklearn);"
        "assert {'sklearn', 'anndata', 'arviz', 'xarray'}.isdisjoint(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
