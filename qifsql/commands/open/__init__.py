"""Open a file, or a stored sweep, as a local page: choose roles, try changes, see the risk."""
