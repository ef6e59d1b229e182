"""Links without a person key on a census with a known law: as many right as the model says.

    python benchmarks/calibration.py CENSUS.parquet [--people 1000000] [--folder DIR] [--charts DIR]
        [--years DIR]

Makes yearly releases from a table shaped like the Brazilian school census (a row per pupil). From
one year to the next a pupil stays in the census, always or with probability 0.92 (the others are
replaced by new ones); is a year older; stays in the school with 0.85, or goes to that of a pupil
drawn at random; and goes to another city by a table (0.95 stay; 0.03, 0.015 and 0.005 go to the
next ones). All draws are by a hash of the pupil, the year and a name. Then ``qifsql attack crl
--link`` is told that law, or a wrong one, and the truth, and the links it is sure of are compared
with those that are right: each record looked at alone, and one to one. ``--years`` is a folder of
yearly releases of another such census (a persistent id, city, school and stage of education), whose
law nobody knows: the moves between stages, the stay probability of the school and the presence are
learned from its ids.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

YEARS = 3
FIRST = """
CREATE OR REPLACE TABLE year_1 AS
SELECT row_number() OVER () AS id, TP_SEXO AS sex, NU_MES AS month, NU_DIA AS day,
    TP_COR_RACA AS race, 2018 - NU_ANO AS age, CO_MUNICIPIO_END AS city, CO_ENTIDADE AS school
FROM (FROM '{census}' LIMIT {people})
"""
CITIES = """
CREATE OR REPLACE TABLE moves AS
WITH city AS (SELECT city, row_number() OVER (ORDER BY city) - 1 AS place FROM
    (SELECT DISTINCT city FROM year_1)),
step AS (FROM (VALUES (0, 0.95), (1, 0.03), (2, 0.015), (3, 0.005)) AS s (step, probability))
SELECT a.city AS "from", b.city AS "to", probability, sum(probability) OVER
    (PARTITION BY a.city ORDER BY step) - probability AS below
FROM city AS a CROSS JOIN step
JOIN city AS b ON b.place = (a.place + step) % (SELECT count(*) FROM city)
"""
NEXT = """
CREATE OR REPLACE TABLE year_{after} AS
WITH drawn AS (
    SELECT *, row_number() OVER (ORDER BY id) - 1 AS place,
        hash(id, {after}, 'presence') % 1000000 / 1e6 AS gone,
        hash(id, {after}, 'school') % 1000000 / 1e6 AS leaves,
        hash(id, {after}, 'which') % (SELECT count(*) FROM year_{before}) AS other,
        hash(id, {after}, 'city') % 1000000 / 1e6 AS moves
    FROM year_{before}
),
kept AS (
    SELECT d.id, d.sex, d.month, d.day, d.race, d.age + 1 AS age, m."to" AS city,
        CASE WHEN d.leaves < 0.85 THEN d.school ELSE o.school END AS school
    FROM drawn AS d
    JOIN drawn AS o ON o.place = d.other
    JOIN moves AS m ON m."from" = d.city AND d.moves >= m.below
        AND d.moves < m.below + m.probability
    WHERE d.gone < {presence}
)
FROM kept
UNION ALL
SELECT id + {after} * 1000000000::BIGINT, sex, month, day, race, age, city, school FROM year_1
WHERE hash(id, {after}, 'new') % 1000000 / 1e6 < 1 - {presence}
"""
RIGHT = "; age:+1; city:table={moves}; school:stay=0.85"
WRONG = "; age:+1; city:stay=0.5; school:stay=0.99"
LAWS = {  # name: rules, presence by the model, presence in truth, releases
    "sex": ("sex" + RIGHT, "1", "1", 2),
    "sex, race, month": ("sex,race,month" + RIGHT, "1", "1", 2),
    "sex, race, month, day": ("sex,race,month,day" + RIGHT, "1", "1", 3),
    "sex; 8 % new": ("sex" + RIGHT, "0.92", "0.92", 2),
    "sex, race, month; 8 % new": ("sex,race,month" + RIGHT, "0.92", "0.92", 2),
    "sex, race, month, day; 8 % new": ("sex,race,month,day" + RIGHT, "0.92", "0.92", 3),
    "sex, race, month; wrong law": ("sex,race,month" + WRONG, "1", "1", 2),
}


STAGES = """
COPY (
    SELECT "from", "to", pupils / sum(pupils) OVER (PARTITION BY "from") AS probability
    FROM (
        SELECT a.TP_ETAPA_ENSINO AS "from", b.TP_ETAPA_ENSINO AS "to", count(*) AS pupils
        FROM '{before}' AS a JOIN '{after}' AS b USING (ID_ALUNO) GROUP BY ALL
    ) ORDER BY ALL
) TO '{stages}'
"""
IN_BOTH = "SELECT avg((ID_ALUNO IN (SELECT ID_ALUNO FROM '{after}'))::INT) FROM '{before}'"
LEARNED = {
    "city": "CO_MUNICIPIO_END; CO_ENTIDADE:stay=?; TP_ETAPA_ENSINO:table={stages}",
    "school": "CO_ENTIDADE; CO_MUNICIPIO_END:stay=?; TP_ETAPA_ENSINO:table={stages}",
}


def releases(census: Path, people: int, folder: Path, presence: str) -> list[Path]:
    """Return the yearly releases, and ``moves.csv``."""
    con = duckdb.connect()
    con.execute(FIRST.format(census=census, people=people))
    con.execute(CITIES)
    for after in range(2, YEARS + 1):
        con.execute(NEXT.format(before=after - 1, after=after, presence=presence))
    paths = [folder / f"{presence}_year_{year}.parquet" for year in range(1, YEARS + 1)]
    for year, path in enumerate(paths, 1):
        con.execute(f"COPY year_{year} TO '{path}'")
    table = 'SELECT "from", "to", probability FROM moves ORDER BY ALL'
    con.execute(f"COPY ({table}) TO '{folder / 'moves.csv'}'")
    return paths


def tenths(calibration: list[dict[str, float]]) -> dict[int, str]:
    """Return links by the chance that the model gave them, in tenths."""
    found: dict[int, list[dict[str, float]]] = {}
    for one in calibration:
        found.setdefault(min(int(one["bin"]) // 10, 9), []).append(one)
    cells = {}
    for tenth, own in found.items():
        n = sum(one["links"] for one in own)
        said, right = (sum(o["links"] * o[w] for o in own) / n for w in ("predicted", "right"))
        cells[tenth] = f"{n:,.0f} | {said:.2%} | {right:.2%}"
    return cells


def measured(name: str, command: list[str], chart: Path | None) -> tuple[list[str], list[str]]:
    """Return rows of both tables of one law, looked at one by one and one to one."""
    found, seconds = [], []
    for how in ([], ["--one-to-one"]):
        draw = ["--charts", str(chart.with_name(chart.name + "".join(how)))] if chart else []
        draw += ["--chart-format", "svg"] if chart else []
        began = time.perf_counter()
        asked = [*command, *how, *draw, "--quiet", "--format", "json", "--memory", "4GB"]
        done = subprocess.run(asked, check=True, capture_output=True, text=True)
        seconds.append(time.perf_counter() - began)
        found.append(json.loads(done.stdout))
    alone, one = found
    rows = [
        f"| {name} | {a['step']} to {a['step'] + 1} | {a['link_vulnerability']:.2%} | "
        f"{a['link_accuracy']:.2%} | {seconds[0]:.1f} | {b['link_vulnerability']:.2%} | "
        f"{b['link_accuracy']:.2%} | {seconds[1]:.1f} |"
        for a, b in zip(alone["links"], one["links"], strict=True)
    ]
    details = [f"\n{name}:\n", "| chance of a link | links | by the model | right "]
    details[-1] += "| links one to one | by the model | right |"
    details.append("| --- " + "| ---: " * 6 + "|")
    tables = [tenths(each["calibration"]) for each in found]
    for tenth in sorted(set(tables[0]) | set(tables[1])):
        cells = [table.get(tenth, "  |  |  ") for table in tables]
        details.append(
            f"| {10 * tenth} to {10 * tenth + 9 + (tenth == 9)} % | {' | '.join(cells)} |"
        )
    return rows, details


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("census", type=Path)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--charts", type=Path)
    parser.add_argument("--years", type=Path)
    options = parser.parse_args()
    attack = [str(Path(sys.executable).with_name("qifsql")), "attack", "crl"]
    rows, details = [], []
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        asked = options.census, options.people, folder
        years = {presence: releases(*asked, presence) for presence in ("1", "0.92")}
        commands = {}
        for name, (rules, presence, truth, known) in LAWS.items():
            link = rules.format(moves=folder / "moves.csv")
            commands[name] = [*map(str, years[truth][:known]), "--link", link]
            commands[name] += ["--presence", presence, "--truth", "id", "--qids", "sex,race"]
        if options.years:
            before, after, *_ = sorted(options.years.glob("*.parquet"))
            files = {"before": before, "after": after, "stages": folder / "stages.csv"}
            duckdb.execute(STAGES.format(**files))
            ((presence,),) = duckdb.execute(IN_BOTH.format(**files)).fetchall()
            for name, rules in LEARNED.items():
                link = rules.format(**files)
                known = ["--truth", "ID_ALUNO", "--qids", "CO_ENTIDADE,TP_ETAPA_ENSINO"]
                command = [str(before), str(after), "--link", link, *known]
                commands[f"{name}; learned"] = [*command, "--presence", f"{presence:.4f}"]
        for number, (name, command) in enumerate(commands.items(), 1):
            chart = options.charts / str(number) if options.charts else None
            own, more = measured(name, [*attack, *command], chart)
            rows += own
            details += more
    print("| exact columns | step | right by the model | right | s ", end="")
    print("| one to one: by the model | right | s |")
    print("| --- | --- " + "| ---: " * 6 + "|")
    print("\n".join([*rows, *details]))


if __name__ == "__main__":
    main()
