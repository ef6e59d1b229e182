"""``qifsql adversaries``: success of adversaries who know only some of the quasi-identifiers."""
