"""``qifsql synthetic``: the people behind synthetic releases, and what these say of them."""
