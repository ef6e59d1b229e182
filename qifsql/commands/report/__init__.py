"""``qifsql report``: a report from stored results."""
