"""``qifsql link``: a release and a register."""
