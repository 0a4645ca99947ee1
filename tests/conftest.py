"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A kernel compiles in its first example, or runs as plain Python: times say nothing.
settings.register_profile("partita", deadline=None)
settings.load_profile("partita")
