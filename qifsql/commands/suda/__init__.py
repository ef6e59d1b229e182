"""``qifsql suda``: minimal sample uniques, special uniques and their scores."""
