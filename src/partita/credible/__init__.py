"""Uncertainty around a partition: credible balls, items, clusters, and their number."""
