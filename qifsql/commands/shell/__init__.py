"""``qifsql shell``: a DuckDB prompt with the partition."""
