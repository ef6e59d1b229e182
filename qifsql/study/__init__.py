"""Files that users write in TOML: studies (lists of attacks, sweeps, checks), and policies."""
