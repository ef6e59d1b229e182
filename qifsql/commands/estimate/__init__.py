"""``qifsql estimate``: uniqueness in a population, from a sample."""
