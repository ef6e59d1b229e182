"""A recipe for every command: a command line that should work on the tables of a draft."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from campaign import comparing
from campaign.draft import Draft, Step, identifier, literal, row, toml
from campaign.tables import Table

Words = list[str]
Recipe = Callable[[Draft], Words]


def attack(d: Draft) -> Words:
    """One of the kinds of attack."""
    kinds = {
        _collective: 40, _individual: 14, _collection: 14, _waves: 6, _membership: 8, _linked: 8,
        _gaining: 10, _stored: 4, _learning: 6, _of_sets: 6, _completed: 6, _noisy: 8,
        _raw: 4,
    }  # fmt: skip
    return d.rng.choices(list(kinds), list(kinds.values()))[0](d)


def _collective(d: Draft) -> Words:
    qids, secrets = d.qids(), d.rng.sample(list(d.data.secrets), 1)
    argv = ["attack", _cased(d, "crs,cas"), d.file, *d.known(qids), *d.wants(*secrets)]
    weight = ["--weight", d.data.weight] if d.chance(0.2) else []
    null = ["--null", d.one("distinct", "distinct", "drop")] if d.chance(0.3) else []
    extra, weighted = [*weight, *null], d.data.weight if weight else None
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        drop = "drop" in null
        check = comparing.attack(d.data, qids, secrets, weight=weighted, drop=drop)
        return _checked(d, [*argv, *extra], check)
    return [*argv, *extra]


def _checked(d: Draft, argv: Words, check: comparing.Check) -> Words:
    d.steps.append(Step([*argv, "--format", "json"], check=check))
    return []


def _cased(d: Draft, models: str) -> str:
    return str(d.one(models, models.upper(), models.title()))


def _learning(d: Draft) -> Words:
    """Somebody learns from another file, or from the file itself, mostly a table."""
    learner = ["--learner", d.one("table", "decision-tree", "logistic-regression")]
    train = d.one(d.other_file, d.other_file, d.file)
    wanted = d.wants(*d.rng.sample(list(d.data.secrets), 1))
    argv = ["attack", _cased(d, "cas"), d.file, "--learn", train, *d.known(d.qids(1, 3)), *wanted]
    if d.chance(0.3):
        argv += ["--rapid", d.one("0", "0.3", "1")]
    return [*argv, *(learner if d.chance(0.3) else [])]


def _raw(d: Draft) -> Words:
    """Somebody with raw values of the people of another file looks for them in a release."""
    argv = ["attack", d.file, "--people", d.other_file, *d.known(d.qids(1, 3))]
    return [*argv, *d.wants(d.secret())] if d.chance(0.5) else argv


def _individual(d: Draft) -> Words:
    qids = d.qids()
    model = d.one("irs", "ias", "irs,ias")
    return ["attack", model, d.file, *d.known(qids), *d.target(qids), *d.wants(d.secret())]


def _tagged(d: Draft) -> Words:
    names = d.qids(1, 3)
    return d.known([f"{d.one('', '', '1:', '2:')}{name}" for name in names])


def _others(d: Draft) -> Words:
    """The later release, with the key of both."""
    aux = ["--aux", d.other_file] if d.chance(0.3) else [d.other_file]
    key = row([d.data.key]) if d.chance(0.7) else row([d.data.key, d.data.key])
    absent = ["--absent", d.one("null", "distinct")] if d.chance(0.3) else []
    return [*aux, "--key", key, *absent]


def _collection(d: Draft) -> Words:
    model = d.one("crl", "cal", "crl,cal")
    progressive = ["--progressive"] if d.chance(0.3) else []
    return [
        *("attack", model, d.file, *_others(d), *_tagged(d), *d.wants(d.secret()), *progressive)
    ]


def _long(d: Draft) -> tuple[Table, str]:
    """A long table of two waves, and the column of the wave."""
    both = [
        row | {"wave_": year}
        for year, part in ((2018, d.data), (2019, d.other))
        for row in part.rows
    ]
    return replace(d.data, rows=both, kinds={**d.data.kinds, "wave_": "whole"}), "wave_"


def _waves(d: Draft) -> Words:
    data, wave = _long(d)
    asked = d.one(wave, f"{wave}=2019,2018")
    return [
        *(
            "attack",
            d.one("crl", "cal"),
            d.write(data),
            "--wave",
            asked,
            "--key",
            row([d.data.key]),
        ),
        *(*_tagged(d), *d.wants(d.secret())),
    ]


def _membership(d: Draft) -> Words:
    if d.chance(0.5):
        known = ["--member", f"flag={identifier(d.data.weight)} > 1"]
        return ["attack", d.one("cms", "cms,cms"), d.file, *d.known(d.qids()), *known]
    people = ["--population", d.other_file, "--key", row([d.data.key])]
    qids = d.qids()
    if d.chance(0.3):
        return ["attack", "ims", d.file, *people, *d.known(qids), *d.target(qids)]
    return ["attack", "cms", d.file, *people, *d.known(qids)]


def _linked(d: Draft) -> Words:
    names = d.qids(1, 3)
    stays = row(names[:1])
    if len(names) > 1 and d.chance(0.5):
        change = d.one("stay=0.9", "stay=?", "+1", "+0..2", f"table={_moves(d, names[1])}")
        stays += f"; {names[1]}:{change}"
    truth = ["--truth", row([d.data.key])] if d.chance(0.5) or "?" in stays else []
    more = ["--one-to-one"] if d.chance(0.4) else []
    more += ["--presence", d.one("1", "0.9", "0.5", "0")] if d.chance(0.5) else []
    return [
        *("attack", d.one("crl", "crl,cal"), d.file, d.other_file, "--link", stays, *truth, *more),
        *(*_tagged(d), *d.wants(d.secret())),
    ]


def _noisy(d: Draft) -> Words:
    """Knowledge with errors and gaps, with or without a row per person."""
    qids, secret = d.qids(), d.secret()
    known = d.rng.sample(qids, d.rng.randint(1, min(3, len(qids))))
    laws = "; ".join(law(d, name) for name in known)
    argv = ["attack", _cased(d, "crs,cas"), d.file, *d.known(qids), *d.wants(secret)]
    weight = ["--weight", d.data.weight] if d.chance(0.2) else []
    more = d.one([], ["--draws", "50"], ["--records", d.new("rows") + d.one(".parquet", ".csv")])
    return [*argv, *weight, "--knows", laws, *more]


def law(d: Draft, name: str) -> str:
    """The law of what is known of a quasi-identifier."""
    column = '"' + name.replace('"', '""') + '"'
    text = d.one("+-2", "sd=1.5", "right=0.9", "right=0.123456789", "missing=0.3", "exact", "+-x")
    return f"{column}:{text if d.chance(0.8) else 'table=' + _labels(d, name)}"


def _labels(d: Draft, name: str) -> str:
    values = d.data.values(name)[:4] or ["x"]
    rows = [(a, b, 1 / len(values)) for a in values for b in values]
    return d.listing(["value", "known as", "probability"], rows)


def _moves(d: Draft, name: str) -> str:
    values = d.data.values(name)[:4] or ["x"]
    rows = [(a, b, round(1 / len(values), 3)) for a in values for b in values]
    return d.listing(["from", "to", "probability"], rows)


def _gaining(d: Draft) -> Words:
    secret = d.secret()
    gains = d.rng.sample(range(7), d.one(1, 1, 2))
    words = [word for g in gains for word in ("--gain", gain(d, g, secret))]
    return ["attack", "cas", d.file, *d.known(d.qids()), *d.wants(secret), *words]


def _of_sets(d: Draft) -> Words:
    """People with several records, or households; any column may say who they are."""
    qids, secret = d.qids(), d.secret()
    option = d.one("--person", "--household")
    argv = ["attack", d.one("crs", "cas", "crs,cas"), d.file, *d.known(qids), *d.wants(secret)]
    return [*argv, option, d.one(d.data.key, *d.data.columns)]


def _of_people(d: Draft) -> Words:
    """Sometimes people with several records; any column may say who they are."""
    return ["--person", d.one(d.data.key, *d.data.columns)] if d.chance(0.2) else []


def _completed(d: Draft) -> Words:
    """Bounds over all completions of missing values."""
    known = [*d.known(d.qids()), *d.wants(d.secret()), "--null", "match-any"]
    if d.chance(0.4):
        return [d.one("levels", "suda"), d.file, *(known if d.chance(0.5) else known[:-2])]
    return ["attack", d.one("crs", "cas", "crs,cas"), d.file, *known]


def _stored(d: Draft) -> Words:
    """Two questions to one store: the same or another gain, secret or set of columns."""
    qids, secret = d.known(d.qids()), d.secret()
    store = ["--store", "kept.duckdb"]
    d.steps.append(Step(["attack", "crs,cas", d.file, *qids, *d.wants(secret), *store]))
    again = qids if d.chance(0.7) else d.known(d.qids())
    more = ["--gain", gain(d, 9, secret)] if d.chance(0.5) else []
    return ["attack", "crs,cas", d.file, *again, *d.wants(d.one(secret, d.secret())), *more, *store]


def gain(d: Draft, kind: int, secret: str) -> str:
    """A gain function for a secret."""
    values = d.data.values(secret) or ["x"]
    if kind == 0:
        return f"worth:{d.listing(['value', 'worth'], [(v, d.rng.randint(0, 9)) for v in values])}"
    if kind == 1:
        rows = [(a, b, int(a == b)) for a in values[:5] for b in values[:5]]
        return f"matrix:{d.listing(['guess', 'secret', 'gain'], rows)}"
    if kind == 2:
        return "sql:CASE WHEN guess = secret THEN 1 ELSE 0.25 END"
    return str(d.one("identity", "tries:1", "tries:2", "tries:3", "penalty:0.5", "tolerance:5"))


def sweep(d: Draft) -> Words:
    """Every subset, of one release or of a collection."""
    if d.chance(0.15):
        releases = ["--releases"] if d.chance(0.4) else []
        argv = ["sweep", d.file, *_others(d), *_tagged(d), *d.wants(d.secret())]
        return [*argv, *releases]
    qids, secrets = d.qids(2, 5), d.rng.sample(list(d.data.secrets), 1)
    argv = ["sweep", d.file, *d.known(qids), *d.wants(*secrets)]
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        return _checked(d, argv, comparing.sweep(d.data, qids, secrets))
    if d.chance(0.2):
        kept = ["--workspace", "kept.sweep"]
        d.steps.append(Step([*argv, *kept]))
        other = ["sweep", d.file, *d.known(d.qids(2, 5)), *d.wants(d.secret())]
        return [*d.one(argv, other, other), *kept]
    return argv


def adversaries(d: Draft) -> Words:
    """A stored sweep, and those who know some of its attributes."""
    qids = d.qids(2, 4)
    out = d.new("sweep") + d.one(".parquet", ".json")
    histogram = ["--histogram"] if d.chance(0.3) else []
    d.steps.append(
        Step(["sweep", d.file, *d.known(qids), *d.wants(d.secret()), *histogram, "-o", out])
    )
    knows = ["--knows", d.one(chances(d, qids), chances(d, qids), _listed(d, qids))]
    knows = knows if d.chance(0.7) else []
    several = ["--any", d.one("0", "1", "1-2")] if d.chance(0.3) else []
    return ["adversaries", out, *knows, *several]


def verify(d: Draft) -> Words:
    """A stored attack or sweep, and the data that it was made from."""
    qids, out = d.qids(1, 3), d.new("checked") + d.one(".parquet", ".json")
    model = d.one(["sweep"], ["attack", "crs"])
    secret = d.wants(d.secret()) if model == ["sweep"] else []
    d.steps.append(Step([*model, d.file, *d.known(qids), *secret, "-o", out]))
    return ["verify", out, *d.one([], [], [d.file])]


def _listed(d: Draft, qids: Sequence[str]) -> str:
    """A file of adversaries and their mixture, or of sets of attributes with weights."""
    if d.chance(0.4):
        sets = [(row([qids[0]]), 1), ("+".join(qids), d.one("1/3", "0.5", "2", "0"))]
        return d.listing(["qids", "weight"], sets)
    lines: Words = []
    for name in ("neighbour", "employer"):
        lines.append(f"[{name}]")
        lines += [f"{toml(q)} = {d.one('0', '0.5', '1', toml('1/3'))}" for q in qids]
    if d.chance(0.5):
        lines += ["[mixture]", "neighbour = 0.9", "employer = 0.1"]
    return d.text(d.new("adversaries") + ".toml", "\n".join([*lines, ""]))


def chances(d: Draft, qids: Sequence[str]) -> str:
    """The chance that each attribute is known."""
    name = d.one("", "", "neighbour: ", "*=0.1,")
    return str(name) + ",".join('"' + q.replace('"', '""') + f'"={d.one("0", "0.5", "1", "1/3")}'
                                for q in qids)  # fmt: skip


def describe(d: Draft) -> Words:
    """All columns."""
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        return _checked(d, ["describe", d.file], comparing.describe(d.data))
    return ["describe", d.file]


def levels(d: Draft) -> Words:
    """Levels with some thresholds."""
    qids, secret = d.qids(), d.secret()
    argv = ["levels", d.file, *d.known(qids), *d.wants(secret)]
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        return _checked(d, argv, comparing.levels(d.data, qids, secret))
    return argv


def blocks(d: Draft) -> Words:
    """The blocks."""
    qids, secret = d.qids(), d.secret()
    argv = ["inspect", d.file, *d.known(qids), *d.wants(secret)]
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        return _checked(d, [*argv, "--limit", "0"], comparing.blocks(d.data, qids))
    return argv


def hyper(d: Draft) -> Words:
    """One of the objects."""
    shown = d.one("prior", "joint", "channel", "hyper", "cooccurrence")
    return ["inspect", d.file, "--show", shown, *d.known(d.qids()), *d.wants(d.secret())]


def records(d: Draft) -> Words:
    """A row per record."""
    qids, secret = d.qids(), d.secret()
    out = d.new("rows") + d.one(".parquet", ".csv")
    argv = ["inspect", "--show", "records", d.file, *d.known(qids), *d.wants(secret), "-o", out]
    if comparing.comparable(d.data, d.file) and d.chance(0.85):
        d.steps.append(Step(argv, check=comparing.records(d.data, qids, secret, out)))
        return []
    return argv


def inspect(d: Draft) -> Words:
    """Blocks, an object, records, or one person."""
    return d.one(blocks, hyper, records, receipt)(d)


def one_per(d: Draft) -> Words:
    """One record of each person."""
    compared = d.roles(secret=0.5) if d.chance(0.5) else []
    key = d.one(d.data.key, *d.data.qids)
    return [
        *("anonymise", d.file, "--one-per", key),
        *compared,
        "-o",
        d.new("out") + d.one(".parquet", ".csv", ".csv.gz"),
    ]


def anonymise(d: Draft) -> Words:
    """A release by one of the methods, of one record per person, or with fewer columns."""
    if d.chance(0.4):
        return one_per(d)
    out, qids = d.new("out") + d.one(".parquet", ".csv", ".csv.gz"), d.qids(1, 3)
    if d.chance(0.15):
        asked = ["--method", "pram", "--seed", "3", "--pd", d.one("0.5", "0.8", "0", "1")]
        return ["anonymise", d.file, *d.known(qids), *d.wants(d.secret()), *asked, "-o", out]
    name = d.one("mondrian", "mdav", "recode", "lattice", "suppress")
    if d.chance(0.1):
        return ["anonymise", d.file, "--drop", row(qids), "-o", out]
    method = ["--method", name, "--k", d.one("1", "2", "2", "3", "5")]
    if name in ("recode", "lattice"):
        method += ["--suppress", d.one("0.5", "1", "0")]
    if name == "recode":
        method += [word for qid in qids for word in ("--change", change(d, qid))]
    return ["anonymise", d.file, *d.known(qids), *d.wants(d.secret()), *method, "-o", out]


def check(d: Draft) -> Words:
    """A release against a policy, or a synthetic release against its original and a control."""
    if d.chance(0.3):
        return wp29(d)
    levels = d.text(d.new("policy") + ".toml", policy(d))
    if d.chance(0.7):
        return ["check", d.file, "--policy", levels]
    measure = d.one("repU", "DiSCO", "success_original", "individual_leak", "singling_out_all_risk")
    rule = ["[[rule]]", 'model = "synthetic"', f'measure = "{measure}"', "at_most = 0.5"]
    text = "\n".join([policy(d), *rule, ""])
    levels = d.text(d.new("policy") + ".toml", text)
    control = ["--control", d.other_file] if d.chance(0.7) else []
    return ["check", d.other_file, "--policy", levels, "--original", d.file, *control]


def policy(d: Draft) -> str:
    """A policy over the columns of the draft."""
    lines = ["[adversary]", f"qids = {toml(d.qids())}", f"secret = {toml(list(d.data.secrets))}"]
    if d.chance(0.2):
        lines.append(f"where = {toml(where(d))}")
    for _ in range(d.one(1, 1, 2, 4)):
        lines += ["[[rule]]", *_rule(d)]
    return "\n".join([*lines, ""])


def _rule(d: Draft) -> Words:
    model = d.one("crs", "cas")
    shares = ["posterior_deterministic", "posterior_probabilistic", "worst_case"]
    counts = ["singled_out", "blocks", "individuals_certain"]
    measure = d.one(*shares, *counts)
    bound = d.one(0, 0.05, 0.5, 1) if measure in shares else d.one(0, 1, 5, 1000)
    grouped = d.chance(0.15) and measure in shares
    by = [f"by = {toml(d.one(*d.data.qids))}"] if grouped else []
    side = d.one("at_most", "at_most", "at_least")
    return [f'model = "{model}"', f'measure = "{measure}"', f"{side} = {bound}", *by]


def where(d: Draft) -> str:
    """A condition over one column."""
    name = d.rng.choice(d.data.columns)
    values = d.data.values(name)
    quoted = identifier(name)
    return str(
        d.one(
            f"{quoted} IS NOT NULL",
            f"{quoted} <> {literal(d.rng.choice(values))}" if values else f"{quoted} IS NULL",
            f"{identifier(d.data.weight)} >= 1",
            f"{quoted} IN ({', '.join(literal(v) for v in values[:3]) or 'NULL'})",
            "true",
        )
    )


def study(d: Draft) -> str:
    """A study over the tables of the draft."""
    qids = d.qids(1, 3)
    lines = [
        *("[output]", f"formats = {toml(d.rng.sample(['parquet', 'csv', 'json', 'md'], 2))}"),
        *("[datasets.people]", f"path = {toml(d.file)}", f"qids = {toml(qids)}"),
        *(f"secret = {toml(d.secret())}", f"key = {toml(d.data.key)}"),
        *("[[attack]]", 'name = "all"', 'model = ["crs", "cas"]', "histogram = true"),
    ]
    if d.chance(0.4):
        lines += ["[[sweep]]", 'name = "subsets"', 'sizes = "1-2"']
    if d.chance(0.3):
        lines += ["[[check]]", 'name = "gate"', "[[check.rule]]", *_rule(d)]
    return "\n".join([*lines, ""])


def run(d: Draft) -> Words:
    """A study, sometimes for the second time."""
    argv = ["run", d.text(d.new("study") + ".toml", study(d))]
    if d.chance(0.3):
        d.steps.append(Step(argv))
    return argv


def init(d: Draft) -> Words:
    """A draft of a study."""
    return ["init", d.new("study") + ".toml", *(["--data", d.file] if d.chance(0.9) else [])]


def start(d: Draft) -> Words:
    """A first look at a file."""
    return ["start", d.file, "--yes", "-o", d.new("started")]


def open_page(d: Draft) -> Words:
    """A page that ends by itself."""
    return ["open", d.file, "--no-browser", "--idle", d.one("0.1s", "1")]


def report(d: Draft) -> Words:
    """A report of one to three results of any kinds."""
    results = []
    kinds = [n for n in RECIPES if n not in NO_RESULT]
    for _ in range(d.one(1, 2, 2, 3)):
        argv: Words = []
        while not argv or "-o" in argv or "records" in argv:
            before = len(d.steps)
            argv = RECIPES[d.rng.choice(kinds)](d)
            if not argv:  # its numbers were to be checked
                argv = d.steps[before].argv[:-2]
                del d.steps[before:]
        results.append(d.new("result") + d.one(".parquet", ".json"))
        d.steps.append(Step([*argv, "-o", results[-1]]))
    out = d.new("page") + d.one(".html", ".html", ".html", ".md", ".csv", ".parquet")
    return ["report", *(["."] if d.chance(0.1) else results), "-o", out]


def link(d: Draft) -> Words:
    """A release and a register."""
    truth = ["--truth", row([d.data.key])] if d.chance(0.4) else []
    return ["link", d.file, d.other_file, *d.known(d.qids()), *truth]


def unhash(d: Draft) -> Words:
    """A dictionary attack on a column of hashes."""
    algorithm = d.one("md5", "md5", "sha1", "sha256")
    file, plain = d.hashed(algorithm)
    words = ["unhash", file, "--column", "medallion", "--hash", algorithm]
    if d.chance(0.8):
        words += ["--pattern", d.one("[0-9]{2}[AB]", r"\d{2}A", "0[0-9]A|1[0-9]B", r"\d?\dB")]
    else:
        words += ["--candidates", d.text(d.new("list") + ".txt", "\n".join(plain[:6]))]
    return words


def unicity(d: Draft) -> Words:
    """A log of several records per person."""
    key = d.one(d.data.weight, *d.data.secrets)
    return [
        "unicity",
        d.file,
        "--person",
        key,
        *d.known(d.qids()),
        "--points",
        d.one("1", "1,2", "2,3"),
    ]


def estimate(d: Draft) -> Words:
    """A sample of a population."""
    size = len(d.data.rows)
    drawn = d.one(
        ["--fraction", d.one("0.1", "1/100", "0.5")],
        ["--population-size", str(size * d.one(2, 10, 1000))],
        ["--sampling-weight", f"{identifier(d.data.weight)} + 5"],
    )
    return ["estimate", d.file, *d.known(d.qids()), *drawn, *_of_people(d)]


def suda(d: Draft) -> Words:
    """Minimal sample uniques of all sizes, or of small ones, with details."""
    words = ["suda", d.file, *d.known(d.qids()), *_of_people(d)]
    words += ["--max-size", d.one("1", "2", "3")] if d.chance(0.5) else []
    words += ["--fraction", d.one("0.1", "1/100", "1")] if d.chance(0.5) else []
    words += ["--by", row([d.one(*d.data.qids)])] if d.chance(0.3) else []
    words += ["--records", d.new("scores") + d.one(".parquet", ".csv")] if d.chance(0.3) else []
    return [*words, *[flag for flag in ("--values", "--omit-missing") if d.chance(0.3)]]


def wp29(d: Draft) -> Words:
    """The three questions."""
    register = ["--register", d.other_file] if d.chance(0.3) else []
    return ["check", d.file, "--preset", "wp216", "--questions", *d.roles(), *register]


def receipt(d: Draft) -> Words:
    """One person."""
    qids = d.qids()
    return [
        *("inspect", "--show", "receipt"),
        d.file,
        *d.known(qids),
        *d.wants(d.secret()),
        *d.target(qids),
    ]


def refines(d: Draft) -> Words:
    """Two sets of quasi-identifiers."""
    return ["compare", d.file, *d.known(d.qids()), "--refines", row(d.qids())]


def dp(d: Draft) -> Words:
    """Noisy counts."""
    useful = d.numeric([*d.data.qids]) or d.one(*d.data.qids)
    value = d.one(*(d.data.values(useful) or [0]))
    asked = f"{identifier(useful)} = {literal(value)}"
    order = []
    if d.data.kinds[useful] in ("text", "yes"):
        order = ["--order", row([str(v) for v in d.data.values(useful)])]
    epsilon = d.one("ln 3", "ln 1.5,1", "2.5", "0.1, ln 10^5")
    return [
        *("dp", d.file, "--useful", row([useful]), "--predicate", asked),
        *(*d.wants(d.secret()), "--epsilon", epsilon, *order),
    ]


def dit(d: Draft) -> Words:
    """Inference testing of a few people."""
    argv = ["dit", d.file, *d.known(d.qids(1, 2)), *d.wants(d.secret()), "--sample-size", "3"]
    if d.chance(0.25):
        kept = ["--store", "kept.duckdb", "--k", "2"]
        d.steps.append(Step([*argv, *kept]))
        return [*argv, *kept]
    return [*argv, "--k", d.one("1", "2", "2,3")]


def compose(d: Draft) -> Words:
    """Two releases of the same people."""
    people = d.write(d.data, ".parquet", ".csv")
    qids, secret = d.qids(1, 3), d.secret()
    release = d.file
    if d.chance(0.5):
        release = d.new("classes") + d.one(".parquet", ".csv")
        d.steps.append(_anonymised(d, qids, secret, release))
    return ["compose", release, d.other_file, "--people", people, *d.known(qids), *d.wants(secret)]


def _anonymised(d: Draft, qids: Words, secret: str, out: str) -> Step:
    method = ["--method", d.one("mondrian", "mdav"), "--k", "2", "--quiet"]
    return Step(["anonymise", d.file, *d.known(qids), *d.wants(secret), *method, "-o", out])


def compare(d: Draft) -> Words:
    """Releases, changes, or other attributes."""
    return d.one(beside, what_if, refines)(d)


def beside(d: Draft) -> Words:
    """An original and a sanitised release."""
    qids, secret = d.qids(1, 3), d.secret()
    if d.chance(0.6):
        release = d.new("classes") + d.one(".parquet", ".csv")
        d.steps.append(_anonymised(d, qids, secret, release))
    else:
        release = d.other_file
    pairs = ["--pairs"] if d.chance(0.3) else []
    return ["compare", d.file, release, *d.known(qids), *d.wants(secret), *pairs]


def what_if(d: Draft) -> Words:
    """Changes, or bounds to keep."""
    qids, secret = d.qids(1, 3), d.secret()
    if d.chance(0.3):
        bounds = ["--until", d.one("crs<=0.5", "cas<=0.8", "k>=2", "crs.deterministic<=0.05")]
        return ["compare", d.file, *d.known(qids), *d.wants(secret), *bounds]
    changes = [word for name in qids for word in ("--change", change(d, name))]
    return ["compare", d.file, *d.known(qids), *d.wants(secret), *changes]


def change(d: Draft, name: str) -> str:
    """A change of a column."""
    kind, quoted = d.data.kinds[name], row([name])
    if kind == "text":
        return str(d.one(f"{name}:3", f"drop={quoted}", f"{quoted}=left({identifier(name)}, 2)"))
    if kind == "day":
        return str(d.one(f"{name}:month", f"{name}:year", f"drop={quoted}"))
    if kind in ("whole", "code", "money"):
        return str(d.one(f"{name}:5", f"top({name})=30", f"bottom({name})=2", f"drop={quoted}"))
    return str(d.one(f"drop={quoted}", "sample=0.5"))


def tables(d: Draft) -> Words:
    """Published tables: made of the records, or read from files of counts."""
    qids, secret = d.qids(1, 3), d.secret()
    if d.chance(0.3):
        return _published(d)
    if d.chance(0.3) and comparing.comparable(d.data, d.file):
        argv = ["tables", d.file, "--table", row([*qids, secret]), *d.wants(secret)]
        return _checked(d, argv, comparing.tables(d.data, qids, secret))
    both = [table(d, [*qids[:-1], secret]), table(d, qids)]
    named = [word for text in both for word in ("--table", text)]
    wanted = d.wants(secret) if d.chance(0.6) else []
    if d.chance(0.15):
        return ["tables", d.file, *named, *wanted, "--until", d.one(*TABLE_BOUNDS)]
    return ["tables", d.file, *named, *wanted]


def synthetic(d: Draft) -> Words:
    """An original and another file as its synthetic release, with or without a control."""
    qids, secret = d.qids(1, 3), d.secret()
    wanted = d.wants(secret) if d.chance(0.7) else []
    argv = ["synthetic", d.file, d.other_file, *d.known(qids), *wanted, *_of_people(d)]
    if d.chance(0.3):
        argv.append("--sweep")
    if d.chance(0.2) and wanted:
        argv += ["--threshold", d.one("0.5", "1")]
    if d.chance(0.2):
        argv += ["--by", d.secret()]
    if d.chance(0.2):
        argv += ["--require", d.one("repU<=0.5", "iS<=1", "UiO>=0")]
    if d.chance(0.2):
        argv += ["--questions", *(["--split", qids[0]] if len(qids) > 1 else [])]
        if d.chance(0.5):
            argv += ["--attempts", d.one("1", "300"), "--terms", "1"]
        if len(qids) > 1 and d.chance(0.5):
            argv += ["--links", d.one("1", "50"), "--neighbours", d.one("1", "3")]
    if d.chance(0.2):
        argv += ["--distances", d.one("1", "50")]
    if d.chance(0.1) and wanted:
        argv += ["--learner", d.one("decision-tree", "logistic-regression")]
    if d.chance(0.3):
        argv += ["--control", d.file]
    if d.chance(0.2):
        argv += ["--records", d.new("said") + d.one(".parquet", ".csv")]
    return argv


TABLE_BOUNDS = ("reconstructed<=0", "singled_out<=5", "certain_inference<=0", "actual<=0.5")
PROTECTIONS = ("", "", ":exact", ":suppress<5", ":suppress<3 zeros", ":round:5", ":round:3 random",
               ":noise:2", ":atleast:10")  # fmt: skip


def table(d: Draft, names: Sequence[str] = ()) -> str:
    """A table to make, with a protection."""
    return row(list(names) or d.qids(1, 2)) + str(d.one(*PROTECTIONS))


def published(d: Draft) -> str:
    """A file of published counts: of two columns, whose values have letters and digits alone."""
    counts = Counter((d.rng.choice("abc"), d.rng.choice("xyz")) for _ in range(40))
    rows = [(*values, n) for values, n in sorted(counts.items())]
    return d.listing(["region", "kind", "count"], rows)


def _published(d: Draft) -> Words:
    protection = d.one("", "", ":exact", ":round:1", ":noise:1")
    count = ["--count", "40"] if protection or d.chance(0.3) else []
    wanted = ["--secret", "kind"] if d.chance(0.6) else []
    return ["tables", "--published", published(d) + protection, *count, *wanted]


def explain(d: Draft) -> Words:
    """One measure, or all."""
    return [
        "explain",
        d.one("bayes", "worst_case", "k", "t", "shannon", "singled_out", "marketer_risk", "undone"),
    ]


def sql(d: Draft) -> Words:
    """The SQL of an attack, or of a policy."""
    if d.chance(0.2):
        levels = d.text(d.new("policy") + ".toml", policy(d))
        return ["sql", d.file, "--policy", levels, "--dialect", d.one("duckdb", "postgres")]
    if d.chance(0.2):
        return ["sql", d.one("crl", "cal"), d.file, *_others(d), *_tagged(d), *d.wants(d.secret())]
    return ["sql", d.one("crs", "cas", "crs,cas"), d.file, *d.known(d.qids()), *d.wants(d.secret())]


def shell(d: Draft) -> Words:
    """The statements of the prompt, or a question put to it."""
    argv = ["shell", d.file, *d.roles()]
    if d.chance(0.6):
        return [*argv, "--init-only"]
    asked = d.one(
        "SELECT count(*) FROM microdata;", "SHOW TABLES;", ".tables", "SELECT 1; SELEC 2;", ""
    )
    d.steps.append(Step(argv, stdin=asked + "\n"))
    return []


def demo(d: Draft) -> Words:
    """The demonstration."""
    return ["demo", d.new("demo")]


RECIPES: dict[str, Recipe] = {
    "attack": attack, "sweep": sweep, "adversaries": adversaries, "describe": describe,
    "levels": levels, "check": check,
    "inspect": inspect, "anonymise": anonymise,
    "run": run, "init": init, "start": start, "open": open_page, "report": report, "link": link,
    "unhash": unhash,
    "unicity": unicity, "estimate": estimate, "suda": suda,
    "dp": dp, "dit": dit, "compose": compose, "compare": compare,
    "tables": tables, "synthetic": synthetic, "verify": verify,
    "explain": explain, "sql": sql, "shell": shell,
    "demo": demo,
}  # fmt: skip
SHARES = {  # of the lines; every other command has 4
    "attack": 20, "sweep": 6, "describe": 6, "levels": 5, "check": 12, "dit": 1, "demo": 0.1,
    "inspect": 16,
    "compose": 3, "compare": 11, "tables": 3, "synthetic": 3, "adversaries": 2,
    "run": 2, "report": 3, "explain": 1, "anonymise": 8, "init": 3,
    "start": 1, "open": 1,
}  # fmt: skip
NO_RESULT = ("report", "anonymise", "init", "start", "open", "sql", "shell",
             "demo", "explain")  # fmt: skip
