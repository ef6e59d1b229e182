"""Cautions about estimates from a sample."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from qifsql.commands.estimate.sample import Counted, Weights
from qifsql.commands.estimate.spec import DISAGREEMENT
from qifsql.errors import plural, quoted
from qifsql.measures.uniqueness import SMALL, Sizes, Uniques, unique_match

ROUGH_FRACTION = Fraction(1, 100)  # below it, little is known of people outside the sample
NEAR_FRACTION = Fraction(1, 2)  # from it on, all measured estimates were near the truth
MODELS = ("zayatz", "pitman", "snb")
FEW_RECORDS = 100  # with fewer, models of block sizes are little more than a guess


def caution_of(sizes: Sizes, estimate: Uniques, *, even: bool) -> str | None:
    """Return the key in ``CAUTIONS`` of an estimate out of its range; None if it is in range.

    ``even``: the sample's blocks (``sizes``) are more even than in Pitman's model.
    """
    if estimate.number is None or sizes.fraction == 1:  # no answer, or no estimate: a count
        return None
    if not sizes.alone:
        return "none_alone"
    if sizes.records < FEW_RECORDS:
        return "few"
    method = estimate.takes or estimate.method  # Dankar's rule takes one of the others
    if method == "franconi_polettini":
        return method
    if method == "pitman":
        if even:
            return "even"
        return "pitman" if sizes.fraction <= SMALL else "pitman_large"
    if even and (method == "zayatz" or sizes.fraction < NEAR_FRACTION):
        return "even"
    return None if sizes.fraction >= NEAR_FRACTION else method


def cautions(
    sizes: Sizes,
    counted: Counted,
    estimates: Sequence[Uniques],
    weights: tuple[str, Weights] | None,
    unit: str,
    *,
    households: bool,
) -> Iterator[str]:
    """Yield the known failures of the estimates that can occur with this sample.

    ``counted`` has the risks of records. ``weights`` are the name and numbers of the weights, if
    any; ``unit`` is record or person. ``households``: their risks are estimated, too.
    """
    if weights is not None:
        yield from _weight_cautions(sizes, counted, *weights)
    if sizes.fraction == 1:
        return
    if households:
        yield (
            "the risks of households are made of the estimated risks of records, and are as "
            "uncertain; guesses about members are taken as independent, without which only the "
            "bounds hold"
        )
    if sizes.records < FEW_RECORDS:
        yield (
            f"{plural(sizes.records, unit)} are too few to fit a model to: take the estimates "
            "for no more than a guess"
            if sizes.records > 1
            else f"one {unit} is too few to fit a model to: take the estimates for a guess"
        )
    for estimate in estimates:
        if estimate.problem:
            yield f"{estimate.method} has no answer: {estimate.problem}"
        elif estimate.remark:
            yield f"{estimate.method}: {estimate.remark}"
    if sizes.alone:
        yield from _record_cautions(sizes, counted, estimates)
        yield from _method_cautions(sizes, estimates)
    else:
        yield (
            "nobody is unique in the sample, so every method says that nobody is in the "
            "population; somebody may be, among those who were not drawn"
        )


def _record_cautions(sizes: Sizes, counted: Counted, estimates: Sequence[Uniques]) -> Iterator[str]:
    """Yield where the risks of records contradict what needs no model, or the uniques."""
    match, risk = unique_match(sizes), float(counted.unique_risks / sizes.alone)
    if match is not None and match > DISAGREEMENT * risk:
        yield (
            f"the risk of records is too low here: {risk:.2g} on average for the uniques of the "
            f"sample, though a unique match is right with {match:.2g}, which needs no model; it "
            "looks at each block alone, and does not see that most blocks are small"
        )
    # By the highest estimate, so many uniques of the sample are unique in the population.
    numbers = [e.number for e in estimates if e.number is not None and e.method in MODELS]
    certain = min(max(numbers, default=0.0) * float(sizes.fraction), float(sizes.alone))
    expected = float(counted.risks)
    if certain > expected:
        yield (
            f"the risks of records contradict the uniques: about {expected:,.3g} links are right "
            f"by the first, but {certain:,.3g} of the sample's uniques are unique in the "
            "population by the second, and their links are all right; take the higher number"
        )


def _method_cautions(sizes: Sizes, estimates: Sequence[Uniques]) -> Iterator[str]:
    """Yield that the sample is too small for the methods, or that they disagree."""
    numbers = {e.method: e.number for e in estimates if e.number and e.method in MODELS}
    if sizes.fraction < ROUGH_FRACTION:
        yield (
            f"the sample is less than {float(ROUGH_FRACTION):.0%} of the population: Zayatz and "
            "SNB then promise far too many uniques, and Pitman's model is a guess about people who "
            "were never seen"
        )
    elif numbers and max(numbers.values()) > DISAGREEMENT * min(numbers.values()):
        smallest, largest = (end(numbers, key=lambda m: numbers[m]) for end in (min, max))
        times = numbers[largest] / numbers[smallest]
        yield (
            f"the methods disagree: {largest} expects {times:.1f} times as "
            f"many uniques as {smallest}; take the highest where a wrong release would harm"
        )


def _weight_cautions(sizes: Sizes, counted: Counted, name: str, weights: Weights) -> Iterator[str]:
    """Yield the meaning of the weights, and their properties that the methods cannot use."""
    represented = _weight_text(weights.smallest)
    if weights.smallest != weights.largest:
        represented += f" to {_weight_text(weights.largest)}"
    yield (
        f"weights {quoted(name)} are taken for people: a record stands for {represented}, all "
        f"for {sizes.population:,}, which must be the population's own number"
    )
    if weights.smallest != weights.largest and sizes.fraction < 1:
        yield (
            "Zayatz, Pitman, SNB and the chance of a unique match know only the mean of the "
            "weights: where they differ much, or people were drawn together (households), they "
            "are rough"
        )
    if counted.complete and sizes.fraction < 1:
        yield (
            f"of {plural(counted.complete, 'block')} the weights add up to no more than the "
            "records: they are taken for the whole block of the population"
        )


def _weight_text(n: Fraction) -> str:
    """Return a weight as text, rounded to a whole number if it is large."""
    return f"{round(n):,}" if n >= 100 or n.denominator == 1 else f"{float(n):.4g}"
