"""``qifsql start``: from a file to a report."""
