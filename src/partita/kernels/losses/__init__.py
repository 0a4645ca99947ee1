"""Kernels of the losses between partitions."""
