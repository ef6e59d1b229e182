"""``qifsql compare``: a file beside its releases, its changes, or other attributes."""
