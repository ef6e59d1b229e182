"""``qifsql link``: links between a release and a register."""
