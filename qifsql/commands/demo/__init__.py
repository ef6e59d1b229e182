"""Run the main job on the bundled sample: print the tables, write the reports."""
