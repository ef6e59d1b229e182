"""A test that one set of quasi-identifiers never leaks less than another."""
