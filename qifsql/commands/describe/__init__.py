"""Describe the columns: missing, distinct, entropy, people singled out, suggested roles."""
