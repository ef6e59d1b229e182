"""Explain a measure: formula, worked example, direction, range and source."""
