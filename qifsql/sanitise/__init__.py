"""Sanitised releases: how they are made, what their generalised cells stand for, who is where."""
