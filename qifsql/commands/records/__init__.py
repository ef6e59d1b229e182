"""``qifsql records``: a row per record."""
