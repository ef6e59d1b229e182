"""Make a wholly synthetic file in the layout of the students of Brazil's Higher Education Census.

    python make_higher_education_census.py OUT [--rows 100000] [--seed 2019] [--year 2019]

``OUT`` ends in ``.csv``, with ``|`` between the fields as in INEP's ``SUP_ALUNO_2019.CSV``, or in
``.parquet``. A row is an enrolment; about one student in nine has more than one. Files of one seed
and several years hold the same students: each year a fifth of them leaves and a fifth is new. Their
code is ``CO_ALUNO`` up to 2017, the same in all years, and ``ID_ALUNO`` from 2018 on, new in each.
No record describes a real person: cities, institutions and courses have codes that do not exist.

DuckDB makes the file, row by row and out of core, so that it may be larger than the memory. Every
draw is whole-number arithmetic on the number of the row, so the same options give the same file
on any machine, with any number of threads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

ROWS, STUDENTS = 12_350_832, 11_038_074  # of the census of 2019 (Nunes 2021, Experiment 58)
PER_COURSE, PER_INSTITUTION = 272, 4_232  # students; 40,564 courses, 2,608 institutions in 2019
CITIES = 5_570
FIRST_YEAR, LAST_YEAR = 2009, 2019
OWN_CODES = 2018  # the first year with codes of its own
STAY = 5  # years
MEMORY = "1GB"  # for sorting; the rest is in a temporary folder beside the file

MACROS = """
-- A number in [0, 1) from the number of a thing and of a question about it.
CREATE MACRO mixed(n) AS xor(n, n >> 15);
CREATE MACRO draw(thing, question) AS
    mixed(mixed(mixed(
        (thing + question::BIGINT * 1299709001 + {start}) % 2147483647 * 48271 % 2147483647
    ) * 69621 % 2147483647) * 39373 % 2147483647) / 2147483648;
-- The number of a course: a few are very large, many are small.
CREATE MACRO course(u) AS
    floor((1 - sqrt(1 - u * u * sqrt(sqrt(u)))) * {courses})::BIGINT;
-- A number below n, the smaller the likelier.
CREATE MACRO low(u, n) AS floor(u * u * n)::BIGINT;
"""

QUERY = """
WITH
-- One row per enrolment: whose it is. The first rows are one for each student.
enrolments AS (
    SELECT
        row,
        row >= {students} AS another,
        {before} + if(row < {students}, row, floor(draw(row, {year}) * {students})::BIGINT)
            AS student
    FROM range({rows}) rows(row)
),
-- The same, with the year of entry, the courses of the student, and that of this enrolment.
entered AS (
    SELECT
        *,
        {first_year} + greatest(0, student - {students} + {fifth}) // {fifth} AS entry,
        entry + 1 + floor(draw(student, 1) * 16) <= {year} AS changed,
        course(draw(student, 2)) AS first_course,
        CASE
            WHEN NOT changed THEN first_course
            WHEN draw(student, 36) < 0.6
                THEN least({courses} - 1,
                    first_course // 16 * 16 + floor(draw(student, 3) * 16)::BIGINT)
            ELSE course(draw(student, 3))
        END AS main_course,
        CASE
            WHEN NOT another THEN main_course
            WHEN draw(row, 4) < 0.7 THEN (main_course + 4) % {courses}
            ELSE course(draw(row, 5))
        END AS course
    FROM enrolments
),
-- What the course is like: every fourth is public, the largest of the others teach at a distance.
taught AS (
    SELECT
        *,
        course % 4 = 3 AS public,
        NOT public AND course < 0.05 * {courses} AS distance,
        if(public, low(draw(course, 6), {public}),
            {public} + low(draw(course, 6), {private})) AS institution,
        draw(course, 9) AS financed
    FROM entered
),
-- The student, who is as students of the first course are, and the same in all enrolments.
students AS (
    SELECT
        *,
        if(draw(student, 10) < if(first_course < 0.05 * {courses}, 0.3, 0.7),
            low(draw(student, 11), 4), low(draw(student, 11), 40)) AS older,
        DATE '2001-01-01' + floor(draw(student, 12) * 365)::INTEGER AS birthday,
        draw(student, 13) AS origin,
        draw(student, 14) AS race,
        low(draw(first_course // 16, 7), {cities}) AS city_of_course,
        CASE
            WHEN draw(student, 15) < 0.62 THEN city_of_course
            WHEN draw(student, 15) < 0.96
                THEN (city_of_course + low(draw(student, 16), 20)) % {cities}
            ELSE low(draw(student, 16), {cities})
        END AS city
    FROM taught
)
SELECT
    {year}::SMALLINT AS NU_ANO_CENSO,
    (990000 + institution)::INTEGER AS CO_IES,
    CASE
        WHEN public THEN if(draw(institution, 17) < 0.6, 1, if(draw(institution, 17) < 0.9, 2, 3))
        WHEN draw(institution, 17) < 0.5 THEN 4
        ELSE 5
    END::TINYINT AS TP_CATEGORIA_ADMINISTRATIVA,
    (1 + low(draw(institution, 18), if(public, 5, 3)))::TINYINT AS TP_ORGANIZACAO_ACADEMICA,
    (99000000 + course)::INTEGER AS CO_CURSO,
    if(NOT distance, 1 + floor(draw(course, 19) * 4), NULL)::TINYINT AS TP_TURNO,
    (1 + low(draw(course, 20), 4))::TINYINT AS TP_GRAU_ACADEMICO,
    if(distance, 2, 1)::TINYINT AS TP_MODALIDADE_ENSINO,
    {person},
    9000000000 + row AS CO_ALUNO_CURSO,
    CASE
        WHEN draw(student, 21) < 0.5 * draw(institution, 22)
            THEN if(draw(institution, 23) < 0.6, 0, 9)
        WHEN race < 0.52 THEN 1
        WHEN race < 0.88 THEN 3
        WHEN race < 0.97 THEN 2
        WHEN race < 0.99 THEN 4
        ELSE 5
    END::TINYINT AS TP_COR_RACA,
    if(draw(student, 24) < 0.12 + 0.85 * draw(first_course, 8), 1, 2)::TINYINT AS TP_SEXO,
    (entry - 17 - older)::SMALLINT AS NU_ANO_NASCIMENTO,
    month(birthday)::TINYINT AS NU_MES_NASCIMENTO,
    day(birthday)::TINYINT AS NU_DIA_NASCIMENTO,
    ({year} - entry + 17 + older)::SMALLINT AS NU_IDADE,
    if(origin < 0.995, 1, if(origin < 0.997, 2, 3))::TINYINT AS TP_NACIONALIDADE,
    if(origin < 0.997, 76, list_value(24, 32, 68, 170, 332, 600, 604, 620)
        [1 + floor(draw(student, 25) * 8)::INTEGER])::SMALLINT AS CO_PAIS_ORIGEM,
    if(origin < 0.995 AND draw(student, 26) > 0.4 * draw(institution, 27), 9900000 + city, NULL)
        ::INTEGER AS CO_MUNICIPIO_NASCIMENTO,
    CASE
        WHEN draw(institution, 28) < 0.055 AND draw(student, 29) < 0.7 THEN 9
        WHEN draw(student, 30) < 0.006 THEN 1
        ELSE 0
    END::TINYINT AS IN_DEFICIENCIA,
    list_value(2, 2, 2, 2, 2, 2, 2, 3, 4, 6)[1 + floor(draw(row, 31) * 10)::INTEGER]::TINYINT
        AS TP_SITUACAO,
    if(public, NULL, draw(student, 32) < if(financed < 0.65, 0.04 + 0.4 * financed,
        0.52 + 1.2 * (financed - 0.65)))::TINYINT AS IN_FINANCIAMENTO_ESTUDANTIL,
    CASE
        WHEN draw(institution, 33) < 0.04 THEN 9
        WHEN draw(student, 34) < 0.5 + 0.45 * draw(first_course, 35) THEN 1
        ELSE 2
    END::TINYINT AS TP_ESCOLA_CONCLUSAO_ENS_MEDIO,
    entry::SMALLINT AS NU_ANO_INGRESSO
FROM students
ORDER BY CO_IES, CO_CURSO, CO_ALUNO_CURSO
"""


def write(path: Path, rows: int, seed: int, year: int) -> int:
    """Write the file; return the number of students."""
    students = max(1, rows * STUDENTS // ROWS)
    institutions = max(16, students // PER_INSTITUTION)
    names = {
        "rows": rows,
        "students": students,
        "fifth": max(1, students // STAY),
        "before": (year - FIRST_YEAR) * max(1, students // STAY),
        "courses": max(60, students // PER_COURSE),
        "public": max(2, institutions // 9),
        "private": institutions - max(2, institutions // 9),
        "cities": CITIES,
        "seed": seed,
        "start": seed * 1_500_450_271 % 2_147_483_647,
        "year": year,
        "first_year": FIRST_YEAR,
        "person": "990000000000 + student AS CO_ALUNO"
        if year < OWN_CODES
        else f"upper(md5('{seed} {year} ' || student)) AS ID_ALUNO",
    }
    if path.suffix.lower() == ".parquet":
        note = "synthetic: no real person is in this table"
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{note: '{note}'}}"
    else:
        options = "FORMAT csv, DELIMITER '|', HEADER"
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute("SET temp_directory = $1", [f"{path}.tmp"])
        connection.execute(MACROS.format(**names))
        connection.execute(f"COPY ({QUERY.format(**names)}) TO $1 ({options})", [str(path)])
    return students


def main() -> None:
    """Read the command line and make the file."""
    parser = argparse.ArgumentParser(description="Make a synthetic Higher Education Census.")
    parser.add_argument("out", type=Path, help="the file, .csv or .parquet")
    parser.add_argument("--rows", type=int, default=100_000, help="enrolments, at least 1000")
    parser.add_argument("--seed", type=int, default=2019)
    parser.add_argument("--year", type=int, default=2019, help=f"{FIRST_YEAR} to {LAST_YEAR}")
    args = parser.parse_args()
    if args.out.suffix.lower() not in (".csv", ".parquet"):
        parser.error("the file must end in .csv or .parquet")
    if args.rows < 1000 or not 0 <= args.seed < 2**31:
        parser.error("--rows is at least 1000, and --seed from 0 to 2147483647")
    if not FIRST_YEAR <= args.year <= LAST_YEAR:
        parser.error(f"--year is from {FIRST_YEAR} to {LAST_YEAR}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    students = write(args.out, args.rows, args.seed, args.year)
    print(f"{args.out.name}: {args.rows:,} enrolments of {students:,} students")


if __name__ == "__main__":
    main()
