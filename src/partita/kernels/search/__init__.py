"""Kernels of the search for point estimates and of its proofs."""
