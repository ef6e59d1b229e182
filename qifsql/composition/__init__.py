"""Composition: what several sanitised releases tell together about the people who are in all."""
