"""What several tests of searches share."""

import pytest


@pytest.fixture
def searched(monkeypatch):
    """Few items, but searched as many would be."""
    monkeypatch.setattr("partita.search.settings.EXACT_ITEMS", 0)


@pytest.fixture(params=["enumerated", "searched"])
def way(request):
    if request.param == "searched":
        request.getfixturevalue("searched")
    return request.param
