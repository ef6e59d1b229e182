"""Local suppression: as few cells as possible, and groups of equal cells that are large enough."""
