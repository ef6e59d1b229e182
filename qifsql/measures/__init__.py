"""Measures: pure functions from profiles to numbers, each with its formula and source."""
