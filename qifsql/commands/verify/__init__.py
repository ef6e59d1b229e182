"""Recompute each number of a stored result by other ways; exit code 4 if one differs."""
