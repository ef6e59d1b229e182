"""``qifsql blocks``: the blocks of the partition."""
