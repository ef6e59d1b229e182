"""``qifsql dit``: differential inference testing."""
