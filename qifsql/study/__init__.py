"""Files that users write in TOML: studies, which list attacks and sweeps, and policies."""
