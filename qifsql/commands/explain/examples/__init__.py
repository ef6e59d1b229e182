"""Worked examples, step by step, from the counts of a small table."""
