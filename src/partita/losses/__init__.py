"""Losses between partitions, as small frozen values, and their expectations.

Imports ``partitions`` and ``kernels``.
"""
