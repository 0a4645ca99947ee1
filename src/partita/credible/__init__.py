"""Uncertainty around a partition: credible balls, items, clusters, and their number.

Imports ``losses``, ``partitions``, ``io`` and ``kernels``.
"""
