"""Bounds on measures that a release must keep: ``repU<=0.01``."""

from collections.abc import Iterable, Sequence

from qifsql.commands.synthetic.spec import SyntheticOptions
from qifsql.data.types import Row
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures import release_measures as measures
from qifsql.measures.measure_bounds import Bound, read_bound

MEASURES = (
    *(*measures.OF_RELEASE, *measures.OF_SECRET, *measures.OF_GUESSES, *measures.DIFFERENCES),
    *(*measures.OF_CLASSIFIERS, *measures.OF_QUESTIONS, *measures.OF_DISTANCES),
)


def check_bound(
    bound: Bound, options: SyntheticOptions, *, has_secret: bool, has_control: bool
) -> None:
    """Refuse a bound on a measure that these options do not compute."""
    needs = (  # measures, the option that they need, and the hint
        (measures.ABOUT_SECRETS, has_secret, "is about a secret; name one with --secret"),
        (measures.OF_CONTROL, has_control, "needs a control; name one with --control"),
        (measures.OF_CLASSIFIERS, options["learner"], "is about a classifier; add --learner"),
        (measures.OF_QUESTIONS, options["questions"], "is about a question; add --questions"),
        (measures.OF_ATTEMPTS, options["attempts"], "is about attempts; add --attempts"),
        (measures.OF_NEAREST, options["links"], "is about drawn people; add --links"),
        (measures.OF_LINKS, options["split"], "is about two sources; add --split"),
        (measures.OF_DISTANCES, options["distances"], "is about distances; add --distances"),
    )
    for names, option, hint in needs:
        if bound.measure in names and not option:
            raise InputError(f"bound {quoted(bound.text)} {hint}")


def failure_note(bound: Bound, rows: Iterable[Row]) -> str:
    """Return a note on the releases and secrets that exceed a bound; empty if none does.

    A share of nobody (None) keeps every bound.
    """
    failures = []
    for row in rows:
        value = row["value"]
        if row["measure"] == bound.measure and value is not None and bound.distance(value):
            about = [row["release"], *([row["secret"]] if row["secret"] is not None else [])]
            failures.append(f"{', '.join(about)}: {value:.4g}")
    return f"not met: {bound.text} ({'; '.join(failures)})" if failures else ""


def parse_bounds(texts: Sequence[str]) -> list[Bound]:
    """Return the bounds that texts state; raise InputError if a text states none."""
    bounds = []
    for text in texts:
        bound = read_bound(text)
        if bound is None:
            raise InputError(
                f"invalid bound {quoted(text)}; write, for example, repU<=0.01, with a measure of "
                "the result"
            )
        if bound.measure not in MEASURES:
            hint = did_you_mean(bound.measure, MEASURES)
            raise InputError(f"there is no measure {quoted(bound.measure)} to bound{hint}")
        bounds.append(bound)
    return bounds
