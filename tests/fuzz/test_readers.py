"""A small share of the attack; ``make fuzz`` runs more of it."""

from __future__ import annotations

import pytest

from fuzz.readers import FOREIGN, SUFFIXES, WRONG, attack


# h5netcdf's files complain of themselves when they are collected after a failed opening.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_read_right_or_refused(suffix):
    found, errors = attack(suffix, 15, seed=1)
    assert not errors
    assert found[FOREIGN] == found[WRONG] == 0
    assert found.total() == 15
