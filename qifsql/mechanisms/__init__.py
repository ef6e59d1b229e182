"""Noisy counts: what differential privacy costs and buys on given data (thesis chapter 6)."""
