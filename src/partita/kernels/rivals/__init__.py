"""Compiled loops of ``rivals``."""
