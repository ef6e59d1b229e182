"""``qifsql receipt``: the fewest facts that single out one person."""
