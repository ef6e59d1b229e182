"""Scores from which one attribute tells the other, and below which it tells nothing."""

INFERRED, LOW = 0.9, 0.1
