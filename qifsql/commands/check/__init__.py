"""``qifsql check``: a release against a policy."""
