"""Measure what synthetic releases say about the people of FILE, from whom they were made."""
