"""The door for draws, under the name by which readers know it."""

from partita.partitions.convert import as_draws

__all__ = ["as_draws"]
