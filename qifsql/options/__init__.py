"""Options that several commands share, with their types, limits and output."""
