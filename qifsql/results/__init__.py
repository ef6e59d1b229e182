"""Results: their tables, origins and files."""
