"""Several answers where one is not enough: representatives, modes, p-values."""
