"""``qifsql unhash``: a dictionary attack on hashes."""
