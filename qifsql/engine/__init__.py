"""Engines, which run plans: memory, temporary files, threads, progress and interruption."""
