"""``qifsql verify``: recompute the numbers of a stored result by other ways."""
