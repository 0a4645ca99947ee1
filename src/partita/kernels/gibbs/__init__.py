"""Kernels of the Gibbs samplers."""
