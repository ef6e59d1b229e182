"""``qifsql compare``: releases compared with the original."""
