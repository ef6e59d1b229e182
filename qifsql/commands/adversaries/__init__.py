"""Compute the success of adversaries who know only some of the quasi-identifiers."""
