"""Engines run plans. Memory, temporary files, threads, progress and interruption live here."""
