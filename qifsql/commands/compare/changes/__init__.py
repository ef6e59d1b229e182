"""Changes of a file, measured before a release is written."""
