"""``qifsql estimate``: uniqueness in a population, estimated from a sample."""
