"""The assumptions of each method, and the range in which it was near the truth."""

APART = 2  # estimates disagree if one is more than this many times another

ASSUMES = {
    "dankar": "nothing itself: it uses the method that suits the sampling fraction",
    "zayatz": "sizes of blocks are as frequent in the population as in the sample",
    "pitman": "sizes of blocks follow Pitman's law (Hoshino 2001)",
    "snb": "sizes of blocks are 1 + a negative binomial number",
    "franconi_polettini": (
        "the number of matching people who were not drawn is negative binomial (mu-Argus)"
    ),
    "exact": "everybody is in the sample",
}

CAUTIONS = {
    "few": "the sample has fewer than 100 records: only a rough guess",
    "none_alone": "nobody is unique in the sample, but somebody who was not drawn may be",
    "zayatz": (
        "too high for sampling fractions below 0.5: measured up to 7 times at 0.1, 55 times at 0.01"
    ),
    "snb": (
        "unstable for sampling fractions below 0.5: measured from 2.5 times too low to 55 "
        "times too high"
    ),
    "pitman": "for sampling fractions up to 0.1: measured from half the truth to 10 times too high",
    "pitman_large": "for sampling fractions up to 0.1: measured up to 2.5 times too high at 0.5",
    "even": "the blocks are more even than the method allows: several times too high is likely",
    "franconi_polettini": (
        "treats each block alone: far too low where most people are unique, too high where few are"
    ),
}
"""Cautions, by the condition under which an estimate is out of its range.

Measured: ``benchmarks/population.md``; Dankar et al. 2012 take Pitman's model up to a tenth."""
