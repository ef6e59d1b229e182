"""``qifsql unicity``: how few points single people out."""
