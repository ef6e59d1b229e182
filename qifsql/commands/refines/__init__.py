"""``qifsql refines``: whether one set of quasi-identifiers never leaks less than another."""
