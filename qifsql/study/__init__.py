"""Studies: attacks and sweeps that a TOML file lists, run together, and only what has changed."""
