"""Sanitised releases: cells that stand for several values, and where people are found in them."""
