"""The user's expressions: what is let in, what is refused, and that the meaning stays."""

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import SOON
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from strategies import NAMES

import qifsql
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import SOURCE, parse
from qifsql.data.option import split_name
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.functions import ALLOWED
from qifsql.errors import ColumnError, ExpressionError, QifError
from qifsql.query.render import render

TABLE = """
    CREATE TABLE people AS SELECT * FROM (VALUES
        (7, 3, -7, 2.5::DOUBLE, 1.25::DECIMAL(10, 2), 'Abc', 'x_y', DATE '2020-02-29',
         TIMESTAMP '2021-03-04 05:06:07.5', true, false, {'b': 1, 'c': {'d': 'z'}}, [1, 2, 3],
         '{"k": "v", "n": [1, 2]}', 'it''s', MAP {'p': 1}, INTERVAL 3 DAY),
        (-7, 2, 0, 'nan'::DOUBLE, -0.5::DECIMAL(10, 2), '', 'x%y', DATE '1999-12-31',
         TIMESTAMP '1999-12-31 23:59:59', false, true, {'b': 2, 'c': {'d': 'y'}}, [],
         '{"k": null}', '3', MAP {'q': 2}, INTERVAL 1 MONTH),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         NULL, NULL),
        (0, 1, 9, -0.0::DOUBLE, 99.99::DECIMAL(10, 2), 'É é', E'a\\nb', DATE '2024-01-01',
         TIMESTAMP '2024-01-01', true, NULL, {'b': NULL, 'c': NULL}, [NULL, 4], '[1,2,3]',
         '2020-01-01', MAP {}, INTERVAL 2 HOUR)
    ) AS v(i, j, k, x, m, s, u, d, ts, p, q, st, li, js, s2, mp, iv)
"""

# The same with one missing value: NaN is missing in every column that an expression uses.
NORMAL = """
    CREATE VIEW normal AS
    SELECT * REPLACE (CASE WHEN x = 'nan'::DOUBLE THEN NULL ELSE x + 0 END AS x) FROM people
"""

# Expressions whose meaning must be the same before and after they are parsed and written again.
ARITHMETIC = r"""
    i//j | -7//j | i//2*3 | i//(2*3) | (i//j)//2 | i//(j*2) | i/j | i/(j*k + 1) | 7/2 | 7//2 | 1/3
    i%j | k%3 | -i%3 | (-i)%3 | i%3*2 | i%(3*2) | i*3%2 | i*(3%2) | mod(i, 3) | m%1 | x%1 | -7%3
    i^2 | i**2 | 2^3^2 | 2**3**2 | -2^2 | -i^2 | (-i)^2 | -i**2 | i^2*3 | (i*3)^2 | 2**-j | i**0.5
    i&3 | xor(i, 3) | i&3=3 | 1<<j | 8>>j | 1<<j+1 | (1<<j)+1
    i+1&2 | i+(1&2) | i&1+2 | j<<(1&1) | 1+j<<2 | bit_count(i)
    i-j-k | i-(j-k) | i-(-j) | - -i | -(-i) | +i | 1 - -1 | 1 - - i | i*-1 | i*-j | @i | @(i-j)
    i-3+2 | i-(3+2) | i+j*k | (i+j)*k | -x | m*m | m/3 | m//1 | x//1 | i/2.0 | i//2.5 | 10 % 3.5
    abs(i) | sign(i) | ceil(x) | floor(x) | round(m) | round(m, 1) | round(i, -1) | round_even(x, 0)
    trunc(m) | sqrt(abs(i)) | cbrt(i) | exp(j) | ln(j) | log(j) | log(2, 8) | log2(j) | log10(j)
    pow(i, 2) | power(i, 2) | gcd(i, 14) | greatest(i, j) | least(i, NULL, j) | isnan(x) | isinf(x)
    floor(i/10)*10 | i - i%10 | round(x*100)/100 | round(x/0.5)*0.5 | even(x) | degrees(i) | pi()*i
"""
TEXTS = r"""
    s[1] | s[1:2] | s[:2] | s[2:] | s[-1] | s[-2:] | s[1:-1] | s[1+1] | left(s, 2) | right(s, -1)
    substr(s, 2) | substr(s, -2) | substr('abc', 0, 2) | substring(s FROM 2 FOR 1) | substring(s, 0)
    upper(s) | lower(s) | length(s) | strlen(s) | trim(s) | ltrim(s, 'A') | trim(BOTH 'A' FROM s)
    trim(TRAILING 'c' FROM s) | lpad(s, 5, '*') | rpad(i::VARCHAR, 3, '0') | replace(s, 'b', 'Q')
    reverse(s) | translate(s, 'Ab', 'xy') | concat(s, NULL, u) | concat_ws('-', s, u, NULL)
    string_split(s, 'b')[1] | regexp_replace(s, '[a-z]', 'Q', 'g') | regexp_extract(s, '(b)(c)', 2)
    regexp_matches(s, '^a', 'i') | regexp_extract_all(s, '[a-z]') | regexp_full_match(s, 'A.*')
    strpos(s, 'b') | position('b' IN s) | instr(s, 'b') | starts_with(s, 'A') | suffix(s, 'c')
    levenshtein(s, u) | ascii(s) | chr(i+65) | md5(s) | hash(s) | hex(s) | format('{} {}', s, i)
    printf('%s-%d', s, i) | strip_accents(s) | to_base(j, 2) | contains(s, 'b')
    s LIKE 'A%' | s NOT LIKE 'A%' | s ILIKE 'a%' | NOT s LIKE 'A%' | u LIKE 'x!_y' ESCAPE '!'
    u LIKE '%x_y%' | s NOT ILIKE 'a%' | s GLOB 'A*' | s ~~ 'A%' | s !~~ 'A%' | s ~~* 'a%'
    s !~~* 'a%' | s ~~~ 'A*' | s ~ 'A.*' | s !~ 'A.*' | s SIMILAR TO 'A.*' | s ^@ 'A'
    s || u | s || i | s || NULL | s || 'a' || i+1 | i || 'a' = '7a' | s COLLATE NOCASE = 'abc'
    'a''b' | 'a\b' | 'a\nb' | e'a\nb' | E'a\'b' | e'\x41\u00e9' | $$a'b$$ | $t$a$$b$t$ | '%' | '\'
    '' | '"' | '{}' | '--' | '/* */' | ';' | '🙂' | 'é' | s < u | 'a' = 'a ' | s IN ('Abc', 'x')
"""
DATES = r"""
    d + INTERVAL 1 DAY | d + INTERVAL '1 day' | d + INTERVAL '1' MONTH | d + INTERVAL (j) MONTH
    d - INTERVAL '1 year 2 months' | d + 1 | d - 1 | d - DATE '2000-01-01' | d + j | iv | d + iv
    INTERVAL 1 DAY | INTERVAL '90' MINUTE | INTERVAL '01:02:03' | INTERVAL 1 WEEK | iv * 2
    DATE '2020-01-31' + INTERVAL 1 MONTH | ts - TIMESTAMP '2000-01-01' | d + to_days(i)
    INTERVAL 1 QUARTER | year(d) | month(d) | day(d) | dayofweek(d) | weekday(d) | isodow(d)
    dayofyear(d) | week(d) | weekofyear(d) | yearweek(d) | quarter(d) | hour(ts) | minute(ts)
    second(ts) | epoch(ts) | epoch_ms(ts) | epoch_ms(i) | date_part('year', d) | decade(d)
    extract(year FROM d) | extract(dow FROM d) | extract(isodow FROM d) | extract(epoch FROM ts)
    extract(doy FROM d) | extract(decade FROM d) | extract(millisecond FROM ts) | isoyear(d)
    date_trunc('month', d) | date_trunc('week', ts) | date_trunc('year', d) = '2020-01-01'
    date_diff('month', d, DATE '2024-01-01') | datediff('year', d, DATE '2024-01-01')
    date_sub('year', d, DATE '2024-01-01') | make_date(2020, j, 1) | last_day(d) | monthname(d)
    strftime(d, '%Y-%m') | strftime('%Y', d) | strftime(ts, '%H:%M:%S.%f %j %U %-d') | era(d)
    strptime('2020-01-02', '%Y-%m-%d') | try_strptime(s2, '%Y-%m-%d')
    time_bucket(INTERVAL 1 MONTH, ts)
    d::TIMESTAMP | ts::DATE | ts::TIME | ts::TIMESTAMP_S | d::VARCHAR | (d::VARCHAR)[1:4]
    cast(d AS VARCHAR)[1:7] | d < '2020-01-01' | d BETWEEN '2000-01-01' AND '2025-01-01'
    DATE '2020-01-01' | TIMESTAMP '2020-01-01 00:00:00' | TIME '01:02:03' | year(d)//10*10
    age(ts, TIMESTAMP '2000-01-01') | date_add(d, INTERVAL 1 DAY)
"""
CASTS = r"""
    i::VARCHAR | i::VARCHAR::INT + 1 | i::DOUBLE/2 | cast(i AS DOUBLE) | i::DECIMAL(10, 2)
    i::FLOAT
    i::DECIMAL | i::NUMERIC(5) | i::HUGEINT | i::INT8 | i::TEXT | i::VARCHAR(2) | i::BOOL | i::BIT
    m::INT | m::DOUBLE | m::DECIMAL(4, 1) | m::VARCHAR | x::VARCHAR | p::INT + q::INT | i::TINYINT
    try_cast(s AS INT) | try_cast(s2 AS DATE) | coalesce(try_cast(s2 AS INT), i) | try(s2::INT)
    -i::INT | -(i::VARCHAR)::INT | i::INT//j::INT | i::VARCHAR LIKE '7%' | i::VARCHAR || 'a'
    [i, j]::VARCHAR[] | st::STRUCT(b INT, c STRUCT(d VARCHAR)) | js::JSON->'k' | INT '1' | '1'::INT
    1_000 | 1_000*i | 1e3 | 1e3*i | 1.5e-3 | 1.10 | 1.10*m | 0.1+0.2 | 0.1::DOUBLE+0.2
    12345678901234567890
    123456789012345678901234567890 | NULL | NULL::INT | true | 5.*i | 1/3::DECIMAL
"""
LOGIC = r"""
    NOT p | NOT NOT p | NOT p AND q | NOT (p AND q) | NOT p OR q | NOT (p OR q) | NOT p = q
    NOT i = 7 | NOT i IN (1, 7) | i NOT IN (1, 7) | i IN (1, 7, NULL) | i IN (7) | p AND q OR p
    p AND (q OR p) | p OR q AND p | (p OR q) AND p | (i < j) = p | i <> j | i != j | i == 7
    i IS NULL | i ISNULL | i NOTNULL | i IS NOT NULL | NOT s IS NULL | i+1 IS NULL | p IS TRUE
    p IS NOT TRUE | p IS UNKNOWN | i IS DISTINCT FROM j | i IS NOT DISTINCT FROM j | (i=7) IS TRUE
    i IN (7) IS TRUE | i BETWEEN 1 AND 7 | i NOT BETWEEN 1 AND 7 | NOT i BETWEEN 1 AND 7
    i BETWEEN j AND k AND p | -i BETWEEN -9 AND 0 | i BETWEEN 1 AND 3+4 | (i, j) = (7, 3)
    i=7 AND j=3 OR k=9 AND NOT p | i=7 OR j=3 AND k=9 | (i=7 OR j=3) AND k=9 | i<j AND j<k
    CASE WHEN p THEN 1 END | CASE WHEN p THEN 1 WHEN q THEN 2 ELSE 3 END | x = x | x = 0 | x > 1
    CASE i WHEN 7 THEN 'a' WHEN NULL THEN 'b' ELSE 'c' END | CASE WHEN p THEN 1 ELSE 2 END + 1
    CASE WHEN i>0 THEN CASE WHEN p THEN 1 ELSE 2 END END | coalesce(i, j, 0) | ifnull(i, 0)
    if(p, 1, 2) | i AND j | p IS NULL = q | i > 1 IS NOT NULL
    CASE WHEN i=7 OR j=3 THEN 1 ELSE 0 END*2
"""
NESTED = r"""
    li[1] | li[0] | li[-1] | li[1:2] | li[1:3:2] | li[j] | [1, i, j] | [i, j][1] | [i, j][-1]
    list_value(i, j) | {'a': i} | {'a': i}.a | {'a': i}['a'] | row(i, j) | struct_pack(a := i)
    st.b | st.c.d | st['b'] | struct_extract(st, 'b') | mp['p'] | MAP {'a': i} | map([1], [i])
    list_contains(li, 2) | i IN [7, 8] | list_sort(li) | list_distinct(li) | list_slice(li, 1, 2)
    list_position(li, 2) | len(li)
    flatten([li, li])
    js->'k' | js->>'k' | js->>'$.k' | js->'n'->0 | js->>'k' = 'v' | s || (js->>'k')
    (js->'k') IS NULL
    json_extract(js, '$.n[0]') | json_extract_string(js, 'k') | json_array_length(js)
    json_valid(js)
"""


def several(*texts: str) -> list[str]:
    """The expressions of a table of them: one bar stands between two."""
    lines = (line for text in texts for line in text.strip().splitlines())
    return [part.strip() for line in lines for part in line.split(" | ")]


SAME = [
    *several(ARITHMETIC, TEXTS, DATES, CASTS, LOGIC, NESTED),
    *("8 | j", "i|1", "(8|1)&2", "8|1&2", "8|1<<2", "i|j=7", "1|(2&j)"),  # they contain a bar
    *("i -- a comment", "i /* a comment */ + 1", "/* one */ i --two", "i\n+\n1", "\ti "),
]


@pytest.fixture(scope="module")
def people() -> Iterator[tuple[duckdb.DuckDBPyConnection, Schema]]:
    with duckdb.connect() as con:
        con.execute(TABLE)
        con.execute(NORMAL)
        described = con.execute("DESCRIBE people").fetchall()
        columns = tuple(Column(name, name, kind) for name, kind, *_ in described)
        yield con, Schema("people", columns)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """The same table, in a file, behind the engine."""
    file = tmp_path_factory.mktemp("expressions") / "people.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(TABLE)
    dataset = Dataset.open(f"people@{file}")
    with DuckDB(sources=[dataset]) as engine:
        yield Catalog(engine, dataset)


def admitted(text: str, catalog: Catalog) -> tuple[str, str]:
    """The SQL and the type of an expression, as binding an attack admits it."""
    tree = parse(text, catalog.schema, "expression")
    (kind,) = catalog.types([tree], ["expression"])
    return render(tree), kind


def evaluated(
    con: duckdb.DuckDBPyConnection, sql: str, table: str = "people"
) -> tuple[str, list[str]]:
    """The type and the values, as they are written: NaN is itself and 0.0 is not -0.0."""
    query = f"SELECT ({sql}\n) AS value FROM {table} AS source"
    ((_, kind, *_),) = con.execute(f"DESCRIBE {query}").fetchall()
    return kind, [repr(value) for (value,) in con.execute(query).fetchall()]


@pytest.mark.cases(33)
@pytest.mark.parametrize("text", SAME)
def test_an_expression_means_the_same_after_it_was_parsed(
    text: str, people: tuple[duckdb.DuckDBPyConnection, Schema]
) -> None:
    con, schema = people
    rendered = render(parse(text, schema, "expression"))
    assert evaluated(con, rendered) == evaluated(con, text, "normal")


@st.composite
def compound(draw: st.DrawFn) -> str:
    """Operators over operators, without brackets, so that precedence decides."""
    leaf = st.sampled_from(("i", "j", "k", "1", "3", "-2", "abs(i)", "(k)", "(-i)"))
    texts = [draw(leaf)]
    for _ in range(draw(st.integers(1, 4))):
        sign = draw(st.sampled_from(("+", "-", "*", "&", "|", "<<", ">>")))
        before = draw(st.sampled_from(("", "", "- ", "+ ")))
        texts += [sign, before + draw(leaf)]
    number = f" {' '.join(texts)} "
    wrapped = draw(
        st.sampled_from(
            (
                "{}",
                "({})",
                "-({})",
                "NOT {} > 0",
                "{} = 3 OR {} > 1 AND p",
                "{} IS NULL",
                "{} || 'a'",
            )
        )
    )
    return wrapped.replace("{}", number)


@given(text=compound())
def test_precedence_is_kept(text: str, people: tuple[duckdb.DuckDBPyConnection, Schema]) -> None:
    con, schema = people
    assert outcome(con, render(parse(text, schema, "expression"))) == outcome(con, text)


def outcome(con: duckdb.DuckDBPyConnection, sql: str) -> object:
    """The values, or the kind of the engine's refusal (an overflow, a shift by less than 0)."""
    try:
        return evaluated(con, sql)
    except duckdb.Error as e:
        return type(e)


HARMLESS = several(
    r"""
    i//10 | i%5 | i + j | round(x, 1) | abs(i) | m::INTEGER | i::VARCHAR || '*' | s[:2] || '**'
    upper(s) | left(s, 1) | year(d)//10*10 | date_trunc('month', d) | strftime(d, '%Y-%m') | i > 3
    CASE WHEN i > 0 THEN 'positive' ELSE 'other' END | coalesce(s, 'none') | s IN ('Abc', 'x')
    s LIKE 'A%' | i BETWEEN 1 AND 7 | try_cast(s2 AS INTEGER) | regexp_replace(s, '[a-z]', '', 'g')
    st.b | st.c.d | st['b'] | li[1] | mp['p'] | js->>'k' | greatest(i, j) | d + INTERVAL 1 DAY
    md5(s) | if(p, 1, 2) | list_contains(li, 2) | len(li)
    """
)


@pytest.mark.parametrize("text", HARMLESS)
def test_an_expression_of_one_row_is_admitted_with_its_type(text: str, catalog: Catalog) -> None:
    _, kind = admitted(text, catalog)
    assert kind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("list_transform(li, lambda y: y+1)[1]", "a lambda"),
        ("[i FOR i IN li]", "a comprehension"),
        ("8 >> 1 + ~1 & 3", "the operator ~"),
        ("(i + 1).abs()", "a function written behind a dot"),
        ("i.abs()", "a function written behind a dot"),
        ("nosuch.upper()", "a function written behind a dot"),
        ("source.s.upper()", "a function written behind a dot"),
    ],
)
def test_what_the_engine_reads_in_another_way_is_refused(
    text: str, says: str, catalog: Catalog
) -> None:
    with pytest.raises(ExpressionError, match=says):
        admitted(text, catalog)


@pytest.mark.parametrize("text", ["nullif(i, 7)", "repeat(s, 2)", "split_part(s, 'b', 1)"])
def test_common_functions_of_one_row_are_admitted(text: str, catalog: Catalog) -> None:
    assert admitted(text, catalog)


def hostile() -> pa.Table:
    return pa.table([[1, 2, 3]] * len(NAMES), names=list(NAMES))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """A Parquet file with every nasty name, behind the engine."""
    file = tmp_path_factory.mktemp("hostile") / "hostile.parquet"
    pq.write_table(hostile(), file)
    dataset = Dataset.open(file)
    with DuckDB(sources=[dataset]) as engine:
        yield Catalog(engine, dataset)


@pytest.mark.cases(31)
@pytest.mark.parametrize("form", ["{}", "{} + 1", "abs(-{})", "CASE WHEN {} > 1 THEN 1 END"])
@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_can_be_used_in_quotes(name: str, form: str, nasty: Catalog) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    sql, kind = admitted(form.format(quoted), nasty)
    assert kind == ("INTEGER" if form.startswith("CASE") else "BIGINT")
    source = next(c.source_name for c in nasty.schema.columns if c.name == name)
    assert 'source."' + source.replace('"', '""') + '"' in sql


REFUSED = {
    "a subquery": (
        *("(SELECT 1)", "i IN (SELECT 1)", "EXISTS (SELECT 1)", "array(SELECT 1)", "SELECT 1"),
        *("FROM people", "i UNION SELECT 1", "i + (SELECT max(i) FROM people)", "(FROM people)"),
    ),
    "an aggregate": (
        *("sum(i)", "count(*) > 1", "max(i)", "first(i)", "list(i)", "mode(i)", "any_value(i)"),
        *("string_agg(s, ',')", "bool_and(p)", "i / sum(i)", "sum(DISTINCT i)", "array_agg(i)"),
        "sum(i) FILTER (WHERE p)",
    ),
    "a window function": (
        *(
            "sum(i) OVER ()",
            "row_number() OVER ()",
            "lag(i) OVER (ORDER BY j)",
            "i + rank() OVER ()",
        ),
        "ntile(3) OVER (ORDER BY i)",
    ),
    "a parameter": ("?", "$1", "$name", ":name", "i + ?"),
    "a star": ("*", "people.*", "count(*)"),
    "several columns at once": ("columns(*)",),
    "behind a dot": ("main.random()",),
    "a statement": (
        *("CREATE TABLE x AS SELECT 1", "INSERT INTO people VALUES (1)", "CALL pragma_version()"),
        *("LOAD httpfs", "EXPLAIN SELECT 1", "VACUUM"),
    ),
    "makes rows": ("unnest(li)", "unnest([1, 2])", "explode(li)", "i + unnest(li)"),
    "one SQL expression": (
        *("DROP TABLE people", "DELETE FROM people", "UPDATE people SET i = 1", "ATTACH 'a'"),
        *("COPY people TO 'a'", "PRAGMA version", "SET threads = 1", "USE memory", "BEGIN"),
        *(
            "INSTALL httpfs",
            "DESCRIBE people",
            "VALUES (1)",
            "i; DROP TABLE people",
            "i; j",
            ";",
            "",
        ),
        *("-- i", "/* i */", "i AS z", "(i, j)", "i -- \n; DROP TABLE people", "#1"),
    ),
    "is not a SQL expression": (
        *("i) FROM people --", "1) UNION SELECT 1 --", "i, j", "i FROM people", "i WHERE true"),
        *("i ORDER BY j", "i LIMIT 1", "i +", "(", ")", '"', "'", '"unclosed', "'unclosed", "i /*"),
        *("CASE", "i = ", "DISTINCT i", "i i i"),
    ),
    "the function": (
        *("random()", "now()", "nextval('a')", "currval('a')", "getenv('HOME')", "uuid()"),
        *("getvariable('a')", "current_setting('threads')", "version()", "txid_current()"),
        *("read_text('README.md')", "read_csv('a')", "read_blob('a')", "glob('*')", "nosuch(i)"),
        *("i + random()", "CASE WHEN p THEN random() END", '"random"()'),
        *("list_concat(li, [random()])", "try(random())", "query('SELECT 1')"),
        *("gen_random_uuid()", "setseed(0.5)", "current_user", "current_database()", "error('a')"),
        *("RANDOM ()", "rand()", "get_current_timestamp()"),
    ),
}


@pytest.mark.cases(92)
@pytest.mark.parametrize(
    ("text", "why"), [(text, why) for why, texts in REFUSED.items() for text in texts]
)
def test_what_is_more_than_an_expression_of_one_row_is_refused_in_one_line(
    text: str, why: str, catalog: Catalog
) -> None:
    with pytest.raises(ExpressionError) as caught:
        admitted(text, catalog)
    message = str(caught.value)
    assert why in message or (why == "a star" and "an aggregate" in message)
    assert message.startswith("expression ")
    assert "\n" not in message
    assert "\x1b" not in message


@pytest.mark.parametrize("text", ["nosuch(i)", "i.b", "st.nosuch", "s + 1", "i::NOSUCH", "s.b"])
def test_what_the_engine_cannot_evaluate_is_refused_without_its_words(
    text: str, catalog: Catalog
) -> None:
    with pytest.raises(ExpressionError) as caught:
        admitted(text, catalog)
    assert "\n" not in str(caught.value)
    assert "Error" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("current_date", "current_timestamp", "current_time", "localtimestamp", "today()"),
        *("current_localtimestamp()", "age(ts)", "d - current_date"),
    ],
)
def test_what_depends_on_the_time_of_the_day_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(ExpressionError):
        admitted(text, catalog)


@pytest.mark.parametrize("text", ["columns('i')", "columns('.*')", "columns(['i', 'j'])"])
def test_several_columns_at_once_are_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(ExpressionError):
        admitted(text, catalog)


@pytest.mark.parametrize("text", ["to_char(d, 'YYYY')", "to_number(s2)"])
def test_what_the_dialect_cannot_say_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(ExpressionError):
        admitted(text, catalog)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "text",
    ["(" * 400 + "i" + ")" * 400, "i" + " + 1" * 3000, "coalesce(i, " * 200 + "0" + ")" * 200],
)
def test_what_nests_too_deeply_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(ExpressionError, match="expression is not a SQL expression"):
        admitted(text, catalog)


def test_a_long_expression_is_admitted_or_refused(catalog: Catalog) -> None:
    try:
        admitted("i" + " + 1" * 600, catalog)
    except QifError:
        return


def schema(*names: str) -> Schema:
    return Schema("census.parquet", tuple(Column(n, n, "BIGINT") for n in names))


@pytest.mark.parametrize("text", ["age", "AGE", "Age", '"age"', '"AGE"'])
def test_a_column_is_found_without_regard_to_case(text: str) -> None:
    assert render(parse(text, schema("age"), "expression")) == 'source."age"'


@pytest.mark.parametrize(("text", "found"), [("id", "id"), ("ID", "ID"), ('"Id"', "Id")])
def test_of_twins_the_exact_name_is_found(text: str, found: str) -> None:
    assert render(parse(text, schema("ID", "id", "Id"), "expression")) == f'source."{found}"'


def test_of_twins_another_spelling_is_ambiguous_and_both_are_named() -> None:
    with pytest.raises(
        ColumnError, match=r'"iD" is ambiguous in census.parquet: it has "ID", "id"'
    ):
        parse("iD + 1", schema("ID", "id"), "expression")


def test_an_unknown_column_is_refused_with_the_name_that_was_meant() -> None:
    with pytest.raises(ColumnError, match=r'"agee" is not in census.parquet; did you mean "age"\?'):
        parse("agee // 10", schema("age", "sex"), "expression")


def test_twins_are_told_apart_in_the_engine_too(tmp_path: Path) -> None:
    file = tmp_path / "twins.parquet"
    pq.write_table(pa.table([[1, 1], ["a", "b"]], names=["ID", "id"]), file)
    blocks = {
        name: qifsql.attack("crs", file, qids=f"z={name}").frame["blocks"].item()
        for name in ("ID + 0", "upper(id)", '"ID"', '"id"')
    }
    assert blocks == {"ID + 0": 1, "upper(id)": 2, '"ID"': 1, '"id"': 2}


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("a.b", 'source."a"."b"'),
        ("A.b.c", 'source."a"."b"."c"'),
        ('a."B c"', 'source."a"."B c"'),
        ('"a.b"', 'source."a.b"'),
        ("a.b + 1", 'source."a"."b" + 1'),
    ],
)
def test_a_dot_reads_a_field_of_a_column(text: str, sql: str) -> None:
    assert render(parse(text, schema("a", "a.b"), "expression")) == sql


@pytest.mark.parametrize(
    "text", ["people.i", "source.i", "main.people.i", "record", "rowid", "filename"]
)
def test_tables_and_columns_of_the_engine_are_no_columns(text: str, catalog: Catalog) -> None:
    with pytest.raises(ColumnError):
        admitted(text, catalog)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("decade=age//10", ("decade", "age//10")),
        (" old = age > 60 ", ("old", "age > 60 ")),
        ("a=b=c", ("a", "b=c")),
        ("two words=1", ("two words", "1")),
        ("same=x == y", ("same", "x == y")),
        ("age", None),
        ("age == 3", None),
        ("age >= 3", None),
        ("age <= 3", None),
        ("age != 3", None),
        ("age>3=true", None),
        ("=3", None),
        ("a=", None),
    ],
)
def test_a_name_stands_before_the_first_single_equals_sign(
    text: str, parts: tuple[str, str] | None
) -> None:
    assert split_name(text) == parts


@pytest.mark.slow(because="2.3 s; every recorded mutant dies without it")
@given(text=st.text(max_size=30))
def test_any_text_at_all_is_an_expression_or_refused_in_one_line(text: str) -> None:
    try:
        rendered = render(parse(text, schema("age", "sex"), "expression"))
    except (ExpressionError, ColumnError) as e:
        rendered = str(e)
    assert rendered
    assert rendered.isprintable() or "\n" in text or not text.isprintable()


def test_what_is_asked_for_stays_in_one_column_of_the_plan(tmp_path: Path) -> None:
    """A hostile name of an expression is a name in the result, and nothing else."""
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": [1, 2]}), file)
    name = 'x", (SELECT 1) AS "y'
    frame: Any = qifsql.inspect(file, qids=[f"{name}=age + 1"]).frame
    assert frame.columns == [name, "size", "success"]


# What an expression may cost

GROWN_TEXTS = """
    len(generate_series(1,3000000000)) | list_sum(range(1000000000)) | lpad(s,2000000000,'a')
    rpad(s, i, 'a') | list_resize([1],2000000000) | list_zip(range(50000000), range(50000000))
    list_reverse_sort(range(50000000)) | strftime(ts, repeat('%Y', 1000000)) | repeat(s, i)
    regexp_full_match(repeat('a',100000)||s,'(a?){1000}(a){1000}') | regexp_matches(s, u)
    jaro_similarity(repeat(s,100000), repeat(u,100000))
    levenshtein(repeat(s,1000), repeat(s,1000))
    bitstring(s, 2000000000) | to_base(j, 2, 2000000000) | repeat(repeat(s, 1000), 1000)
    damerau_levenshtein(repeat(s,999), repeat(u,999)) | format('{:>1000000000}', s)
    printf('%*d', i, j)
    printf('%1000000000d', i) | format('{:{}}', s, i)
    replace(repeat('a',999), 'a', repeat('b',999))
    bin(bin(bin(bin(bin(s))))) | range(i) | range(1,9,0)
    repeat('a', -i) | array_resize([1], i)
"""
GROWN = [text.strip() for line in GROWN_TEXTS.strip().splitlines() for text in line.split(" | ")]


@pytest.mark.parametrize("text", GROWN)
def test_what_may_grow_without_bound_is_refused_before_it_runs(catalog: Catalog, text: str) -> None:
    with pytest.raises(ExpressionError):
        catalog.types([parse(text, catalog.schema, "expression")], ["expression"])


ARGUMENTS = ("s", "i", "3000000000", "'(a?){999}'", "repeat('a', 1000)", "[1, 2]", "d", "'%999d'")


@pytest.mark.slow(because="every function of the list, with all of these arguments: a minute")
def test_no_function_takes_long_or_much_whatever_it_is_told(catalog: Catalog) -> None:
    for name in sorted(n for n in ALLOWED if n.isidentifier()):
        for n in (1, 2, 3):
            for arguments in product(ARGUMENTS, repeat=n):
                text = f"{name}({', '.join(arguments)})"
                try:
                    tree = parse(text, catalog.schema, "expression")
                    catalog.types([tree], ["expression"])
                except QifError:
                    continue
                size = exp.func("strlen", exp.cast(tree, "VARCHAR"))
                source = exp.alias_(relation(catalog.dataset), SOURCE, table=True)
                began = time.monotonic()
                try:
                    ((most,),) = catalog.engine.query(
                        exp.select(exp.Max(this=size)).from_(source), ""
                    )
                except QifError:
                    most = 0
                assert time.monotonic() - began < SOON / 60, text
                assert (most or 0) < 1_000_000, text
