"""``qifsql shell``: a DuckDB prompt with views of the partition."""
