"""A row per person: the expected success of an adversary with noisy knowledge."""
