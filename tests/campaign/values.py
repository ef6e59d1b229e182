"""A value for every option: what may stand after it, drawn for a draft."""

from collections.abc import Callable
from pathlib import Path

from campaign import recipes
from campaign.draft import Draft, identifier, row

Words = list[str]
Value = Callable[[Draft], Words]  # the values of one use; none where the option is left out


def _one(*choices: object) -> Value:
    return lambda d: [str(d.rng.choice(choices))]


def _folder(d: Draft) -> Words:
    name = d.new("folder")
    Path(name).mkdir()
    return [name]


def _new(stem: str, *endings: str) -> Value:
    return lambda d: [d.new(stem) + d.rng.choice(endings)]


def _column(d: Draft) -> Words:
    return [d.rng.choice(d.data.columns)]


def _attribute(d: Draft) -> Words:
    """A column, or an expression with a name."""
    name = d.rng.choice([*d.data.qids, *d.data.secrets])
    quoted = identifier(name)
    expressions = [f"x={quoted}", f"x={quoted} IS NULL", f"x=coalesce({quoted}, {quoted})"]
    if d.data.kinds[name] in ("whole", "code"):
        expressions += [f"x={quoted}//10", f"x={quoted} % 3", f"{name}:5"]
    if d.data.kinds[name] == "text":
        expressions += [f"x=left({quoted}, 2)", f"x=upper({quoted})", f"{name}:2"]
    return [d.rng.choice([row([name]), row([name]), d.rng.choice(expressions)])]


def _target(d: Draft) -> Words:
    return d.target([d.rng.choice(list(d.data.qids))])[1:]


def _gain(d: Draft) -> Words:
    return [recipes.gain(d, d.rng.randrange(7), d.secret())]


def _prior(d: Draft) -> Words:
    secret = d.secret()
    values = d.data.values(secret) or ["x"]
    rows = [(v, repr(1 / len(values))) for v in values]
    return [d.listing([secret, "probability"], rows)]


def _policy(d: Draft) -> Words:
    return [d.text(d.new("policy") + ".toml", recipes.policy(d))]


def _hierarchy(d: Draft) -> Words:
    name = d.rng.choice([*d.data.qids, *d.data.secrets])
    return [f"{name}={d.hierarchy(name)}"]


def _matrix(d: Draft) -> Words:
    name = d.rng.choice([*d.data.qids, *d.data.secrets])
    lines = [(value, value, 1) for value in dict.fromkeys(map(str, d.data.values(name)))]
    return [f"{name}={d.listing(['from', 'to', 'probability'], lines)}"]


def _order(d: Draft) -> Words:
    values = [str(v) for v in d.data.values(d.rng.choice(list(d.data.qids)))]
    return [row(values or ["x"])]


def _baseline(d: Draft) -> Words:
    return [d.text(d.new("last") + ".json", '{"qifsql": "0.1.0", "spec": {}, "results": []}')]


def _claims(d: Draft) -> Words:
    rows = [("1", "whose record", "1", "90 %")]
    return [d.listing(["sheet", "question", "claim", "confidence"], rows)]


def _possible(d: Draft) -> Words:
    """A file of the combinations that occur."""
    names = d.qids(1, 2)
    rows = {tuple(row[n] for n in names): None for row in d.data.rows}
    return [d.listing(names, list(rows))]


def _formula(d: Draft) -> Words:
    """A formula of columns, or a text that is none."""
    outcome, first, second = (f"`{d.rng.choice(d.data.columns)}`" for _ in range(3))
    sign = d.rng.choice(["+", "*", ":", "-"])
    return [d.one(f"{outcome} ~ {first} {sign} {second}", f"{outcome} ~ {first} - 1", outcome)]


def _release(d: Draft) -> Words:
    return [d.other_file]


ENDS = (".json", ".csv", ".parquet", ".md", ".html")
SHARE = _one("0", "0.2", "0.5", "1", "1/3")
NUMBER = _one("1", "2", "3", "5", "20")

VALUES: dict[str, Value] = {
    "--absent": _one("null", "distinct"),
    "--across": _one("kind", "region", "kind=x,y"),
    "--alpha": SHARE,
    "--any": _one("0", "1", "2", "1-2"),
    "--attempt": SHARE,
    "--aux": lambda d: [d.other_file],
    "--baseline": _baseline,
    "--beta": _one("0.5", "1", "4"),
    "--budget": _one("split", "sum"),
    "--by": _attribute,
    "--c": _one("1", "2", "0.5", "3/2"),
    "--candidates": lambda d: [d.text(d.new("list") + ".txt", "00A\n01B\n\n99A\n")],
    "--cells": _one("interval", "text", "bounds", "midpoint", "centroid"),
    "--change": lambda d: [recipes.change(d, d.rng.choice(list(d.data.qids)))],
    "--chart-format": _one("html", "svg", "json", "json", "png"),
    "--charts": lambda d: _new("charts", "")(d) if d.chance(0.15) else [],  # they take time
    "--classifier": _one("naive-bayes", "naive-bayes", "decision-tree", "bernoulli-nb"),
    "--claims": _claims,
    "--column": _one("medallion"),
    "--columns": lambda d: [row(d.rng.sample(d.data.columns, 2))],
    "--command": _one("cp {input} {output}", "false", "sh -c 'exit 3'", "nosuch {input} {output}"),
    "--confidence": _one("0.25,1/3", "0.5", "1"),
    "--control": lambda d: [d.other_file],
    "--original": lambda d: [d.other_file],
    "--count": _one("40", "1", "1000"),
    "--counts": _one("1", "2", "3", "count"),
    "--data": lambda d: [d.file],
    "--delimiter": lambda d: _one(",", ",", ",", ";", "\\t", "|")(d) if d.is_csv else [],
    "--delta": _one("0", "0.01", "0.5"),
    "--dialect": _one("duckdb", "duckdb", "spark", "postgres", "bigquery"),
    "--domain": _one("observed", "whole"),
    "--dominance": _one("1,85", "2,70", "3,99.5"),
    "--draw": NUMBER,
    "--draws": _one("10", "1000"),
    "--drop": lambda d: [row([d.data.key])],
    "--keep": lambda d: [row([d.data.key])],
    "--one-per": lambda d: [d.data.key],
    "--refines": lambda d: [row(d.qids())],
    "--na": lambda d: [d.one("NA", "NA,.,-9", "", "-9", f"{d.qids(1)[0]}=-9")],
    "--encoding": lambda d: _one("utf-8", "utf-8", "cp1252", "utf-16")(d) if d.is_csv else [],
    "--decimal": lambda d: _one(".", ",")(d) if d.is_csv else [],
    "--skip": lambda d: _one("0", "0", "1")(d) if d.is_csv else [],
    "--header-rows": lambda d: _one("1", "1", "2")(d) if d.is_csv else [],
    "--date-order": lambda d: _one("dmy", "mdy", "ymd")(d) if d.is_csv else [],
    "--enhanced-beta": _one("0.5", "1"),
    "--distance": _one("0.5", "0.001"),
    "--distances": _one("1", "50"),
    "--attempts": _one("1", "300"),
    "--terms": _one("1", "3"),
    "--links": _one("1", "50"),
    "--neighbours": _one("1", "3"),
    "--epsilon": _one("ln 3, 1", "0.1", "ln 10^5"),
    "--folder": _folder,
    "--format": _one("table", "json", "csv", "markdown"),
    "--export": _folder,
    "--formula": _formula,
    "--fraction": _one("0.1", "1/100"),
    "--gain": _gain,
    "--hash": _one("md5", "sha1", "sha256"),
    "--hierarchy": _hierarchy,
    "--household": _attribute,
    "--idle": _one("0.1s", "1"),
    "--junit": _new("junit", ".xml"),
    "--k": _one("2", "5", "2,3,5"),
    "--k-map": NUMBER,
    "--key": lambda d: [row([d.data.key])],
    "--known": lambda d: [row(d.qids(1, 2))],
    "--known-records": _one("all", "one"),
    "--l": _one("1", "2", "3"),
    "--l-entropy": _one("1", "1.5", "2"),
    "--l-recursive": _one("2,2", "3,2", "2"),
    "--k-for": lambda d: [row(d.qids(1, 2)) + "=2"],
    "--knows": lambda d: [d.one(recipes.law(d, d.qids(1, 1)[0]), recipes.chances(d, d.qids(1, 2)))],
    "--label": lambda d: [f"{d.rng.choice(d.data.columns)}=day of birth"],
    "--lang": _one("en", "pt-BR"),
    "--largest": NUMBER,
    "--limit": _one("0", "1", "100"),
    "--learn": lambda d: [d.other_file],
    "--learner": _one("table", "table", "decision-tree", "logistic-regression"),
    "--rapid": _one("0", "0.3", "1"),
    "--link": lambda d: [row([d.rng.choice(list(d.data.qids))])],
    "--magnitude": lambda d: [f"{identifier(d.data.weight)}:{row(d.qids(1, 2))}"],
    "--mapping": _new("mapping", ".parquet", ".csv"),
    "--max": _one("10", "100000"),
    "--max-size": _one("1", "2", "3"),
    "--measures": _one("all", "shannon", "guessing", "capacity", "risks", "shannon,guessing"),
    "--mechanism": _one("oblivious", "local", "randomised_response", "all"),
    "--member": lambda d: [d.one(d.data.weight, f"flag={identifier(d.data.weight)} > 1")],
    "--memory": _one("400MB", "512MB", "1GB"),
    "--method": _one("mondrian", "mdav", "recode", "lattice", "suppress"),
    "--minimise": _one("penalty", "classes", "discernibility", "entropy", "generalisation"),
    "--minimum": _one("1", "3", "10", "200"),
    "--name-groups": lambda d: [d.one(*d.data.columns)],
    "--nested": lambda d: [row(d.rng.sample(d.data.columns, 2))],
    "--not": lambda d: [row(d.rng.sample(d.data.columns, 1))],
    "--null": _one("distinct", "drop", "match-any"),
    "--order": _order,
    "--out": _new("out", *ENDS),
    "--p-percent": _one("10", "0.5", "100"),
    "--pattern": _one("[0-9]{2}[AB]", r"\d{2}"),
    "--purpose": _one("a research project", "open data"),
    "--statement": _new("statement", ".html", ".md"),
    "--recipient": _one("a research institute", "everybody"),
    "--people": lambda d: [d.other_file],
    "--people-word": _one("pupils", "people", "<b>", "x" * 50),
    "--plain": lambda d: [row(d.qids(1, 1))],
    "--person": _attribute,
    "--points": _one("1", "1,2"),
    "--policy": _policy,
    "--population": lambda d: [d.other_file],
    "--population-size": _one("1000", "100000"),
    "--possible": _possible,
    "--predicate": lambda d: [f"{identifier(d.rng.choice(list(d.data.qids)))} IS NOT NULL"],
    "--presence": _one("1", "0.9", "0.5"),
    "--presence-max": SHARE,
    "--presence-min": SHARE,
    "--preset": _one("k3", "k5", "k10", "health", "hipaa", "wp216"),
    "--port": _one("0"),
    "--prior": _prior,
    "--published": lambda d: [recipes.published(d) + d.one("", ":round:5", ":noise:2")],
    "--qid+": lambda d: [row(d.rng.sample(d.data.columns, 1))],
    "--qids": _attribute,
    "--quantile": SHARE,
    "--records": _new("rows", ".parquet", ".csv"),
    "--register": lambda d: [d.other_file],
    "--register-where": lambda d: [recipes.where(d)],
    "--release": _release,
    "--ledger": _new("published", ".json"),
    "--revealing": NUMBER,
    "--salt": _one("", "pepper", "\x00", "\U0001f642"),
    "--salt-after": _one("", "pepper"),
    "--sample": _one("0.5", "0.1", "1"),
    "--samples": _one("1", "3", "40"),
    "--sample-size": _one("1", "3"),
    "--sampling-weight": lambda d: [d.one(d.data.weight, f"{identifier(d.data.weight)} + 1")],
    "--secret": _attribute,
    "--seed": _one("0", "7", "2147483647"),
    "--show": _one("blocks", "prior", "joint", "channel", "hyper", "cooccurrence", "receipt"),
    "--sizes": _one("1", "1-2", "2"),
    "--skew": _one("2", "1.5", "10"),
    "--small": _one("1", "3", "10"),
    "--smallest": NUMBER,
    "--require": _one(*recipes.TABLE_BOUNDS),
    "--matrix": _matrix,
    "--pd": SHARE,
    "--result": _one("risk.json"),
    "--step": _one("blocks", "microdata", "qids", "profile"),
    "--resume": _new("resume", ".duckdb"),
    "--split": lambda d: [row(d.qids(1, 2))],
    "--store": _new("store", ".duckdb"),
    "--strata": _attribute,
    "--subset": lambda d: ["+".join(d.qids())],
    "--summary": _new("summary", *ENDS),
    "--subsets": _one("1", "3"),
    "--suppress": _one("0.5", "0", "1"),
    "--suppress-cells": lambda d: [row(d.qids(1, 2))],
    "--suppressed": _one("block", "everyone", "out", "candidates", "ignored"),
    "--t": SHARE,
    "--t-ordered": SHARE,
    "--table": lambda d: [recipes.table(d)],
    "--target": _target,
    "--temp": _folder,
    "--threads": _one("1", "2", "3"),
    "--engine": _one("duckdb"),  # a Java machine for each line takes too long
    "--master": _one("local[1]"),
    "--spark-conf": _one("spark.sql.shuffle.partitions=2"),
    "--threshold": _one("0.5", "0.2", "1"),
    "--time-budget": _one("1m", "30s", "0.1s", "5"),
    "--timeout": _one("5", "20"),
    "--title": _one("A title", "<b>title</b>", "=1+1", "\U0001f642"),
    "--total": _one("Total", "all", ""),
    "--truth": lambda d: [row([d.data.key])],
    "--unit": _one("BRL", "<b>", "=x"),
    "--until": _one("crs<=0.5", "k>=2", "cas<=0.9", "reconstructed<=0"),
    "--useful": lambda d: [row(d.qids(1, 1))],
    "--values": _one("1", "5"),
    "--walk": _one("auto", "auto", "sql", "compiled"),
    "--wave": _column,
    "--weight": lambda d: [d.one(d.data.weight, f"{identifier(d.data.weight)} + 1")],
    "--where": lambda d: [recipes.where(d)],
    "--within": _one("0", "10"),
    "--without": _one("without/{i}.csv", "without.csv"),
    "--workspace": _new("work", ".sweep"),
}
