"""What comes out: results, where they come from, files."""
