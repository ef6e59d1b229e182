"""Write a release: quasi-identifiers generalised, one record per person, or fewer columns."""
