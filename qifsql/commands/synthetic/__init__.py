"""``qifsql synthetic``: what synthetic releases say about the people behind them."""
