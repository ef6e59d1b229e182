"""``qifsql run``: a study, and only what has changed."""
