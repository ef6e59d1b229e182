"""Where rows are and which columns they have: files, types, expressions, hierarchies."""
