"""The three questions of the Article 29 Working Party: the opinion of the preset wp216."""
