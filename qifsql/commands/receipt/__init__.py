"""``qifsql receipt``: what a release tells of one person."""
