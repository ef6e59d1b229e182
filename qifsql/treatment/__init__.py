"""Treatment: one record per person, and what that does to the risk."""
