"""``qifsql inspect``: blocks, objects of information flow, records, the facts of one person."""
