"""``qifsql demo``: the main job on the bundled sample."""
