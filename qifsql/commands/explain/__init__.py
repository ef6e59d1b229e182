"""``qifsql explain``: what a measure means."""
