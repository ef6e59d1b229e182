"""``qifsql unicity``: people who are unique by a few of their records."""
