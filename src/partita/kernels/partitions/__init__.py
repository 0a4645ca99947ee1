"""Kernels of labels, similarity and enumeration."""
