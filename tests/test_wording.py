"""Numbers and nouns are written in one way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita._text import counted, counts, in_list, of_sizes, percent, share, span


def test_one_is_singular_and_thousands_are_set_apart():
    assert counted(1, "cluster") == "1 cluster"
    assert counted(2039, "cluster") == "2,039 clusters"
    assert counts([1], "cluster") == "1 cluster"
    assert counts([1, 2], "cluster") == "1, 2 clusters"
    assert span(1, 1, "cluster") == "1 cluster"
    assert span(4, 1000, "cluster") == "4 to 1,000 clusters"
    assert of_sizes([178]) == "size 178"
    assert of_sizes([3, 72, 7]) == "sizes 72, 7, 3"
    assert of_sizes([5, 4, 3], most=2) == "sizes 5, 4 and 1 smaller"
    assert percent(0.95) == "95%"
    assert share(0.001) == "under 1%"
    assert in_list(["a", "b", "c"]) == "a, b and c"


def test_one_cluster_is_written_in_the_singular():
    draws = np.zeros((50, 20), int)
    draws[:10, :3] = 1
    text = " ".join(str(pt.summarize(draws, progress=False)).split())
    assert "1 cluster of size 20" in text
    assert "1 clusters" not in text
    assert "(size 20)" in text
    assert "the draws inside this ball have 1 to 2 clusters" in text


def test_with_warnings_the_sentence_is_not_to_be_written_yet():
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 2, (2_000, 6)), chain=np.repeat(range(4), 500))
    calm = pt.summarize(draws, progress=False)
    assert calm.diagnostics.ok
    assert "\nFor your paper: " in str(calm)
    warned = replace(calm, diagnostics=replace(calm.diagnostics, warnings=("do not report",)))
    assert "\nFor your paper: " not in str(warned)
    assert "\nFor your paper, once the warnings are resolved: " in str(warned)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("one_minus_ari", "omari"),
        ("one_minus_pear", "ompear"),
        ("vi_lower_bound", "vi_lb"),
        ("variation_of_information", "vi"),
    ],
)
def test_losses_have_readable_names(alias, name):
    a, b = [0, 0, 1, 1, 2], [0, 1, 1, 1, 2]
    assert pt.distance(a, b, loss=alias) == pt.distance(a, b, loss=name)
