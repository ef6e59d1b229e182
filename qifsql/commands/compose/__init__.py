"""Composition (intersection) attack: what several sanitised releases reveal together."""
