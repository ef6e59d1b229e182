"""``qifsql hyper``: prior, joint, channel, hyper."""
