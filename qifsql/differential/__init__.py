"""Differential inference testing: whether what is guessed about a person depends on that person."""
