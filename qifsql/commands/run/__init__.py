"""Run all entries of a study, from attacks to checks; reuse unchanged results."""
