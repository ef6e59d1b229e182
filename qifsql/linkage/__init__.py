"""Linking: a release with a register, hashes with what was hashed, logs with people."""
