"""``qifsql compose``: several sanitised releases together."""
