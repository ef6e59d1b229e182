"""``qifsql open``: a local page to look at a file and to try changes."""
