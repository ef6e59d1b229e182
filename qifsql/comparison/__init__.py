"""Releases beside one another: sanitised beside the original, and changes before they are made."""
