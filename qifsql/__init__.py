"""Privacy risk of published microdata, measured exactly with DuckDB SQL."""

__version__ = "0.1.0"
