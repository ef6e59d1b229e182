"""What users write in TOML: studies, which list attacks and sweeps, and policies with rules."""
