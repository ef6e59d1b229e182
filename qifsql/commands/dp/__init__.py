"""Compare the privacy loss and the utility of differentially private counts."""
