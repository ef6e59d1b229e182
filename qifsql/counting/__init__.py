"""What commands share once an engine is open: the people, their blocks, cells of releases."""
