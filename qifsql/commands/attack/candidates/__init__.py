"""Attacks of somebody with raw knowledge of people, who looks for their records in a release."""
