"""Attacks by an adversary whose knowledge has errors and gaps."""
