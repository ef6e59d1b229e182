"""Counting shared by commands: people, blocks, cells of releases."""
