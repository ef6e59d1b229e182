"""``qifsql sweep``: every subset of the quasi-identifiers at once."""
