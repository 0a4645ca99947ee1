"""Did the chains converge? Label-invariant quantities of the draws, and words about them."""
