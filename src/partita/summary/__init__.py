"""Everything about a posterior of clusterings in one object.

Imports ``search``, ``credible``, ``diagnostics`` and what is below them.
"""
