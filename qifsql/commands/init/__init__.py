"""``qifsql init``: a study to begin with."""
