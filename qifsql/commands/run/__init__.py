"""``qifsql run``: run a study, and reuse results that have not changed."""
