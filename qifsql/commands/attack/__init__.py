"""``qifsql attack``: what one adversary gains."""
