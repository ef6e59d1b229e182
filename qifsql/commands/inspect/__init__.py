"""Show the blocks (equivalence classes) of the partition, or what is behind them."""
