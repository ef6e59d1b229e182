"""Attacks on releases without a person key: transition rules link the records."""
