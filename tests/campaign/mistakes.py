"""Mistakes in command lines: each function takes a good one and spoils it."""

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from campaign import tables, tree, values
from campaign.draft import Draft, identifier, row

Words = list[str]
Mistake = Callable[[Draft, Words], tuple[Words, str]]  # the line, and why it must be refused

ODD = (
    *("", " ", "-1", "0", "1", "2", "1.5", "1e309", "nan", "inf", "-inf", "-0.0", "1e-320", "0x10"),
    *(
        "99999999999999999999",
        "-99999999999999999999",
        "9" * 40,
        "\u00bd",
        "\u0661",
        "1_000",
        "1,2",
    ),
    *("1/0", "0/0", "1/3", "two", "True", "null", "NaN", "None", "\x1b[31m", "\x07", "\n", "\t"),
    *("\U0001f642", "e\u0301", "'; DROP TABLE people; --", '"', "'", "\\", "=cmd()", "<b>", "%s"),
    *(
        "{}",
        "{0}",
        "$HOME",
        "~",
        "..",
        ".",
        "/",
        "*",
        "?",
        "[",
        "(",
        ")",
        "a=b",
        "=",
        ":",
        ";",
        ",",
    ),
    *("a" * 300, "(" * 200, "--", "-", "--help", "ln 3", "ln -1", "10^400", "5:", ":5", "@1", "<="),
    *("1-0", "3-1", "0-0", "1-99", "1..2", "+1", "1h", "0s", "\u202e", "\udcff", "NULL", "*,*"),
)
READERS = (
    "json_serialize_plan('SELECT zzz FROM read_csv(''{hush}.csv'')')",
    "json_serialize_plan('SELECT zzz FROM read_csv(''{hush}.csv'', header = true)')",
    "json_execute_serialized_sql(json_serialize_sql('FROM ''{hush}.csv'''))",
    "(SELECT max(column0) FROM read_csv('{hush}.csv'))",
    "(FROM '{hush}.csv')", "(SELECT content FROM read_text('{hush}.txt'))",
    "(SELECT content FROM read_blob('{hush}.txt'))", "(SELECT max(word) FROM '{hush}.parquet')",
    "read_text('{hush}.txt')", "read_csv('{hush}.csv')", "glob('{beside}/*')",
    "getenv('QIFSQL_HUSH')", "current_setting('temp_directory')",
    "current_setting('home_directory')",
    "parquet_metadata('{hush}.parquet')", "parquet_schema('{hush}.parquet')",
    "sniff_csv('{hush}.csv')", "query('FROM ''{hush}.csv''')", "query_table('{hush}.csv')",
    "list_transform([1], x -> (SELECT content FROM read_text('{hush}.txt')))",
    "list_transform(['{hush}.txt'], lambda x: read_text(x))", "getvariable('x')", "nextval('s')",
    "pg_read_file('{hush}.txt')", "version()", "current_user", "current_database()", "uuid()",
    "random()", "now()", "txid_current()", "duckdb_settings()", "which_secret('x', 'y')",
    "error(CAST({column} AS VARCHAR))", "error({column} || '')", "write_log({column})",
    "EXISTS (SELECT 1)", "{column} IN (SELECT 1)", "(SELECT {column})", "count(*)", "max({column})",
    "row_number() OVER ()", "$1", "?", "{column}; DROP TABLE people", "1; ATTACH '{hush}.duckdb'",
    "1 --", "1 /*", "COLUMNS(*)", "*", "unnest([1, 2])", "{column}.x", "try(error('x'))",
    "CAST({column} AS INTEGER)", "{column}::DATE", "strptime({column}, '%Y')", "json({column})",
    "CAST({column} AS DECIMAL(4, 2))", "{column}::UUID", "{column}::TIMESTAMP", "{column}::BIT",
    "{column}::BLOB::VARCHAR", "regexp_matches({column}, '(')", "format('{{:d}}', {column})",
    "list_extract([1], {column})", "from_hex({column})", "from_base64({column})", "{column} + 1",
    "exp(1e9)", "ln(-1)", "sqrt(-1)", "1 // 0", "factorial(30)", "2 ** 5000", "-{column}",
    "{column} LIKE '%\\' ESCAPE 'xx'", "{column} SIMILAR TO '('", "{column} COLLATE nocase",
    "CASE WHEN true THEN {column} ELSE 1 END", "{{'a': {column}}}", "[{column}]", "MAP {{1: 2}}",
    "date_trunc({column}, DATE '2020-01-01')", "chr(99999999)", "substr({column}, 9e18)",
    "repeat({column}, 100)", "lpad({column}, 5, '')", "'x' || chr(0)", "INTERVAL 1 YEAR",
    "strftime(DATE '9999-12-31', '%Q')", "{column} = 'unclosed", '"nosuch"', "nosuch()", "",
)  # fmt: skip


def unknown_column(d: Draft, argv: Words) -> tuple[Words, str]:
    """A name that is not in the file, in one of the options that name columns."""
    places = _places(argv, "--qids", "-q", "--secret", "-s", "--key", "--weight", "--by")
    places += _places(argv, "--member", "--columns", "--drop", "--useful", "--column")
    name = d.one("nosuch", "n o s u c h", "=x", "nosuch:5", "1:nosuch", "9:age", "no*such", "x\x1b")
    if not places or name in d.data.columns:
        return _with(d, argv, "--where", identifier("nosuch") + " = 1"), ""
    i = d.rng.choice(places)
    name = row([name]) if d.chance(0.5) else name
    return [*argv[:i], name, *argv[i + 1 :]], "an unknown column" if ":" not in name else ""


def odd_value(d: Draft, argv: Words) -> tuple[Words, str]:
    """A value of another kind or out of range, for an option that is there or is added."""
    if d.chance(0.4) and (places := _places(argv)):
        i = d.rng.choice(places)
        return [*argv[:i], _safe(d, argv[i - 1]), *argv[i + 1 :]], ""
    options = [o for o in tree.commands()[argv[0]] if not o.is_flag]
    if not options:
        return [*argv, d.rng.choice(ODD)], ""
    name = d.rng.choice(options).name
    word = f"{name}={_safe(d, name)}" if d.chance(0.2) else None
    return ([*argv, word] if word else [*argv, name, _safe(d, name)]), ""


def _safe(d: Draft, name: str) -> str:
    """An odd value that is no wish for hours of work, nor for a place outside the line's folder."""
    while True:
        value = str(d.rng.choice(ODD))
        huge = value.isdigit() and len(value) > 12
        outside = value == ".." or (value == "/" and name in PLACES)
        if not (huge and name in LONG) and not outside:
            return value


LONG = ("--counts", "--draws", "--within", "--sizes", "--k", "--points")
PLACES = (
    "--out",
    "-o",
    "--summary",
    "--records",
    "--mapping",
    "--store",
    "--workspace",
    "--charts",
)


def hostile_expression(d: Draft, argv: Words) -> tuple[Words, str]:
    """An expression that reads, fails, or is none, where one may stand."""
    name = d.rng.choice([*d.data.qids, *d.data.secrets])
    hush = f"{d.beside}/hush"
    text = d.rng.choice(READERS).format(hush=hush, beside=d.beside, column=identifier(name))
    named = f"x={text}"
    option = d.one("--where", "--qids", "--secret", "--weight", "--by", "--member", "--change")
    option = d.one(option, "--where", "--qids", "--predicate", "--register-where", "--gain")
    if tree.option(argv[0], option) is None:
        return odd_value(d, argv)
    if option == "--gain":
        named = f"sql:{text}"
    if option == "--change":
        named = f"{name}={text}"
    plain = option in ("--where", "--weight", "--predicate", "--register-where")
    return _with(d, argv, option, text if plain else named), ""


def missing_option(d: Draft, argv: Words) -> tuple[Words, str]:
    """Without one of its options, or with one twice."""
    starts = [i for i, w in enumerate(argv) if w.startswith("-") and tree.option(argv[0], w)]
    if not starts:
        return [*argv, "--nosuch"], "an unknown option"
    i = d.rng.choice(starts)
    option = tree.option(argv[0], argv[i])
    assert option is not None
    length = 1 if option.is_flag else 2
    part = argv[i : i + length]
    if d.chance(0.3):
        return [*argv, *part], ""
    left = [*argv[:i], *argv[i + length :]]
    needed = option.required and not any(w in option.names for w in left)
    return left, "a required option is left out" if needed else ""


def strange_words(d: Draft, argv: Words) -> tuple[Words, str]:
    """An option or a command that is not there, too many or too few words."""
    kind = d.rng.randrange(5)
    if kind == 0:
        return [
            *argv,
            d.one("--nosuch", "--k=", "--qidss=age", "-Z", "--no-quiet"),
        ], "an unknown option"
    if kind == 1:
        word = d.one("atack", "", "ATTACK", "helps", "\x1b[31m", "-")
        return [word, *argv[1:]], "an unknown command"
    if kind == 2:
        return argv[:1], ""
    if kind == 3:
        return argv[: d.rng.randint(1, len(argv))], ""
    return [*argv, _safe(d, "-o")], ""


def contradiction(d: Draft, argv: Words) -> tuple[Words, str]:
    """Options that cannot be together."""
    secret = d.one(*d.data.secrets)
    pair = d.one(
        ["--qids", row([secret]), "--secret", row([secret])],
        ["--smallest", "1", "--largest", "1"],
        ["--search"],
        ["--null", "match-any", "--weight", row([d.data.weight])],
        ["--person", d.data.key, "--household", d.data.key],
        ["--format", "xml"],
        ["--wave", d.data.key, "--aux", d.file],
        ["--one-to-one"],
        ["--rare"],
        ["--fraction", "0.1", "--population-size", "5"],
        ["--progressive", "--member", d.data.weight],
        ["--all-varchar", "--delimiter", "\u00e9"],
        ["--sample", "0.5", "--search", "--threshold", "0.5"],
        ["--method", "mdav", "--command", "false"],
        ["--without", "x"],
        ["--releases"],
        ["--restart"],
        ["--suppress"],
        ["--enforce"],
    )
    known = [w for w in pair if w.startswith("--")]
    if not all(tree.option(argv[0], w) for w in known):
        return odd_value(d, argv)
    return [*argv, *pair], "no such format" if "xml" in pair else ""


def bad_place(d: Draft, argv: Words) -> tuple[Words, str]:
    """A result that cannot be written where it should."""
    names = ("--out", "--summary", "--records", "--mapping", "--store", "--workspace", "--charts")
    options = [o for o in tree.commands()[argv[0]] if o.name in (*names, "--junit", "--temp")]
    if not options:
        return strange_words(d, argv)
    option = d.rng.choice(options).name
    place, wrong = _bad_place(d)
    if option in ("--charts", "--temp") or place in (d.file, "/dev/null.csv"):
        wrong = ""
    return _with(d, argv, option, place), wrong


def _bad_place(d: Draft) -> tuple[str, str]:
    ending = d.one(".csv", ".json", ".parquet", ".html", ".xml", ".duckdb")
    kind = d.rng.randrange(9)
    if kind == 0:
        return f"nowhere/out{ending}", "the folder is missing"
    if kind == 1:
        return "n" * 260 + ending, "the name has over 255 bytes"
    if kind == 2:
        Path("folder" + ending).mkdir(exist_ok=True)
        return "folder" + ending, "a folder is in its place"
    if kind == 3:
        return d.file, ""
    if kind == 4:
        return f"out{d.one('', '.txt', '.xlsx', '.exe')}", ""
    if kind == 5:
        Path("loop" + ending).unlink(missing_ok=True)
        Path("loop" + ending).symlink_to("loop" + ending)
        return "loop" + ending, "a link that leads to itself"
    if kind == 6:
        file = d.text("file.txt", "x")
        return f"{file}/out{ending}", "the folder is a file"
    if kind == 7:
        return "", ""
    return d.one("/dev/full", "/proc/self/x.csv", "out\x00.csv", "\u00e9" * 130 + ending), ""


def bad_source(d: Draft, argv: Words) -> tuple[Words, str]:
    """A file that cannot be read, in place of the data or of a file beside them."""
    places = [
        i
        for i, word in enumerate(argv)
        if i and word in (d.__dict__.get("file"), d.__dict__.get("other_file"))
    ]
    file, wrong = source(d)
    if not places:
        option = d.one("--policy", "--prior", "--population", "--candidates", "--hierarchy")
        if tree.option(argv[0], option) is None:
            return odd_value(d, argv)
        return _with(d, argv, option, file), ""
    i = d.rng.choice(places)
    return [*argv[:i], file, *argv[i + 1 :]], wrong


def source(d: Draft) -> tuple[str, str]:
    """Something that is no good release, and why it must be refused."""
    kinds = [_missing, _empty, _special, _csv, _parquet, _parquet, _csv, _database, _strange_table]
    return d.rng.choice(kinds)(d)


def _missing(d: Draft) -> tuple[str, str]:
    name = d.one("nowhere.parquet", "nowhere/x.csv", "*.nosuch", "people@nowhere.duckdb", "~/x.csv")
    name = d.one(
        name, "http://127.0.0.1:9/x.csv", "s3://x/y.parquet", "file:///etc/passwd", "x\x00y.csv"
    )
    return d.one(
        name, "n" * 300 + ".csv", "\x1b[31m.csv", "", "nosuch@nosuch"
    ), "there is no such file"


def _empty(d: Draft) -> tuple[str, str]:
    folder = d.new("void")
    Path(folder).mkdir()
    zero = io.BytesIO()
    pq.write_table(tables.arrow(d.data).slice(0, 0), zero)
    return d.one(
        (d.text(d.new("void") + ".csv", ""), "it has no bytes"),
        (d.text(d.new("void") + ".parquet", ""), "it has no bytes"),
        (d.text(d.new("void") + ".csv", ",".join(map(str, range(3))) + "\n"), ""),
        (d.text(d.new("void") + ".csv", "\n\n\n"), ""),
        (folder, "an empty folder"),
        (d.text(d.new("void") + ".parquet", zero.getvalue()), ""),
    )


def _special(d: Draft) -> tuple[str, str]:
    name = d.new("special") + d.one(".csv", ".parquet", ".toml")
    kind = d.rng.randrange(4)
    if kind == 0:
        os.mkfifo(name)
        return name, "a pipe that nobody writes to"
    if kind == 1:
        Path(name).symlink_to(name)
        return name, "a link that leads to itself"
    if kind == 2:
        Path(name).mkdir()
        return name, "a folder that holds nothing"
    return d.one("/dev/null", "/dev/zero", "/proc/self/mem", "/dev/full"), "a device"


def _csv(d: Draft) -> tuple[str, str]:
    good = tables.as_csv(d.data)
    canary = next((r[d.data.key] for r in d.data.rows), "x")
    line = good.split(b"\n")[0]
    broken = [
        (good + b"1,2,3,4,5,6,7,8,9,10,11,12\n", "ragged lines"),
        (good + f'"{canary}\n'.encode(), ""),
        (good[:-1] + b"\xff\xfe\n", ""),
        ("\ufeff".encode() + good, ""),
        (good.decode("utf-8", "replace").encode("utf-16"), ""),
        (good.replace(b"\n", b"\r\n"), ""),
        (good.replace(b"\n", b"\r"), ""),
        (good + b"\x00" * 20, ""),
        (line + b"\n" + b"1" * 44 + b"," * line.count(b",") + b"\n", ""),
        (
            line
            + b"\n"
            + f"{canary}".encode()
            + b"x" * 3_000_000
            + b"," * line.count(b",")
            + b"\n",
            "",
        ),
        (line + b"," + line + b"\n" + b"1," * line.count(b",") + b"2\n", ""),
        (",".join(f"c{i}" for i in range(400)).encode() + b"\n" + b"1," * 399 + b"1\n", ""),
        (b"\x1b[31mred,\x07bell\n1,2\n", ""),
        (d.rng.randbytes(400), ""),
    ]
    content, wrong = d.rng.choice(broken)
    ending = d.one(".csv", ".csv", ".tsv", ".csv.gz", ".csv.zst")
    if ending == ".csv.gz":
        packed = gzip.compress(content, mtime=0)
        spoilt = (packed[: len(packed) // 2], "half of it is missing"), (content, "it is not gzip")
        content, wrong = d.rng.choice(((packed, wrong), *spoilt))
    elif ending == ".csv.zst":
        wrong = "it is not zstd"
    elif ending == ".tsv":
        wrong = ""
    return d.text(d.new("broken") + ending, content), wrong


def _parquet(d: Draft) -> tuple[str, str]:
    sink = io.BytesIO()
    pq.write_table(tables.arrow(d.data), sink)
    good = sink.getvalue()
    n = len(d.data.rows)
    odd = {
        "nothing": pa.nulls(n), "list": pa.array([[1]] * n), "struct": pa.array([{"a": 1}] * n),
        "bytes": pa.array([b"\xff\x00"] * n), "time": pa.array([0] * n, pa.time64("us")),
        "map": pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        "zone": pa.array([0] * n, pa.timestamp("us", "America/Recife")),
        "half": pa.array([0.5] * n, pa.float32()), "big": pa.array([2**64 - 1] * n, pa.uint64()),
        "wide": pa.array([None] * n, pa.decimal128(38, 0)),
        "words": pa.array(["a"] * n).dictionary_encode(),
    }  # fmt: skip
    types = io.BytesIO()
    pq.write_table(pa.table(odd), types)
    twins = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), twins)
    wide = io.BytesIO()
    pq.write_table(pa.table({f"c{i}": [1, 2] for i in range(300)}), wide)
    content, wrong = d.one(
        (good[: len(good) // 2], "half of it is missing"),
        (good[:-4] + b"PARX", "its end is wrong"),
        (b"PAR1" + d.rng.randbytes(300) + b"PAR1", "no Parquet"),
        (b"not a parquet file at all", "no Parquet"),
        *[(made.getvalue(), "") for made in (types, types, twins, wide)],
    )  # fmt: skip
    return d.text(d.new("broken") + ".parquet", content), wrong


def _database(d: Draft) -> tuple[str, str]:
    file = d.text(d.new("broken") + ".duckdb", b"no database" * 100)
    good = tables.write(d.data, d.new("base"), ".duckdb")
    name = good.partition("@")[2]
    return d.one(
        (f"people@{file}", "no database"),
        (f"nosuch@{name}", "no such table"),
        (name, "no table is named"),
        (f'"people"@{name}', ""),
        (f"main.people@{name}", ""),
        (f"duckdb_settings()@{name}", "no such table"),
        (f"people; DROP TABLE people@{name}", "no such table"),
        (f"@{name}", "no table is named"),
    )


def _strange_table(d: Draft) -> tuple[str, str]:
    folder = Path(d.new("mixed"))
    folder.mkdir()
    pq.write_table(tables.arrow(d.data), folder / "a.parquet")
    if d.chance(0.5):
        (folder / "_delta_log").mkdir()
        (folder / "_delta_log" / "00000000000000000000.json").write_text("{}")
        return str(folder), "a folder of Delta"
    pq.write_table(pa.table({"x": [1]}), folder / "b.parquet")
    return str(folder), "files of two schemas"


def broken_text(d: Draft, argv: Words) -> tuple[Words, str]:
    """A policy, a study, a hierarchy or a list with a mistake in it."""
    texts = [
        w for w in argv[1:] if w.endswith((".toml", ".txt")) or w.startswith(("listing", "levels"))
    ]
    texts = [w for w in texts if Path(w).is_file()]
    if not texts:
        return odd_value(d, argv)
    path = Path(d.rng.choice(texts))
    content = path.read_bytes()
    i = d.rng.randrange(len(content) + 1)
    noise = d.one(
        b"", b"\x00", b"\xff", b'"', b"]", b"=", b"\n[[rule]]\n", b"nosuch = 1\n", b"-", b"9" * 400
    )
    path.write_bytes(content[:i] + noise + content[i + d.rng.randrange(8) :])
    return argv, ""


def swapped_option(d: Draft, argv: Words) -> tuple[Words, str]:
    """A good value of another option."""
    options = [o.name for o in tree.commands()[argv[0]] if not o.is_flag]
    if not options:
        return strange_words(d, argv)
    other = d.rng.choice(list(values.VALUES.values()))
    return _with(d, argv, d.rng.choice(options), (other(d) or ["x"])[0]), ""


def _places(argv: Words, *names: str) -> list[int]:
    """Return where values of options stand; of these only, if any are named."""
    return [
        i + 1
        for i, word in enumerate(argv[:-1])
        if (word in names if names else _takes_value(argv[0], word))
    ]


def _takes_value(command: str, word: str) -> bool:
    option = tree.option(command, word) if word.startswith("-") else None
    return option is not None and not option.is_flag


def _with(d: Draft, argv: Words, option: str, value: str) -> Words:
    """The line with that value of an option: in place of another one where there is one."""
    known = tree.option(argv[0], option)
    names = known.names if known else (option,)
    places = _places(argv, *names)
    if places and (known is None or not known.multiple or d.chance(0.5)):
        i = d.rng.choice(places)
        return [*argv[:i], value, *argv[i + 1 :]]
    return [*argv, option, value]


MISTAKES: dict[Mistake, int] = {
    unknown_column: 12, odd_value: 26, hostile_expression: 22, missing_option: 6,
    strange_words: 4, contradiction: 7, bad_place: 8, bad_source: 18, broken_text: 6,
    swapped_option: 5,
}  # fmt: skip
