"""``qifsql init``: a first study."""
