"""Open a DuckDB prompt with views of the blocks ready."""
