"""``qifsql compare``: releases next to the original."""
