"""Links one to one: each record of a later release is of at most one person, so people compete.

The model of M60 treats each record x alone. Here all records are matched at once. A person of one
release is in the later one with the presence rho, with values that follow the law L. The others in
the later release are new. Their values follow its frequencies: those of the exact columns together,
and of each other column alone (background q). The weight of a matching of records is

    the product over its pairs (x, y) of  rho L(x, y) / ((1 - rho) lambda q(y)),

where lambda is the expected number of new people, which follows from the sizes of both releases.
The probability of a link is the weight of the matchings with it, as a share of the weight of all
matchings. If nobody leaves or nobody is new (``INFINITE_ODDS``), the limit holds: only matchings
with the most pairs count. These are the perfect matchings, if there are any.

There are too many matchings to count, so belief propagation computes the probabilities in rounds.
It is exact if the candidates of the records form no cycle, and approximate otherwise (J. L.
Williams, R. Lau, Approximate evaluation of marginal association probabilities with belief
propagation, IEEE Transactions on Aerospace and Electronic Systems 50, 2014). Each record claims its
candidates, each more strongly if the others are weak. Each candidate answers with the weight that
all other claims leave. Records with the same exact columns have settled when their probabilities
change by less than a ten-thousandth per record or, if their candidates can form no cycle, when no
answer changes any more.
"""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.commands.attack.keyless.chain import Chain
from qifsql.errors import InputError, plural
from qifsql.query.columns import double, union
from qifsql.query.plan import Plan, Step

MOST_ROUNDS = 100
MOST_PAIRS = 100_000_000  # of kinds of records that are matched
INFINITE_ODDS = 2.0**500  # of a link, if nobody leaves or nobody is new
IMPOSSIBLE_ODDS = 2.0**-250  # then lower odds against the best candidate count as 0
APPROXIMATE = (
    "one to one, chances are exact where the candidates of the records form no cycle; elsewhere "
    "belief propagation is approximate: on 14,400 random pairs of releases of up to 7 records link "
    "vulnerability was at most 0.036 too low and 0.45 too high, most where presence is near 1"
)


def match(chain: Chain) -> tuple[str, ...]:
    """Make the links of the chain one to one; return notes on the result.

    New weights of links come from belief propagation. The tables ``totals_i_j``, a row per kind of
    record of release i with its links to release j, are made again from them. Raise InputError if
    more people are expected than a release has records, or if too many kinds would be compared.
    """
    if chain.presence == 0:  # nobody is in a later release
        return ()
    notes = [APPROXIMATE]
    for earlier, later in chain.pairs:
        if records := _exchange_messages(chain, earlier, later):
            before, after = (chain.releases[i - 1].dataset.name for i in (earlier, later))
            notes.append(
                f"after {MOST_ROUNDS} rounds of belief propagation the links of "
                f"{plural(records, 'record')} of {before} to {after} had not quite settled"
            )
    chain.matched = True  # from here on ``weighed`` takes the new weights
    for earlier, later in chain.pairs:
        totals, leavers = (f"{name}_{earlier}_{later}" for name in ("totals", "leavers"))
        steps = (*chain.weighed([(earlier, later)]), chain.step("totals"))
        query = chain.query("found", leavers=leavers)
        chain.tables.drop(totals)
        chain.tables.make(totals, Plan(steps, query))
        chain.tables.drop(leavers)
    return tuple(notes)


def _exchange_messages(chain: Chain, earlier: int, later: int) -> int:
    """Compute the weights of links by belief propagation; return how many records did not settle.

    In each round, records claim their candidates, and candidates answer by offers. Records whose
    probabilities no longer change have settled: their last offers are kept (``settled``). At the
    end there are two tables, here of the releases 1 and 2: ``offers_1_2`` with the weights of
    pairs, ``leavers_1_2`` with those of being in no later release. Refuses more than ``MOST_PAIRS``
    pairs of kinds, which would take too long.
    """
    counted = exp.select("CAST(coalesce(sum(spots), 0) AS BIGINT)")
    counted = counted.from_(exp.table_(f"totals_{earlier}_{later}"))
    ((pairs,),) = chain.tables.answer(counted, "counting candidates")
    if pairs > MOST_PAIRS:
        raise InputError(
            f"{pairs:,} kinds of candidates would be matched one to one, more than {MOST_PAIRS:,}; "
            "add a column that matches exactly to the link rules, or leave one-to-one out"
        )
    flows = _odds_step(chain, earlier, later)
    tables = {"mine": f"kinds_{earlier}", "candidates": f"kinds_{later}"}
    _keep_first_offers(chain, earlier, later, flows, tables)
    settled, unsettled = _run_rounds(chain, tables)
    _keep_last_offers(chain, earlier, later, flows, (*settled, "offers"))
    chain.tables.drop("claimants", "rivalry", *settled, "offers")
    return unsettled


def _run_rounds(chain: Chain, tables: dict[str, str]) -> tuple[list[str], int]:
    """Exchange claims and offers in rounds; return tables of settled offers, and unsettled records.

    A table of settled offers has those to the records that settled in one round; the table
    ``offers`` has the last offers to the others. ``tables`` are the kinds of both releases.
    """
    settled: list[str] = []
    unsettled: int | None = None
    statement_count = 0
    for number in range(1, MOST_ROUNDS + 1):
        what = f"matching, round {number}"
        _keep_messages(chain, "claims", "claims", sums="sought", what=what, tables=tables)
        chain.tables.make("restless", chain.query("restless", **tables), what)
        query = exp.select("CAST(coalesce(sum(records), 0) AS BIGINT)").from_("rivalry")
        query = query.where("exact IN (SELECT exact FROM restless)")
        ((n,),) = chain.tables.answer(query, "matching")
        before, unsettled = unsettled, int(n)
        if unsettled != before:  # more records have settled
            settled.append(f"settled_{number}")
            chain.tables.make(settled[-1], chain.query("settled_offers"), what)
        chain.tables.drop("offers")
        _keep_messages(chain, "answers", "offers", sums="claimed", what=what, tables=tables)
        chain.tables.drop("claims", "restless")
        # Every round sends the same statements, so only those of the first are listed.
        statement_count = statement_count or len(chain.tables.statements)
        if not unsettled:
            break
    del chain.tables.statements[statement_count:]
    return settled, unsettled or 0


def _keep_last_offers(
    chain: Chain, earlier: int, later: int, flows: Step, tables: Sequence[str]
) -> None:
    """Create the tables ``offers_i_j`` and ``leavers_i_j`` of two releases: the weights of links.

    They follow from the last offers to each kind of record, which are the rows of ``tables``.
    ``offers_i_j`` has the weight of each possible pair of kinds, ``leavers_i_j`` that of being in
    no later release.
    """
    queries = [exp.select("kind", "other", "message").from_(table) for table in tables]
    gathered = Step(
        "gathered", "One row per kind of record and kind of candidates.", union(queries)
    )
    leavers = f"leavers_{earlier}_{later}"
    chain.tables.make(leavers, Plan((gathered, flows), chain.query("leavers")), "matching")
    final = chain.query("final_offers", leavers=leavers)
    chain.tables.make(f"offers_{earlier}_{later}", Plan((gathered, flows), final), "matching")


def _keep_first_offers(
    chain: Chain, earlier: int, later: int, flows: Step, tables: dict[str, str]
) -> None:
    """Create the tables of belief propagation between two releases, before the first round.

    ``claimants`` are the kinds of records that have candidates, ``rivalry`` tells how many compete
    for them, ``offers`` has the odds of each pair.
    """
    odds = (chain.compared(earlier, later), flows, chain.step("odds"))
    for name in ("claimants", "rivalry"):
        chain.tables.make(name, Plan(odds, chain.query(name, **tables)), "matching")
    plan = Plan((*odds, chain.step("offers", "messages")), chain.query("wholes"))
    chain.tables.make("offers", plan, "matching")


def _keep_messages(
    chain: Chain, view: str, table: str, *, sums: str, what: str, tables: dict[str, str]
) -> None:
    """Create the table of the messages of half a round, of claims or of offers: a row per link.

    A message is the odds of a link against all other links of the sender. The view ``sums`` adds up
    what each sender heard in the last half round, ``heard`` all but one link, and ``view`` divides;
    ``wholes`` makes whole numbers. ``what`` are the words of the progress bar.
    """
    # Each view reads those before it.
    steps = (chain.step(sums, "sums", **tables), chain.step("heard"), chain.step(view, "messages"))
    chain.tables.make(table, Plan(steps, chain.query("wholes")), what)


def _odds_step(chain: Chain, earlier: int, later: int) -> Step:
    """Return the step ``flows``: the odds that two records are of one person, before their values.

    These are the expected people in both releases against those who leave or are new. Refuses a
    presence by which more people are expected in the later release than it has records.
    """
    before, after = chain.records[earlier - 1], chain.records[later - 1]
    expected = chain.presence * before
    if expected > after:
        release, following = (chain.releases[i - 1].dataset.name for i in (earlier, later))
        raise InputError(
            f"{float(expected):,.10g} people of {release} are expected in {following}, which has "
            f"{after:,} records, each of one person; let the presence be at most "
            f"{10_000 * after // before / 10_000:.4f}"
        )
    against = (1 - chain.presence) * (after - expected)
    if against:
        columns = {"odds": float(chain.presence / against), "impossible": 0.0}
    else:  # nobody leaves, or nobody is new
        columns = {"odds": INFINITE_ODDS, "impossible": IMPOSSIBLE_ODDS}
    doc = "One row: the odds of a link but for values, and odds that are taken for 0."
    query = exp.select(*(exp.alias_(double(n), name) for name, n in columns.items()))
    return Step("flows", doc, query)
