"""Datasets and their columns: files, types, expressions, hierarchies."""
