"""Check a release against a policy; exit code 4 if a level is not met."""
