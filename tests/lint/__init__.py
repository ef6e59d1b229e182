"""The lint: rules about the texts of the project that ruff does not have."""
