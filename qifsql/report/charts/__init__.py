"""Results as charts. A chart shows names of columns and counts, never a value of a person."""
