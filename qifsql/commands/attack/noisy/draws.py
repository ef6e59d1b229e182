"""The success of an adversary with noisy knowledge, estimated from people who are drawn.

A person is drawn by weight, then what is known of them by the laws. The mean of the chance of the
best guess is the probabilistic success. Source: M156.
"""

from fractions import Fraction

from sqlglot import exp

from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import Outcome
from qifsql.measures.bayes import Success
from qifsql.measures.intervals import mean_of_chances
from qifsql.query.columns import equal
from qifsql.query.plan import Plan, Step

USUAL = 10_000  # people who are drawn where the user names no number
FEWEST = 400
COMPARED = 1_000_000_000  # pairs of a drawn person and a combination, unless that draws too few
PARTS = 2**60


class Draws:
    """People who are drawn, and what is known of them: the table ``drawn_people``."""

    def __init__(self, coded: Coded, *, seed: int, draws: int | None = None) -> None:
        """Make the table ``drawn_people``: people, and what is known of each by the noisy laws."""
        self.coded = coded
        ((_, _, alike),) = coded.tables.rows(coded.query("sizes"))  # mean combinations per draw
        self.number = draws or max(FEWEST, min(USUAL, int(COMPARED / float(alike))))
        numbers = {"seed": seed, "draws": self.number}
        query = coded.query("drawn", places=coded.places, numbers=numbers)
        coded.tables.make("drawn", query)
        people = exp.select("drawn.draw", "drawn.exact").from_("drawn")
        for qid in coded.noisy:
            view = "drawn_mistaken" if qid.mistaken else "drawn_known"
            law = f"law_{qid.number}"
            name = f"drawn_{qid.number}"
            numbers = {"seed": seed, "number_of_qid": qid.number}
            coded.tables.make(name, coded.query(view, qid, numbers=numbers, tables={"law": law}))
            people = people.join(
                exp.table_(name), on=equal(exp.column("draw", name), exp.column("draw", "drawn"))
            )
            people = people.select(exp.alias_(exp.column("known", name), f"known_{qid.number}"))
        coded.tables.make("drawn_people", people)
        coded.tables.drop("drawn", *(f"drawn_{qid.number}" for qid in coded.noisy))

    def measure(self, secret: int = 0) -> Outcome:
        """Return the estimated success at a secret, or at re-identification (0)."""
        coded, tables = self.coded, self.coded.tables
        if secret:
            coded.make_states(secret)
        weighed = Step("weighed", "One row per drawn person.", self._best_guesses(secret))
        chances = Step("chances", "One row per drawn person: a chance.", coded.query("chances"))
        plan = Plan((weighed, chances), coded.query("estimate"))
        # The sums of chances and of their squares are in parts (``PARTS``) of one.
        ((draws, total, squares, certain),) = tables.answer(plan, "comparing drawn people")
        if secret:
            tables.drop("state_0")
        mean = Fraction(int(total), PARTS * draws)
        low, high = mean_of_chances(float(mean), int(squares) / PARTS / draws, draws)
        sure = Fraction(certain, draws)
        success = Success(sure, mean, float("nan"), int(sure * coded.records))
        return Outcome(success=success, blocks=None, pairs=0, low=low, high=high, draws=draws)

    def _best_guesses(self, secret: int) -> exp.Select:
        """Return the query of one row per drawn person, about what the adversary may guess of her.

        ``best`` is the weight of the likeliest guess, ``total`` that of all guesses, ``possible``
        their number. A guess is a value of the secret; if that is 0 (re-identification), a record.
        """
        pairs = self._drawn_pairs("state_0" if secret else "coded")
        likelihood = exp.column("likelihood")
        if not secret:  # of records alike, the heaviest is the best guess
            return (
                exp.select(
                    "draw",
                    exp.alias_(exp.Max(this=_times("heaviest", likelihood)), "best"),
                    exp.alias_(exp.Sum(this=_times("weight", likelihood)), "total"),
                    exp.alias_(exp.Sum(this=exp.column("people")), "possible"),
                )
                .from_(pairs.subquery("pairs"))
                .group_by("draw")
            )
        mass = exp.alias_(exp.Sum(this=_times("mass", likelihood)), "mass")
        by_secret = exp.select("draw", "secret", mass).from_(pairs.subquery("pairs"))
        by_secret = by_secret.group_by("draw", "secret")
        return (
            exp.select("draw", "max(mass) AS best", "sum(mass) AS total", "count(*) AS possible")
            .from_(by_secret.subquery("secrets"))
            .group_by("draw")
        )

    def _drawn_pairs(self, table: str) -> exp.Select:
        """Return the query of pairs: drawn people and combinations (``table``) that they may be.

        The likelihood is the product over the laws of the weight of what is known, above 0. In a
        law ``right=...`` any value may be known as any other: in place of a row for each pair, a
        true value has the weight ``same`` of itself, and ``other`` times the frequency of others.
        """
        query = exp.select("drawn_people.draw", exp.column(exp.Star(), table)).from_("drawn_people")
        factors: list[exp.Expr] = []
        alike = [equal(exp.column("exact", table), exp.column("exact", "drawn_people"))]
        for qid in (q for q in self.coded.noisy if not q.mistaken):
            law = f"law_{qid.number}"
            label = exp.column(f"known_{qid.number}", "drawn_people")
            query = query.join(exp.table_(law), on=equal(exp.column("known", law), label))
            alike.append(_has_code(law, table, qid))
            factors.append(exp.column("weight", law))
        query = query.join(exp.table_(table), on=exp.and_(*alike))
        for qid in (q for q in self.coded.noisy if q.mistaken):
            law, seen = f"law_{qid.number}", f"seen_{qid.number}"
            label = exp.column(f"known_{qid.number}", "drawn_people")
            query = query.join(exp.table_(law), on=_has_code(law, table, qid))
            query = query.join(
                exp.table_(law).as_(seen), on=equal(exp.column("code", seen), label.copy())
            )
            frequency = exp.column("frequency", seen)
            mistaken = exp.Mul(this=frequency, expression=exp.column("other", law))
            right = equal(label.copy(), exp.column(f"place_{qid.number}", table))
            factors.append(exp.Case().when(right, exp.column("same", law)).else_(mistaken))
            query = query.where(exp.GT(this=factors[-1].copy(), expression=exp.Literal.number(0)))
        likelihood: exp.Expr = exp.cast(exp.Literal.number(1), "HUGEINT")
        for factor in factors:
            likelihood = exp.Mul(this=likelihood, expression=factor)
        return query.select(exp.alias_(likelihood, "likelihood"))


def _has_code(law: str, table: str, qid: NoisyQid) -> exp.EQ:
    return equal(exp.column("code", law), exp.column(f"place_{qid.number}", table))


def _times(column: str, factor: exp.Expr) -> exp.Mul:
    return exp.Mul(this=exp.column(column), expression=factor)
