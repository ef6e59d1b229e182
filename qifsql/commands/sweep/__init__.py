"""Attack with every subset of the quasi-identifiers; rank subsets and columns to drop."""
