"""Options that several commands share, their types, limits and output."""
