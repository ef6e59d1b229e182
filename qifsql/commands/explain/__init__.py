"""``qifsql explain``: the meaning of a measure."""
