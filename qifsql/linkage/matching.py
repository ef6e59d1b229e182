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
claims leave. Where nobody leaves or is new, half a person does.
"""

from fractions import Fraction

from sqlglot import exp

from qifsql.errors import InputError
from qifsql.linkage.chain import Chain, double
from qifsql.plan import Plan, Step

ROUNDS = 200  # at most
STILL = Fraction(1, 10_000)  # chances that move less per record, all together, have settled
PAIRS = 100_000_000  # kinds that may be compared, at most


def match(chain: Chain) -> tuple[str, ...]:
    """Let the links of the chain be one to one; what is to be said about that.

    InputError where more people are expected than a release has records, or too many kinds of
    records would be compared.
    """
    if chain.presence == 0:
        return ()
    restless = [name for pair in chain.pairs if (name := _match(chain, *pair))]
    chain.matched = True
    for earlier, later in chain.pairs:
        totals = f"totals_{earlier}_{later}"
        steps = (*chain.weighed([(earlier, later)]), chain.step("totals"))
        query = chain.query("found", leavers=f"leavers_{earlier}_{later}")
        if chain.presence == 1:
            query = exp.select("*").from_("totals")
        chain.drop(totals)
        chain.keep(totals, Plan(steps, query))
        chain.drop(f"leavers_{earlier}_{later}")
    if restless:
        return (
            f"after {ROUNDS} rounds of belief propagation the chances of links from "
            f"{' and from '.join(restless)} still moved, by {float(STILL)} per record or more",
        )
    return ()


def _match(chain: Chain, earlier: int, later: int) -> str | None:
    """Keep the weights of one pair of releases; which they are, where these have not settled."""
    _check_pairs(chain, earlier, later)
    flows = _flows(chain, earlier, later)
    odds = (chain.compared(earlier, later), flows, chain.step("odds"))
    offers, leavers = (f"{name}_{earlier}_{later}" for name in ("offers", "leavers"))
    chain.keep(leavers, Plan(odds, chain.query("leavers")), "matching")
    query = chain.query("offers", leavers=leavers)
    chain.keep(offers, Plan(odds, query), "matching")
    own = {"leavers": leavers, "mine": f"kinds_{earlier}", "candidates": f"kinds_{later}"}
    told = 0
    for number in range(1, ROUNDS + 1):
        what = f"matching, round {number}"
        sought = chain.step("sought", offers=offers, **own)
        chain.keep("claims", Plan((sought,), chain.query("claims", offers=offers)), what)
        ((moved,),) = chain.rows(Plan((), chain.query("unrest", **own)), what)
        settled = Fraction(int(moved), 2**60) <= STILL * chain.records[earlier - 1]
        if not settled:
            chain.drop(offers)
            answers = Plan((chain.step("claimed", **own),), chain.query("answers"))
            chain.keep(offers, answers, what)
        chain.drop("claims")
        told = told or len(chain.sent)  # every round sends the same
        if settled:
            break
    del chain.sent[told:]
    if settled:
        return None
    one, other = (chain.releases[i - 1].dataset.name for i in (earlier, later))
    return f"{one} to {other}"


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
