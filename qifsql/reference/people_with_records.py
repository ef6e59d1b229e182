"""People with several records, of whom all are known, or one (M178, M179, M188, M189)."""

from collections import Counter
from collections.abc import Collection, Hashable
from fractions import Fraction
from typing import Any

from qifsql.reference import success
from qifsql.reference.microdata import Counts, Key, Names, Row, Rows, blocks, key, value
from qifsql.reference.syntactic_levels import Measure, assess, smaller

Multiset = frozenset[tuple[Key, int]]  # tuples of values, each with how often it occurs


def records_of(rows: Rows, person: str) -> list[list[Row]]:
    """Return the records of each person; a record without a person is one of its own."""
    people: dict[Hashable, list[Row]] = {}
    for place, row in enumerate(rows):
        name = value(row[person])
        people.setdefault((place,) if name is None else name, []).append(row)
    return list(people.values())


def multiset(rows: Rows, names: Names) -> Multiset:
    """Return the values of records in some columns, and how often each occurs."""
    return frozenset(Counter(key(row, names) for row in rows).items())


def all_known(rows: Rows, person: str, qids: Names, secret: str | None) -> list[dict[str, Any]]:
    """Return a record per person: ``known``, the multiset of her tuples (M178), and her ``secret``.

    The secret is the multiset of her values (M179), or her number without a secret. ``reported`` is
    the multiset of her values that are not missing, None if all are missing.
    """
    people: list[dict[str, Any]] = []
    for place, records in enumerate(records_of(rows, person)):
        of_person: dict[str, Any] = {"known": multiset(records, qids), "secret": place}
        reported = None
        if secret is not None:
            of_person["secret"] = multiset(records, [secret])
            reported = multiset(_with_secret(records, secret), [secret]) or None
        people.append({**of_person, "reported": reported})
    return people


def households_of(rows: Rows, person: str, household: str) -> list[set[Hashable]]:
    """Return the households of each person: all that her records name, or one of her own."""
    people = enumerate(records_of(rows, person))
    named = ((i, {value(row[household]) for row in records} - {None}) for i, records in people)
    return [homes or {("alone", i)} for i, homes in named]


def individuals(
    rows: Rows, person: str, qids: Names, secret: str | None, known_records: str
) -> list[tuple[Hashable, Hashable]]:
    """Return pairs of what is known of a person, and her secret (M191).

    If one record is known, there is a pair for each different record that she has.
    """
    pairs: list[tuple[Hashable, Hashable]] = []
    for place, records in enumerate(records_of(rows, person)):
        secret_of_person = place if secret is None else multiset(records, [secret])
        tuples: set[Any] = {key(row, qids) for row in records}
        places = tuples if known_records == "one" else [multiset(records, qids)]
        pairs += [(block, secret_of_person) for block in places]
    return pairs


def _with_secret(records: Rows, secret: str) -> Rows:
    return [record for record in records if value(record[secret]) is not None]


def suppressed_people(people: Rows, suppressed: Collection[Key]) -> list[Key]:
    """Return what is known of ``people`` (``all_known``) all of whose records are suppressed."""
    multisets = {person["known"] for person in people}
    return [(m,) for m in multisets if all(record in suppressed for record, _ in m)]


def beside_reported(
    rows: Rows,
    person: str,
    qids: Names,
    secret: str,
    *,
    known_records: str = "all",
    suppressed: Collection[Key] = (),
) -> dict[str, Any]:
    """Return the success against people who report the secret in a record: ``..._reported``.

    With them come ``reported`` (how many people these are) and ``certain_missing``, which is not
    defined (None) if one record is known; then also ``l``. ``suppressed`` as in ``attack``.
    """
    everybody = all_known(rows, person, qids, secret)
    hidden = suppressed_people(everybody, suppressed)
    numbers = success.beside_reported(everybody, ["known"], "reported", suppressed=hidden)
    people = [p | {"secret": p["reported"]} for p in everybody if p["reported"]]
    if known_records == "all":
        return numbers
    if not people:
        return numbers | {"certain_missing": None}
    prior = success.attack(people, ["known"], "secret")
    # the records of people who report the secret in one of them
    rows = [r for rs in records_of(rows, person) if _with_secret(rs, secret) for r in rs]
    of_one = one_known(rows, person, qids, secret, prior, column="reported", suppressed=suppressed)
    shares = [n for n in numbers if n.startswith(("prior_", "posterior_", "worst_"))]
    return {
        "reported": len(people),
        **{name: of_one[name.removesuffix("_reported")] for name in shares},
        "certain_reported": of_one["individuals_certain"],
        "certain_missing": None,
        "l": of_one["l"],
    }


def attack(
    rows: Rows,
    person: str,
    qids: Names,
    secret: str | None = None,
    *,
    known_records: str = "all",
    suppressed: Collection[Key] = (),
) -> dict[str, Any]:
    """Return the success against people of whom ``all`` records are known, or ``one``; k and l.

    ``l`` is the smaller of those for all people and for those who report the secret. ``suppressed``
    are the quasi-identifiers, such as all "*", of records that may be anybody's.
    """
    people = all_known(rows, person, qids, secret)
    hidden = suppressed_people(people, suppressed)
    column = None if secret is None else "secret"
    numbers = success.attack(people, ["known"], column, suppressed=hidden)
    if known_records == "all":
        numbers |= _least_blocks(people, column, hidden)
    else:
        numbers |= one_known(rows, person, qids, secret, numbers, suppressed=suppressed)
        if secret is not None and any(record["reported"] for record in people):
            of_reported = beside_reported(
                rows, person, qids, secret, known_records="one", suppressed=suppressed
            )
            numbers["l"] = min(numbers["l"], of_reported["l"])
    return numbers | {"people": len(people), "records": len(rows)}


def _least_blocks(
    people: Rows, secret: str | None, suppressed: Collection[Key]
) -> dict[str, int | None]:
    """Return ``k``, the fewest people of a block, and ``l``, the fewest secrets (None: no secret).

    ``people`` are those of ``all_known``, ``suppressed`` what is known of those who may be anybody.
    """
    kinds = success.kinds_of(
        blocks(people, [], secret), blocks(people, ["known"], secret), suppressed
    )
    sizes = [kind.size for kind in kinds]
    if secret is None:
        return {"k": min(sizes), "l": None}
    values = [kind.values for kind in kinds]
    if reporting := [person for person in people if person["reported"]]:
        of_reporting = blocks(reporting, [], "reported"), blocks(reporting, ["known"], "reported")
        values += [kind.values for kind in success.kinds_of(*of_reporting, suppressed)]
    return {"k": min(sizes), "l": min(values)}


def one_known(
    rows: Rows,
    person: str,
    qids: Names,
    secret: str | None,
    before: dict[str, Any],
    *,
    column: str = "secret",
    suppressed: Collection[Key] = (),
) -> dict[str, Any]:
    """Return the success of an adversary who knows one record, each as likely (M188, M189).

    The keys are those of ``success.attack``, k and l. ``before`` has the success before the
    release, which is that of all records; ``column`` of ``all_known`` is the secret. The block of
    ``suppressed`` records is everyone, but their best guesses are those of a group of their own.
    """
    secrets = [p[column] for p in all_known(rows, person, qids, secret)]
    people = [{key(row, qids) for row in records} for records in records_of(rows, person)]
    groups: dict[Key, Counter[Any]] = {}  # of each block, how many people have each secret
    for tuples, secret_of_person in zip(people, secrets, strict=True):
        for block in tuples:
            groups.setdefault(block, Counter())[secret_of_person] += 1
    chance = {b: _best_share(counts) for b, counts in groups.items()}
    everyone = Counter(secrets)
    groups = {b: everyone if b in suppressed else counts for b, counts in groups.items()}
    certain = {b for b, counts in groups.items() if len(counts) == 1}
    alone = {b for b, counts in groups.items() if counts.total() == 1}
    shares = [chance[key(row, qids)] for row in rows]
    after = success.Success(
        Fraction(sum(key(row, qids) in certain for row in rows), len(rows)),
        sum(shares, Fraction()) / len(rows),
        max(map(_best_share, groups.values())),
        sum(not tuples.isdisjoint(certain) for tuples in people),
    )
    certain_before, best_before = before["prior_deterministic"], before["prior_probabilistic"]
    prior = success.Success(certain_before, best_before, Fraction(), 0)
    return {
        "blocks": len(groups),
        "singled_out": sum(not tuples.isdisjoint(alone) for tuples in people),
        **success.compared(prior, after),
        "k": min(counts.total() for counts in groups.values()),
        "l": None if secret is None else min(map(len, groups.values())),
    }


def _best_share(counts: Counter[Any]) -> Fraction:
    """Return the share of the people with the most frequent secret."""
    return Fraction(max(counts.values()), counts.total())


def levels(
    rows: Rows,
    person: str,
    qids: Names,
    secret: str,
    *,
    measure: Measure,
    known_records: str,
    aim: Fraction | None = None,
) -> dict[str, Any]:
    """Return a level of people, as ``assess``: the one that protects less of two.

    The first takes a missing secret as a value; the second is of people who report their secret. If
    no secret is missing, or all are, there is only the first.
    """
    everybody = blocks_of_people(rows, person, qids, secret, known_records)
    level = assess(measure, *everybody, aim)
    reported = sum(value(row[secret]) is not None for row in rows)
    if reported in (0, len(rows)):
        return level
    reporting = blocks_of_people(rows, person, qids, secret, known_records, reported=True)
    return smaller(measure, level, assess(measure, *reporting, aim))


def blocks_of_people(
    rows: Rows, person: str, qids: Names, secret: str, known_records: str, *, reported: bool = False
) -> tuple[list[Counts], Counts]:
    """Return how many people of each block have each secret, and how many in all.

    ``reported``: people with a reported secret, the multiset of the values that are not missing.
    """
    groups: dict[Hashable, Counter[Any]] = {}
    totals: Counter[Any] = Counter()
    for records in records_of(rows, person):
        with_value = _with_secret(records, secret) if reported else records
        if not with_value:
            continue
        secret_of_person = multiset(with_value, [secret])
        totals[secret_of_person] += 1
        tuples = {key(row, qids) for row in records}
        for block in tuples if known_records == "one" else [multiset(records, qids)]:
            groups.setdefault(block, Counter())[secret_of_person] += 1
    return list(groups.values()), totals
