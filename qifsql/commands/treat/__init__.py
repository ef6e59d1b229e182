"""``qifsql treat``: one record per person."""
