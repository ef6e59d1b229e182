"""Metamorphic tests: a change of the data or of the machine, and what it does to the numbers."""
