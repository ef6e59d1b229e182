"""Attacks of an adversary who learns from one file and guesses secrets of the people of another."""
