"""Estimate population uniqueness and the re-identification risk of records from a sample."""
