"""``qifsql blocks``: the partition."""
