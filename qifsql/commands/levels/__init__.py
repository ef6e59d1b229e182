"""``qifsql levels``: k, l, t and their relatives."""
