"""``qifsql sql``: the SQL of an attack."""
