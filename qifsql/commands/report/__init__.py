"""Write a report from stored results, for people who decide and for people who check."""
