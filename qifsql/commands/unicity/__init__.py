"""Unicity of a pseudonymous log: how many people are unique by a few of their own records."""
