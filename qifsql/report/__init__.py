"""Results for people: sentences and tables, views of the results with no numbers of their own."""
