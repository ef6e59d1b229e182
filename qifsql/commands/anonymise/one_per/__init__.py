"""One random record of each person, with all columns or without some."""
