"""Attacks on releases without a person key: the releases are linked by what people keep."""
