"""``qifsql dp``: noisy counts, their privacy and utility."""
