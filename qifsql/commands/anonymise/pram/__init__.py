"""Post-randomisation (PRAM): cells of categories are drawn again by a transition matrix."""
