"""Kernels that read text."""
