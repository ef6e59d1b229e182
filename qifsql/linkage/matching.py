"""Links one to one: a record of a later release is of one person at most, so that people compete.

The model of spec section 8 looks at one record x at a time. Here all of them are matched at once: a
person of one release is in the later one with the presence rho and there as the law L says; others
are new there, with the exact columns together and each other column by itself as they are in that
release (background q). A matching of records weighs

    the product over its pairs (x, y) of  rho L(x, y) / ((1 - rho) lambda q(y)),

where lambda new people are expected, so many that both releases have the size they have. The chance
of a link is its share of all matchings. Nobody can count these; belief propagation finds the
chances in rounds. It is exact where the candidates of the records form no cycle, and close to it
elsewhere (J. L. Williams, R. Lau, Approximate evaluation of marginal association probabilities with
belief propagation, IEEE Transactions on Aerospace and Electronic Systems 50, 2014): each record
claims its candidates, as strongly as it has no others; each candidate answers with what all other
claims leave. Records that match exactly have settled when their chances move by less than a
ten-thousandth per record. Where nobody leaves or is new, half a person does.
"""

from fractions import Fraction

from sqlglot import exp

from qifsql.errors import InputError, several
from qifsql.linkage.chain import Chain, double
from qifsql.plan import Plan, Step

ROUNDS = 100  # at most
PAIRS = 100_000_000  # kinds that may be compared, at most


def match(chain: Chain) -> tuple[str, ...]:
    """Let the links of the chain be one to one; what is to be said about that.

    InputError where more people are expected than a release has records, or too many kinds of
    records would be compared.
    """
    if chain.presence == 0:
        return ()
    notes = []
    for earlier, later in chain.pairs:
        if records := _match(chain, earlier, later):
            one, other = (chain.releases[i - 1].dataset.name for i in (earlier, later))
            notes.append(
                f"after {ROUNDS} rounds of belief propagation the links of "
                f"{several(records, 'record')} of {one} to {other} had not quite settled"
            )
    chain.matched = True
    for earlier, later in chain.pairs:
        totals, leavers = (f"{name}_{earlier}_{later}" for name in ("totals", "leavers"))
        steps = (*chain.weighed([(earlier, later)]), chain.step("totals"))
        query = chain.query("found", leavers=leavers)
        if chain.presence == 1:
            query = exp.select("*").from_("totals")
        chain.drop(totals)
        chain.keep(totals, Plan(steps, query))
        chain.drop(leavers)
    return tuple(notes)


def _match(chain: Chain, earlier: int, later: int) -> int:
    """Keep the weights of one pair of releases; how many records have not settled."""
    _check_pairs(chain, earlier, later)
    odds = (chain.compared(earlier, later), _flows(chain, earlier, later), chain.step("odds"))
    leavers, mine, theirs = f"leavers_{earlier}_{later}", f"kinds_{earlier}", f"kinds_{later}"
    own = {"leavers": leavers, "mine": mine, "candidates": theirs}
    chain.keep(leavers, Plan(odds, chain.query("leavers", **own)), "matching")
    chain.keep("offers", Plan(odds, chain.query("offers", **own)), "matching")
    pieces, before, told = [], -1, 0
    for number in range(1, ROUNDS + 1):
        what = f"matching, round {number}"
        claims = Plan((chain.step("sought", **own),), chain.query("claims"))
        chain.keep("claims", claims, what)
        chain.keep("restless", Plan((), chain.query("restless", **own)), what)
        records = _restless(chain, leavers)
        if records != before:
            pieces.append(f"settled_{number}")
            chain.keep(pieces[-1], Plan((), chain.query("settled_offers")), what)
        before = records
        chain.drop("offers")
        answers = Plan((chain.step("claimed", **own),), chain.query("answers"))
        chain.keep("offers", answers, what)
        chain.drop("claims", "restless")
        told = told or len(chain.sent)  # every round sends the same
        if not records:
            break
    del chain.sent[told:]
    every = [exp.select("kind", "other", "weight").from_(piece) for piece in (*pieces, "offers")]
    union: exp.Query = exp.union(*every, distinct=False)
    chain.keep(f"offers_{earlier}_{later}", Plan((), union), "matching")
    chain.drop(*pieces, "offers")
    return records


def _restless(chain: Chain, leavers: str) -> int:
    """How many records have not settled."""
    records = exp.func("COALESCE", exp.Sum(this=exp.column("records")), 0)
    query = exp.select(exp.cast(records, "BIGINT")).from_(leavers)
    query = query.where(
        exp.In(this=exp.column("exact"), query=exp.select("exact").from_("restless").subquery())
    )
    ((found,),) = chain.rows(Plan((), query), "matching")
    return int(found)


def _flows(chain: Chain, earlier: int, later: int) -> Step:
    """How many stay, leave and are new; InputError where more stay than there is room for."""
    before, after = chain.records[earlier - 1], chain.records[later - 1]
    expected = chain.presence * before
    if expected > after:
        one, other = (chain.releases[i - 1].dataset.name for i in (earlier, later))
        raise InputError(
            f"{float(expected):,.10g} people of {one} are expected in {other}, which has "
            f"{after:,} records, each of one person; let the presence be at most "
            f"{10_000 * after // before / 10_000:.4f}"
        )
    leaving = max(1 - chain.presence, Fraction(1, 2 * before))
    flows = {"staying": 1 - leaving, "leaving": leaving}
    flows["newcomers"] = max(after - expected, Fraction(1, 2))
    columns = [exp.alias_(double(float(n)), name) for name, n in flows.items()]
    return Step("flows", "One row: how many people stay, leave and are new.", exp.select(*columns))


def _check_pairs(chain: Chain, earlier: int, later: int) -> None:
    """Refuse what would take too long."""
    spots = exp.cast(exp.func("COALESCE", exp.Sum(this=exp.column("spots")), 0), "BIGINT")
    counted = exp.select(spots).from_(f"totals_{earlier}_{later}")
    ((pairs,),) = chain.rows(Plan((), counted), "counting candidates")
    if pairs > PAIRS:
        raise InputError(
            f"{pairs:,} kinds of candidates would be matched one to one, more than {PAIRS:,}; "
            "add a column that matches exactly to the link rules, or leave one-to-one out"
        )
