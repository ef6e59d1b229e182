"""Attack published tables of counts: what they prove, and what the best guess gets right."""
