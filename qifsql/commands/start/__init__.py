"""Go from a file to a report: suggest roles, ask, write a study, run it."""
