"""Print the SQL that gives the same numbers in a DuckDB prompt, or in Spark; run nothing."""
