"""Mixture models fitted to data by collapsed Gibbs sampling: from observations to Draws."""
