"""Kernels of balls and uncertainty."""
