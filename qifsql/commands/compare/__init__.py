"""``qifsql compare``: releases beside the original."""
