"""Link a release with a register of names: unique matches, and how many are correct."""
