"""Analyses of a release and of its original: pairs of columns, and models, before and after."""
