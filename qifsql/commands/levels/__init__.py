"""Measure k-anonymity, l-diversity, t-closeness and related levels."""
