"""``qifsql attack``: the success of one adversary."""
