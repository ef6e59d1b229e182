"""``qifsql wp29``: the three questions of the Article 29 Working Party."""
