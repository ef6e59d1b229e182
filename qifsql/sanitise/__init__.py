"""Sanitised releases: made, located in, compared and composed."""
