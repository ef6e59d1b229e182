"""Levels: k, l, t and their relatives, of a partition that is published."""
