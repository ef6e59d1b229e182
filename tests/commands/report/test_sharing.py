"""Reports for others: no value of a person in any result, no group whose size can be computed."""

import json
import os
import re
from collections.abc import Iterator
from datetime import date, timedelta
from hashlib import sha256
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.commands import NAMES
from qifsql.commands.report import literals
from qifsql.presentation import small_groups
from qifsql.results.kinds import kind_of

pytestmark = [pytest.mark.reports, pytest.mark.xdist_group("sharing")]  # their fixtures take long

MARK = "CANARY"  # is in every text of a cell
NUMBER = 7_130_000_000  # every number of a cell begins like this one
NORTH, SOUTH = f"{MARK}North", f"{MARK}South"  # the larger regions
DAY = date(1871, 1, 1)  # every date of a cell is in this decade
CANARIES = re.compile(
    r"CANARY|713[,.]?000[,.]?0|187\d-\d\d-\d\d|\b187\d\b|secretfolder", re.IGNORECASE
)
PEOPLE = 120
KNOWN, WANTED = ("-q", "town,wage,born"), ("-s", "illness")
FILTER = ("--where", f"illness <> '{MARK}none' AND wage > {NUMBER - 1}")


def people(path: Path) -> Path:
    """A release of which every cell can be told from all else."""
    rows = range(PEOPLE)
    pl.DataFrame(
        {
            "person": [f"{MARK}person{i:03d}" for i in rows],
            "town": [f"{MARK}town{i * i % 7 % 5}" for i in rows],
            "wage": [NUMBER + i % 11 for i in rows],
            "born": [DAY + timedelta(days=i * 7 % 60) for i in rows],
            "illness": [f"{MARK}flu" if i % 10 else f"{MARK}cold" for i in rows],
            "region": [f"{MARK}{i // 3}" if i < 6 else (NORTH, SOUTH)[i % 3 // 2] for i in rows],
        },
        schema_overrides={"illness": pl.Enum([f"{MARK}cold", f"{MARK}flu"])},
    ).write_parquet(path)
    return path


class Inputs:
    """Files of people and what is asked about them; ``out`` is where results go."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "results"
        self.out.mkdir()
        self.data = people(folder / "people.parquet")
        self.later = people(folder / "later.parquet")
        hashes = [sha256(f"{MARK}person{i:03d}".encode()).hexdigest() for i in range(PEOPLE)]
        frame = pl.read_parquet(self.data).with_columns(hash=pl.Series(hashes))
        self.log = folder / "log.parquet"
        frame.write_parquet(self.log)
        self.text("tree.csv", [f"{MARK}{v};{MARK}ill;{MARK}all" for v in ("flu", "cold")])
        self.text("towns.csv", [f"{MARK}town{i};{MARK}place{i // 3};*" for i in range(5)])
        self.text("worth.csv", ["value,worth", f"{MARK}flu,3", f"{MARK}cold,2"])
        pairs = product(("flu", "cold"), repeat=2)
        gains = ["guess,value,gain", *(f"{MARK}{a},{MARK}{b},{int(a == b)}" for a, b in pairs)]
        self.text("matrix.csv", gains)
        moves = [f"{MARK}town{i},{MARK}town{i},1" for i in range(5)]
        self.text("moves.csv", ["from,to,probability", *moves])
        self.text("all.txt", [f"{MARK}person{i:03d}" for i in range(PEOPLE)])
        places = [f"{MARK}town{i}" for i in range(3)]
        counts = [f"{place},{MARK}{sex},4" for place in places for sex in "ab"]
        for name in ("first", "second"):
            (folder / name).mkdir()
            column = ("sex", "race")[name == "second"]
            self.text(f"{name}/counts.csv", [f"town,{column},count", *counts])
        for name in ("one", "two"):
            asked = ("--method", "mondrian", "--k", 3 if name == "one" else 5)
            made("anonymise", self.data, *KNOWN, *WANTED, *asked, "-o", folder / f"{name}.parquet")

    def text(self, name: str, lines: list[str]) -> None:
        """Write a file of lines."""
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def file(self, name: str) -> Path:
        """A file that the commands read."""
        return self.folder / name


def made(*arguments: object) -> None:
    """Run a command; 4: a level is not met."""
    done = run(*arguments, "--quiet")
    assert done.code in (0, 4), (arguments, done.err)


def attacks(i: Inputs) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Attacks with all that an attack can be asked for, by the names of their results."""
    told = ("--histogram", "--threshold", "0.5", "--quantile", "0.5", "--measures", "all")
    yield "by_region", ("attack", "crs,cas", i.data, *KNOWN, *WANTED, *told, "--by", "region")
    yield "by_town", ("attack", "crs", i.data, *KNOWN, *FILTER, "--by", f"t=concat(town, '{MARK}')")
    named = f"is_{MARK[:3].lower()}=CASE WHEN town = '{MARK}town1' THEN {NUMBER} ELSE wage END"
    yield "expression", ("attack", "cas", i.data, "-q", named, "-q", "born", *WANTED)
    expression = (
        f"sql:CASE WHEN guess = secret AND guess = '{MARK}flu' THEN 2 ELSE {NUMBER} * 0 END"
    )
    files = f"worth:{i.file('worth.csv')}", f"matrix:{i.file('matrix.csv')}"
    for name, gain in {"sql": expression, "worth": files[0], "matrix": files[1]}.items():
        yield name, ("attack", "cas", i.data, *KNOWN, *WANTED, "--gain", gain)
    near = ("-s", "wage", "--gain", "tolerance:5")
    yield "tolerance", ("attack", "cas", i.data, "-q", "town", *near)
    target = ("--target", f"town={MARK}town1", "--target", f"born={DAY + timedelta(days=7)}")
    yield "target", ("attack", "irs,ias", i.data, "-q", "town,born", *WANTED, *target)
    links = ("--link", "wage", "--link", f"town:table={i.file('moves.csv')}", "--presence", "0.9")
    both = (i.data, i.later, "-q", "1:wage,2:wage,1:town,2:town")
    yield "links", ("attack", "crl,cal", *both, *WANTED, *links, "--truth", "person")


def tables(i: Inputs) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Attacks on published tables, made of the records and read from files."""
    dims = f"sick=concat(illness, '{MARK}')", f"rich=CASE WHEN wage > {NUMBER} THEN 1 ELSE 0 END"
    made_of = (f"town,{dims[0]}:suppress<5", f"region,town,{dims[1]}", f"{dims[1]},{dims[0]}")
    listed = [text for one in made_of for text in ("--table", one)]
    more = ("--by", "region", "--show-cells")
    checks = ("--magnitude", "wage:town", "--time-budget", "2", "--known", "town,region,rich")
    coarser = f"town=left(town, length('{MARK}'))"
    remedies = ("--remedies", "--change", coarser, "--until", "certain_inference<=0")
    asked = (*more, *checks, *remedies, "--where", f"born > DATE '{DAY}'")
    yield "tables", ("tables", i.data, *listed, "--secret", "sick", *asked)
    files = [
        text for n in ("first", "second") for text in ("--published", i.file(f"{n}/counts.csv"))
    ]
    more = ("--by", "sex", "--show-cells", "--progressive", "--leave-one-out")
    yield "published", ("tables", *files, "--secret", "race", *more)


def others(i: Inputs) -> Iterator[tuple[str, tuple[object, ...]]]:
    """The other commands that have a result, by the names of their results."""
    own = i.folder
    policy = [
        f"[adversary]\nqids = ['town', 'born']\nsecret = ['illness']\nwhere = \"{FILTER[1]}\""
    ]
    policy += ["[[rule]]\nmodel = 'crs'\nmeasure = 'singled_out'\nat_most = 5\nby = 'region'"]
    i.text("policy.toml", policy)
    yield "policy", ("check", i.data, "--policy", own / "policy.toml")
    yield "sweep", ("sweep", i.data, *KNOWN, *WANTED, *FILTER, "--threshold", "0.5", "--histogram")
    tree = ("--hierarchy", own / "tree.csv", "--show-blocks")
    laws = ("--knows", "town=0.5,born=0.5,wage=0.5", "--threshold", "0.5")
    yield "adversaries", ("adversaries", i.out / "sweep.parquet", *laws)
    yield "levels", ("levels", i.data, *KNOWN, *WANTED, *FILTER, *tree, "--k", "3", "--l", "2")
    yield "columns", ("describe", i.data, *FILTER)
    yield "values", ("describe", i.data, "--values", "5")
    yield "compare", ("compare", i.data, own / "one.parquet", own / "two.parquet", *KNOWN, *WANTED)
    others_ = (i.data, i.later, own / "log.parquet", "--control", own / "last.parquet")
    people(own / "last.parquet")
    named = f"t=concat(town, '{MARK}')"
    asked = ("-q", named, "-q", "wage", *WANTED, *FILTER, "--by", "region", "--sweep")
    yield "synthetic", ("synthetic", *others_, *asked, "--require", "repU<=1")
    changes = [f"top(wage)={NUMBER + 5}", f"born={DAY}", "drop=town"]
    changes[1] = f"born=CASE WHEN born = DATE '{DAY}' THEN born END"
    asked = [text for change in changes for text in ("--change", change)]
    yield "changes", ("compare", i.data, *KNOWN, *WANTED, *FILTER, *asked, "--until", "k >= 2")
    both = (own / "one.parquet", own / "two.parquet", "--people", i.data)
    yield "compose", ("compose", *both, *KNOWN, *WANTED)
    yield "link", ("link", i.data, i.later, "-q", "town,wage", *FILTER, "--truth", "person")
    hashed = ("--column", "hash", "--hash", "sha256")
    yield "unhash", ("unhash", i.log, *hashed, "--pattern", f"{MARK}person[0-9]{{3}}")
    yield "found", ("unhash", i.log, *hashed, "--candidates", own / "all.txt", *FILTER)
    yield "unicity", ("unicity", i.log, "--person", "town", "-q", "born,wage", *FILTER)
    yield "estimate", ("estimate", i.data, *KNOWN, *FILTER, "--fraction", "0.1")
    yield "special", ("suda", i.data, *KNOWN, *FILTER, "--by", "region", "--values")
    register = ("--register", i.later, "--key", "town")
    yield (
        "wp29",
        (
            *("check", "--preset", "wp216", "--questions"),
            *(i.log, *KNOWN, *WANTED, *FILTER, *register),
        ),
    )
    asked_of = ("--useful", "illness", "--secret", "town", "--predicate", f"illness = '{MARK}flu'")
    order = ("--order", f"{MARK}cold,{MARK}flu")
    yield "dp", ("dp", i.data, *asked_of, *order, *FILTER, "--epsilon", "1")
    yield "dit", ("dit", i.data, "-q", "town", *WANTED, *FILTER, "--k", "2,5")
    yield "blocks", ("inspect", i.data, *KNOWN, *WANTED, *FILTER)
    yield "hyper", ("inspect", "--show", "hyper", i.data, "-q", "town", *WANTED, *FILTER)
    yield "records", ("inspect", "--show", "records", i.data, *KNOWN, *WANTED)
    target = ("--target", f"town={MARK}town1", "--target", f"born={DAY + timedelta(days=7)}")
    yield "receipt", ("inspect", "--show", "receipt", i.data, "-q", "town,born", *target)
    yield (
        "refines",
        (
            *("compare", i.data, "-q", f"t=concat(town, '{MARK}'),wage"),
            *("--refines", "wage", *FILTER),
        ),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results of every kind, in Parquet and in JSON."""
    i = Inputs(tmp_path_factory.mktemp("secretfolder"))
    for name, command in (*attacks(i), *tables(i), *others(i)):
        work = ("--workspace", i.folder / "work.sweep") if command[0] == "sweep" else ()
        made(*command, *work, "-o", i.out / f"{name}.parquet")
        if name in ("by_region", "sql", "changes", "published"):
            made(*command, "-o", i.out / f"{name}_again.json")
    asked = ("--method", "mondrian", "--k", 3, "--summary", i.out / "anonymised.parquet")
    made("anonymise", i.data, *KNOWN, *WANTED, *FILTER, *asked, "-o", i.folder / "three.parquet")
    kept = ("--one-per", "town", "-q", "born", *FILTER, "--summary", i.out / "treated.parquet")
    made("anonymise", i.data, *kept, "-o", i.folder / "treated.parquet")
    drawn = ("--method", "pram", "-q", "town", "--seed", 1, "--summary", i.out / "drawn.parquet")
    made("anonymise", i.data, *drawn, "-o", i.folder / "drawn.parquet")
    study = ["[datasets.people]", f'path = "{i.data}"', 'qids = ["town", "wage"]']
    study += ['secret = "illness"', f'where = "{FILTER[1]}"', "[[attack]]", 'name = "first"']
    study += ['model = ["crs", "cas"]', 'dataset = "people"', 'by = "region"']
    i.text("study.toml", study)
    made("run", i.file("study.toml"), "-o", i.out / "run.parquet")
    begun = qifsql.start(i.data, yes=True, folder=i.folder / "begun")
    begun.save(i.out / "start.parquet")
    return i.out


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """All that stands in files, Parquet with its metadata as text, by the names of the files."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix == ".parquet":
            text = json.dumps(pl.read_parquet_metadata(path)["qifsql"])
            text += pl.read_parquet(path).write_ndjson()
        else:
            text = path.read_text("utf-8")
        yield path.name, re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def test_one_worker_runs_all_tests_of_this_file(request: pytest.FixtureRequest) -> None:
    """A version of pytest that pytest-xdist does not know loses the groups without a word."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@sharing")


@pytest.mark.slow(because="81 s; what is planted stays the same")
def test_every_kind_of_result_has_canaries(results: Path) -> None:
    kinds = set()
    for path in results.glob("*.parquet"):
        note = json.loads(pl.read_parquet_metadata(path)["qifsql"])
        kinds.add(note["result"])
    registered = {name for name in NAMES if kind_of(name) is not None}
    assert registered - {kind.replace("-", "_") for kind in kinds} == set()
    assert len(registered) > 15


def test_canaries_are_in_what_is_stored(results: Path) -> None:
    found = {name for name, text in texts(results) if CANARIES.search(text)}
    stored = {p.name for p in results.iterdir() if p.name.count(".") == 1}
    assert stored - found == set()


@pytest.fixture(scope="module")
def reports(results: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of reports for others in all forms; what was said while they were made."""
    folder, said = tmp_path_factory.mktemp("reports"), []
    drawn = ("--charts", folder / "charts", "--chart-format", "json")
    forms = {"html": drawn, "md": (), "csv": ("--lang", "pt-BR"), "parquet": ()}
    for ending, options in forms.items():
        done = run("report", results, *options, "-o", folder / f"report.{ending}")
        assert done.code == 0, done.err
        said.append(done.err)
    return folder, "".join(said).replace(str(folder), "")


def test_no_canary_is_in_a_report_for_others(reports: tuple[Path, str]) -> None:
    found = {}
    for name, text in (*texts(reports[0]), ("stderr", reports[1])):
        if leaks := [text[max(0, m.start() - 80) : m.end() + 20] for m in CANARIES.finditer(text)]:
            found[name] = leaks[:3]
    assert found == {}
    endings = {path.suffix for path in reports[0].rglob("*") if path.is_file()}
    assert endings == {".html", ".md", ".csv", ".parquet", ".json"}


def test_a_report_for_others_numbers_groups_and_says_what_is_left_out(
    results: Path, reports: tuple[Path, str], tmp_path: Path
) -> None:
    line, *others = [x for x in reports[1].splitlines() if x.startswith("note: Left out, because")]
    assert {line} == {line, *others}
    for part in ("values of people", "fewer than 10 people", "blocks", "receipt", "target"):
        assert part in line
    assert "names of groups by region, t, sex (--name-groups shows those of a column)" in line
    for ending in ("html", "md"):
        text = (reports[0] / f"report.{ending}").read_text("utf-8")
        assert "group 1" in text
        assert line.removeprefix("note: ") in re.sub(r"\\(.)", r"\1", text)
    done = run("report", results / "by_region.parquet", "--private", "-o", tmp_path / "private.md")
    assert "Left out" not in done.err + (tmp_path / "private.md").read_text("utf-8")


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["html", "md", "csv", "parquet"])
def test_only_the_names_that_are_released_are_in_a_report(
    results: Path, tmp_path: Path, ending: str
) -> None:
    """With ``--name-groups region`` only North is named: South would tell the small regions."""
    drawn = ("--charts", tmp_path / "charts", "--chart-format", "json") if ending == "html" else ()
    named = ("--name-groups", "region", *drawn)
    done = run("report", results, *named, "-o", tmp_path / f"report.{ending}")
    assert done.code == 0, done.err
    assert "names of groups by t, sex (--name-groups" in done.err
    own = dict(texts(tmp_path)) | {"stderr": done.err.replace(str(tmp_path), "")}
    assert any(NORTH in text for text in own.values())
    others = {
        name: [text[max(0, m.start() - 80) : m.end() + 20] for m in CANARIES.finditer(text)][:3]
        for name, text in ((n, t.replace(NORTH, "")) for n, t in own.items())
    }
    assert {name: leaks for name, leaks in others.items() if leaks} == {}


def test_names_of_a_column_without_groups_are_refused(results: Path, tmp_path: Path) -> None:
    done = run("report", results, "--name-groups", "town", "-o", tmp_path / "report.md")
    assert done.code == 2
    assert 'no result has groups by "town" (--name-groups); there are groups by' in done.err
    assert list(tmp_path.iterdir()) == []


# Literals.


constants = st.sampled_from(
    (
        *(f"'{MARK}'", f"'it''s {MARK}'", f"$${MARK}$$", f"'{MARK}'::BLOB", f"DATE '{DAY}'"),
        *(str(NUMBER), f"-{NUMBER}", f"{NUMBER}.5", f"{NUMBER}e3", f"'{DAY}'", f"[{NUMBER}, 7]"),
        *(f"{{'{MARK}': 1}}", f"MAP {{'{MARK}': {NUMBER}}}", f"x -> '$.{MARK}'", f"x['{MARK}']"),
        *(f"INTERVAL {NUMBER} DAY", f"'{MARK}'::ENUM('{MARK}', 'b')", f"/* {MARK} */ 1"),
    )
)
expressions = st.recursive(
    constants | st.sampled_from(["a", '"b c"', "NULL"]),
    lambda inner: st.one_of(
        st.builds("({} = {})".format, inner, inner),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, inner, inner, inner),
        st.builds("{} IN ({}, {})".format, inner, inner, inner),
        st.builds("coalesce({}, {}) -- {MARK}\n".format, inner, inner, MARK=st.just(MARK)),
        st.builds("{} LIKE {} AND NOT {}".format, inner, inner, inner),
    ),
    max_leaves=6,
)


@given(expressions)
@settings(max_examples=examples(60))
def test_no_literal_is_left_of_an_expression(text: str) -> None:
    for shown in (literals.expression(text), literals.script(f"SELECT {text};", {})):
        assert shown is None or CANARIES.search(shown) is None, shown
    assert literals.gain(f"sql:{text}") is None or MARK not in str(literals.gain(f"sql:{text}"))
    named = literals.named(f"name={text}")
    assert named is None or CANARIES.search(named) is None


@pytest.mark.parametrize("text", ["a = ", "a = 0xCAFE", "'", "a; b", "(", "SELECT", "a b c"])
def test_what_cannot_be_parsed_is_left_out_whole(text: str) -> None:
    assert literals.expression(text) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age > 30 AND town = 'Recife'", "age > <number> AND town = <text>"),
        ("born < DATE '1990-01-31' OR is_ill = true", "born < DATE <date> OR is_ill = <boolean>"),
        ('"a b" IS NOT NULL', '"a b" IS NOT NULL'),
    ],
)
def test_a_literal_is_replaced_by_its_kind(text: str, shown: str) -> None:
    assert literals.expression(text) == shown


# Groups.


def possible(
    hidden: list[str], sum_: int, shown: dict[str | None, int], minimum: int
) -> list[tuple[int, ...]]:
    """All sizes that the hidden groups may have for who knows the sum, the groups and the rule."""
    found = []
    for sizes in product(range(1, sum_ + 1), repeat=len(hidden)):
        if sum(sizes) == sum_:
            whole = shown | dict(zip(hidden, sizes, strict=True))
            if small_groups.hidden([whole], minimum) == set(hidden):
                found.append(sizes)
    return found


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(2, 5))
@settings(max_examples=examples(80), deadline=None)
def test_the_size_of_a_small_group_cannot_be_computed(sizes: list[int], minimum: int) -> None:
    table: dict[str | None, int] = {f"g{i}": n for i, n in enumerate(sizes)}
    hidden = sorted(str(g) for g in small_groups.hidden([table], minimum))
    shown = {g: n for g, n in table.items() if g not in hidden}
    assert {g for g, n in table.items() if n < minimum} <= set(hidden)
    if not hidden or not shown:  # where all are hidden, the total is all that is shown
        return
    assert sum(table[g] for g in hidden) >= minimum
    every = possible(hidden, sum(table[g] for g in hidden), shown, minimum)
    for i, _ in enumerate(hidden):
        assert len({candidate[i] for candidate in every}) > 1


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=2), max_size=3
    ),
    st.integers(2, 10),
)
def test_a_group_is_hidden_in_all_tables_or_in_none(
    tables: list[dict[str | None, int]], minimum: int
) -> None:
    hidden = small_groups.hidden(tables, minimum)
    for table in tables:
        inside = [n for g, n in table.items() if g in hidden]
        outside = [n for g, n in table.items() if g not in hidden]
        assert all(n >= minimum for n in outside)
        assert not inside or not outside or (len(inside) > 1 and sum(inside) >= minimum)


SIZES = {"North": 200, "South": 193, "Tiny": 7}
ALONE = {"North": 20, "South": 9, "Tiny": 5}  # who is alone with their number


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several results over the same groups of 200, 193 and 7 people."""
    folder = tmp_path_factory.mktemp("groups")
    rows = [(g, i if i < ALONE[g] else -1, i % 3) for g, n in SIZES.items() for i in range(n)]
    numbers = [i if n < 0 else 10_000 + i for i, (_, n, _) in enumerate(rows)]
    frame = pl.DataFrame(rows, schema=["region", "n", "s"], orient="row")
    alone = pl.col("n") >= 0
    frame = frame.with_columns(q=pl.when(alone).then(pl.Series(numbers)).otherwise(pl.col("s")))
    frame.select("region", "q", "s").write_parquet(folder / "people.parquet")
    own = folder / "results"
    own.mkdir()
    asked = (folder / "people.parquet", "-q", "q")
    by = ("--by", "region")
    made("attack", "crs,cas", *asked, "-s", "s", *by, "--histogram", "-o", own / "both.parquet")
    made("attack", "crs", *asked, "--by", "r=region", "-o", own / "named.parquet")
    part = ("--where", "s <> 1")
    made("attack", "crs", *asked, *by, *part, "-o", own / "part.parquet")
    made("attack", "crs", *asked, "--where", "region = 'South'", "-o", own / "south.parquet")
    rule = "model = 'crs'\nmeasure = 'singled_out'\nat_most = 6\nby = 'region'\n"
    policy = f"[adversary]\nqids = ['q']\n[[rule]]\n{rule}[[rule]]\n" + rule.replace(
        "singled_out", "posterior_deterministic"
    ).replace("6", "0.5")
    (folder / "policy.toml").write_text(policy)
    made("check", asked[0], "--policy", folder / "policy.toml", "-o", own / "policy.parquet")
    return own


@pytest.mark.parametrize("ending", ["html", "md", "csv"])
def test_the_numbers_of_a_small_group_do_not_follow_from_others(
    grouped: Path, tmp_path: Path, ending: str
) -> None:
    named = ("--name-groups", "region", "--name-groups", "r")
    done = run("report", grouped, *named, "-o", tmp_path / f"report.{ending}")
    assert done.code == 0, done.err
    whole = dict(texts(tmp_path))
    text = "\n".join(t for name, t in whole.items() if not name.endswith(".manifest.json"))
    text = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>|<script.*?</script>", "", text)
    text = re.sub(r"[0-9a-f]{12,}|\d{4}-\d\d-\d\d\S*", "", text)  # digests and times
    assert "Tiny" not in text
    assert "South" not in text
    cells = [c for line in text.splitlines() for c in re.split(r"[|,<>]", line)]
    numbers = {c.strip() for c in cells}
    assert not numbers & {"193", "193.0"}
    if ending == "csv":
        table = pl.read_csv(tmp_path / "report.both.groups.csv")
        for _, own in table.group_by("attack_id"):
            assert own["individuals"].to_list().count(200) == 2  # North, and all others together
            hidden = own.filter(pl.col("group") != "North")
            assert hidden["group"].to_list() == ["other groups (2 groups)"]
            assert hidden["posterior_probabilistic"].to_list() == [None]
            assert own.filter(group="North")["gap"].to_list() == [0]
        assert not (tmp_path / "report.south.csv").exists()  # its total is that of a hidden group
        part = pl.read_csv(tmp_path / "report.part.groups.csv")
        assert set(part["group"]) == {"North", "other groups (2 groups)"}


# The terminal.


@pytest.mark.slow(because="10 s; no canary is in a report for others")
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=60))
@example([(0, 0)])
@example([(0, 0)] * 12 + [(0, 1)] + [(1, 2)] * 10)
@settings(max_examples=examples(2), deadline=None)
def test_levels_show_no_value_of_a_few_people_unless_asked(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("levels")
    frame = pl.DataFrame([(q, f"{MARK}{s}") for q, s in rows], schema=["q", "s"], orient="row")
    frame.write_parquet(folder / "people.parquet")
    crowds = frame.group_by("q", "s").len()
    few = set(crowds["s"]) - set(crowds.filter(pl.col("len") >= 10)["s"])
    asked = ("levels", folder / "people.parquet", "-q", "q", "-s", "s")
    out = folder / "page.html"
    done = run(*asked, "--format", "table", "-o", out)
    assert done.code == 0, done.err
    shown = done.out + out.read_text("utf-8").partition("<details>")[0]
    assert {value for value in few if value in shown} == set()
    named = run(*asked, "--format", "table", "--show-blocks").out
    assert MARK in named
    assert ("--show-blocks shows" in done.out) == (done.out.count(MARK) < named.count(MARK))


def test_a_report_for_others_keeps_cautions_and_names_of_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"id": range(40), "age": [i % 20 for i in range(40)]})
    people.write_parquet("people.parquet")
    people.with_columns(place=pl.col("id") % 7).write_parquet("later.parquet")
    options = ("-q", "age,2:place", "--key", "id", "--releases", "-o", "sweep.parquet")
    assert run("sweep", "people.parquet", "later.parquet", *options).code == 0
    known = ("-q", "age,id", "--fraction", "0.01", "-o", "estimate.parquet")
    assert run("estimate", "people.parquet", *known).code == 0
    assert pl.read_parquet("estimate.parquet")["caution"].drop_nulls().len() > 0
    done = run("report", "sweep.parquet", "estimate.parquet", "-o", "report.md")
    assert done.code == 0, done.err
    text = Path("report.md").read_text()
    assert "(out of range)" in text.replace("\\", "")
    assert "later.parquet" in text.replace("\\", "")


def test_a_sample_is_a_change_of_no_quasi_identifier() -> None:
    assert literals.change("sample=0.1", []) == "sample=0.1"
