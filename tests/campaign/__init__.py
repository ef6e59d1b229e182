"""A campaign against the command line: hostile lines, damaged files and kills, each judged."""
