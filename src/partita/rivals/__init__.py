"""Several answers where one is not enough: representatives, p-values, modes.

Imports ``search``, ``credible``, ``diagnostics`` and what is below them.
"""
