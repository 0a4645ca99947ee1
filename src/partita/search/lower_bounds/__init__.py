"""Proven lower bounds of the expected loss over all partitions, for given draws."""
