"""Differential inference testing: how much a guess about a person depends on their record."""
