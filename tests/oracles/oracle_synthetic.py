"""An oracle of synthetic releases: everything is counted person by person, in fractions.

A file is a list of pairs of a tuple of quasi-identifiers and a secret, with None as a value.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Person = tuple[tuple[object, ...], object]
File = Sequence[Person]


def measures(original: File, synthetic: File, control: File | None) -> dict[str, Fraction | None]:
    """Return all measures of a release that have no interval, and differences."""
    of = {name: [(q, t) for q, t in file] for name, file in (("d", original), ("s", synthetic))}
    d, s = of["d"], of["s"]
    in_d, in_s = Counter(q for q, _ in d), Counter(q for q, _ in s)
    values_d = {q: {t for other, t in d if other == q} for q in in_d}
    values_s = {q: {t for other, t in s if other == q} for q in in_s}
    people = len(d)
    alone = [q for q, _ in d if in_d[q] == 1]
    certain = [(q, t) for q, t in d if len(values_s.get(q, ())) == 1]
    correct = [(q, t) for q, t in certain if values_s[q] == {t}]
    present = sum(in_s[q] > 0 for q, _ in d)
    found: dict[str, Fraction | None] = {
        "UiO": Fraction(len(alone), people),
        "UiS": Fraction(sum(in_s[q] == 1 for q, _ in s), len(s)),
        "UiOiS": Fraction(sum(in_s[q] > 0 for q in alone), people),
        "repU": Fraction(sum(in_s[q] == 1 for q in alone), people),
        "iS": Fraction(present, people),
        "Dorig": Fraction(sum(len(values_d[q]) == 1 for q, _ in d), people),
        "DiS": Fraction(len(certain), people),
        "DiSCO": Fraction(len(correct), people),
        "DiSDiO": Fraction(sum(len(values_d[q]) == 1 for q, _ in correct), people),
        "TCAP": Fraction(len(correct), present) if present else None,
        "right_when_certain": Fraction(len(correct), len(certain)) if certain else None,
        "success_original": success(s, d),
        "prior_original": constant(d),
    }
    if control is not None:
        found |= {"success_control": success(s, control), "prior_control": constant(control)}
        found["individual_leak"] = success(s, d) - success(s, control)
        found["population_knowledge"] = success(s, control) - constant(control)
    return found


def guesses(synthetic: File, q: tuple[object, ...]) -> list[object]:
    """Return the best guesses about a person: the most frequent values among equal records."""
    alike = [t for other, t in synthetic if other == q] or [t for _, t in synthetic]
    counts = Counter(alike)
    return [t for t, n in counts.items() if n == max(counts.values())]


def chance(synthetic: File, person: Person) -> Fraction:
    """Return the chance that one of the best guesses, drawn evenly, is right."""
    best = guesses(synthetic, person[0])
    return Fraction(best.count(person[1]), len(best))


def success(synthetic: File, people: File) -> Fraction:
    """Return the share of people about whom the adversary is right."""
    return sum((chance(synthetic, person) for person in people), Fraction()) / len(people)


def constant(people: File) -> Fraction:
    """Return the share of people with their most frequent value."""
    return Fraction(max(Counter(t for _, t in people).values()), len(people))


def both(synthetic: File, control: File) -> Fraction:
    """Return how many of the control both adversaries are right about."""
    counts = Counter(t for _, t in control)
    modes = [t for t, n in counts.items() if n == max(counts.values())]
    return sum((chance(synthetic, p) / len(modes) for p in control if p[1] in modes), Fraction())
