"""Measure what an adversary gains on records or, with --person, on people."""
