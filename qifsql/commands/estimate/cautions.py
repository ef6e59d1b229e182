"""What to know before believing an estimate from a sample."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from qifsql.commands.estimate.sample import Counted, Weights
from qifsql.errors import quoted, several
from qifsql.measures.uniqueness import (
    REMARKS,
    SMALL,
    Sizes,
    Uniques,
    unique_match,
)

ROUGH = Fraction(1, 100)  # below this fraction little is known of those who were not drawn
THREE = ("zayatz", "pitman", "snb")
FEW = 100  # records of which models of their blocks' sizes are hardly more than a guess
APART = 2  # estimates of which one is so many times another
HALF = Fraction(1, 2)  # from this fraction on estimates were near the truth wherever measured

ASSUMES = {
    "dankar": "nothing of its own: it takes the method that suits the fraction",
    "zayatz": "sizes of blocks are as frequent in the population as in the sample",
    "pitman": "sizes of blocks follow Pitman's law (Hoshino 2001)",
    "snb": "sizes of blocks are 1 + a negative binomial number",
    "franconi_polettini": "look-alikes who were not drawn are negative binomial (mu-Argus)",
    "exact": "everybody is in the sample",
}

CAUTIONS = {
    "few": "the sample has fewer than 100 records: no more than a guess",
    "none_alone": "nobody is unique in the sample, but somebody who was not drawn may be",
    "zayatz": "too high for a sample of less than half: measured up to 7 times at a tenth, 55 "
    "times at 1 %",
    "snb": "unsteady for a sample of less than half: measured from 2.5 times too low to 55 times "
    "too high",
    "pitman": "measured from half the truth to 10 times too high for a sample of a tenth or less",
    "pitman_large": "made for a tenth or less: measured up to 2.5 times too high at a half",
    "even": "the blocks are more even than the method allows: several times too high is likely",
    "franconi_polettini": "sees each block alone: far too low where most people are unique, too "
    "high where few are",
}
"""When an estimate is out of the range in which it was near the truth.

Measured: ``benchmarks/population.md``; Dankar et al. 2012 take Pitman's model up to a tenth."""


def caution(sizes: Sizes, one: Uniques, *, even: bool) -> str | None:
    """Return the key in ``CAUTIONS`` of why an estimate is out of its range; None if it is not.

    ``even``: the blocks of the sample are more even than in Pitman's model.
    """
    if one.number is None or sizes.fraction == 1:
        return None
    if not sizes.alone:
        return "none_alone"
    if sizes.records < FEW:
        return "few"
    method = one.takes or one.method
    if method == "franconi_polettini":
        return method
    if method == "pitman":
        if even:
            return "even"
        return "pitman" if sizes.fraction <= SMALL else "pitman_large"
    if even and (method == "zayatz" or sizes.fraction < HALF):
        return "even"
    return None if sizes.fraction >= HALF else method


def cautions(
    sizes: Sizes,
    counted: Counted,
    estimates: Sequence[Uniques],
    weights: tuple[str, Weights] | None,
) -> Iterator[str]:
    """The known ways in which the estimates fail, where the sample is open to them.

    ``weights`` are the name and the numbers of the weights, where there are some.
    """
    if weights is not None:
        yield from _of_weights(sizes, counted, *weights)
    if sizes.fraction == 1:
        return
    if sizes.records < FEW:
        yield (
            f"{several(sizes.records, 'record')} are too few to fit a model to: take the estimates "
            "for no more than a guess"
            if sizes.records > 1
            else "one record is too few to fit a model to: take the estimates for a guess"
        )
    for one in estimates:
        if one.problem:
            yield f"{one.method} has no answer: {one.problem}"
        elif one.remark:
            yield f"{one.method}: {one.remark}"
    if not sizes.alone:
        yield (
            "nobody is unique in the sample, so every method says that nobody is in the "
            "population; somebody may be, among those who were not drawn"
        )
        return
    match, risk = unique_match(sizes), float(counted.alone / sizes.alone)
    if match is not None and match > APART * risk:
        yield (
            f"the risk of records is too low here: {risk:.2g} on average for the uniques of the "
            f"sample, though a unique match is right with {match:.2g}, which needs no model; it "
            "looks at each block alone, and does not see that most blocks are small"
        )
    numbers = {one.method: one.number for one in estimates if one.number and one.method in THREE}
    if sizes.fraction < ROUGH:
        yield (
            f"the sample is less than {float(ROUGH):.0%} of the population: Zayatz and SNB then "
            "promise far too many uniques, and Pitman's model is a guess about people who were "
            "never seen"
        )
    elif numbers and max(numbers.values()) > APART * min(numbers.values()):
        least, most = (end(numbers, key=lambda m: numbers[m]) for end in (min, max))
        yield (
            f"the methods disagree: {most} expects {numbers[most] / numbers[least]:.1f} times as "
            f"many uniques as {least}; take the highest where a wrong release would harm"
        )


def is_even(estimates: Sequence[Uniques]) -> bool:
    """Return whether Pitman's model says that the blocks are more even than it allows."""
    return any(one.method == "pitman" and one.remark == REMARKS["even"] for one in estimates)


def _of_weights(sizes: Sizes, counted: Counted, name: str, weights: Weights) -> Iterator[str]:
    """What weights mean here, and what about them the methods cannot bear."""
    each = _number(weights.least)
    if weights.least != weights.most:
        each += f" to {_number(weights.most)}"
    yield (
        f"weights {quoted(name)} are taken for people: a record stands for {each}, all "
        f"for {sizes.population:,}, which must be the population's own number"
    )
    if weights.least != weights.most and sizes.fraction < 1:
        yield (
            "Zayatz, Pitman, SNB and the chance of a unique match know only the mean of the "
            "weights: where they differ much, or people were drawn together (households), they "
            "are rough"
        )
    if counted.complete and sizes.fraction < 1:
        yield (
            f"of {several(counted.complete, 'block')} the weights add up to no more than the "
            "records: they are taken for the whole block of the population"
        )


def _number(n: Fraction) -> str:
    """A weight: whole where it is large."""
    return f"{round(n):,}" if n >= 100 or n.denominator == 1 else f"{float(n):.4g}"
