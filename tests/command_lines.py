"""Command lines of every command on small files, for properties that all commands have.

``answers.py`` runs each once; many tests look at its answer.
"""

import hashlib
import shutil
from itertools import chain, pairwise
from pathlib import Path

import duckdb
import polars as pl
import typer
from effort import EFFORT
from places import SAMPLES

from qifsql.app import application

POLICY = """
[adversary]
qids = ["age", "gender"]
secret = ["illness"]
[[rule]]
model = "crs"
measure = "singled_out"
at_most = 10
"""
STUDY = """
[datasets.people]
path = "people.parquet"
qids = ["age", "gender"]
secret = "illness"
[[attack]]
name = "everybody"
model = ["crs", "cas"]
dataset = "people"
"""

LINES: dict[str, tuple[str, ...]] = {
    "attack": (
        "attack crs,cas people.parquet -q age,gender -s illness -o attack.parquet",
        "attack crs,cas people.csv -q age,gender -s illness --store counts.duckdb",
        "attack cas people@people.duckdb -q age -s illness --gain worth:worth.csv "
        "--prior prior.csv",
        "attack crl people.parquet later.csv --key id -q age",
        "attack crl people.parquet later.csv --link age:+1 --presence 1 -q age",
        "attack cas people.parquet --learn people.csv -q age -s illness",
        "attack crs,cas people.parquet -q age,gender -s illness --knows age:+-2 --records r.csv",
        "attack cas people.parquet -q age -s illness --knows age:right=0.9 --draws 50",
    ),
    "sweep": ("sweep people.parquet -q age,gender,occupation -s illness -o sweep.parquet",),
    "adversaries": (
        "adversaries sweep.parquet --knows age=0.5,gender=1 --threshold 0.5",
        "adversaries sweep.parquet --any 1-2 --attempt 0.05",
    ),
    "inspect": (
        "inspect people.parquet -q age,gender -s illness",
        "inspect people.parquet -q age -s illness --show joint",
        "inspect people.parquet --show records -q age,gender -o rows.parquet",
        "inspect people.parquet --show records -q age,gender -o rows.csv",
        "inspect people.parquet -q age,gender -s illness --draw 3 -o test",
        "inspect people.parquet --show receipt --target age=25 --target gender=F -s illness",
    ),
    "sql": ("sql cas people.parquet -q age -s illness",),
    "shell": ("shell people.parquet -q age --init-only",),
    "run": ("run study.toml",),
    "start": ("start people.parquet --yes -o started",),
    "open": (
        "open people.parquet --no-browser --idle 0.1s",
        "open sweep.parquet --no-browser --idle 0.1s",
    ),
    "init": ("init new.toml --data people.parquet",),
    "report": ("report attack.parquet -o report.html",),
    "check": (
        "check people.parquet --policy policy.toml -o verdict.json",
        "check people.parquet --preset wp216 --questions -q age,gender -s illness",
    ),
    "explain": ("explain capacity",),
    "levels": ("levels people.parquet -q age,gender -s illness --hierarchy illness=illness.csv",),
    "anonymise": (
        "anonymise people.parquet -o treated.parquet --one-per id --seed 1",
        "anonymise people.csv -o fewer.csv --drop id,occupation",
        "anonymise people.parquet -o mondrian.parquet --method mondrian --k 2 -q age,occupation",
        "anonymise people.csv -o mdav.csv --method mdav --k 2 -q age,occupation",
        "anonymise people.csv -o recoded.csv --method recode --change age:10 --change top(age)=60"
        " -q age,occupation",
        "anonymise people.csv -o best.csv --method lattice --k 2 --suppress 0.5 -q age,occupation",
    ),
    "compare": (
        "compare people.parquet mondrian.parquet -q age,occupation -s illness",
        "compare people.parquet -q age,gender -s illness --change age:10",
        "compare people.parquet -q age,gender --refines age",
    ),
    "compose": ("compose mondrian.parquet --people people.parquet -q age,occupation -s illness",),
    "tables": (
        "tables people.parquet --table age,gender:suppress<2 --table age,illness -s illness",
        "tables --published counts.csv --published shown.csv:suppress<3",
        "tables people.parquet --table gender,illness --release mondrian.parquet:age,occupation"
        " -s illness --leave-one-out",
    ),
    "synthetic": (
        "synthetic people.parquet people.csv --control people@people.duckdb -q age,gender "
        "-s illness --sweep --questions --split age --distances 5",
    ),
    "link": ("link people.parquet later.csv -q age,occupation",),
    "unhash": ("unhash hashed.csv --column hash --hash md5 -p [0-9] --mapping mapping.csv",),
    "unicity": ("unicity people.parquet --person gender -q age --draws 10",),
    "estimate": ("estimate people.parquet -q age,gender --fraction 0.5 --records risk.csv",),
    "suda": ("suda people.parquet -q age,gender --max-size 2 --records scores.csv",),
    "dp": ("dp people.parquet --useful age --predicate age>25 --secret illness --epsilon 1",),
    "dit": ("dit people.parquet -q age,occupation --secret illness --k 2 --store dit.duckdb",),
    "verify": (
        "verify attack.parquet people.parquet",
        "verify sweep.parquet people.parquet --subsets 3",
    ),
    "describe": ("describe people.parquet",),
    "demo": ("demo",),
}
"""Command lines by the name of their command, in an order in which they can be run."""

FURTHER: dict[str, tuple[str, ...]] = {
    "attack": (
        "attack crs,cas people.csv -q age -s illness --by gender --histogram --threshold 0.5 "
        "--quantile 0.9 --measures all",
        "attack irs,ias people.csv -q age -s illness --target age=25 --gain tries:2",
        "attack cms people.csv -q age --member young=age<30",
        "attack crl people.parquet later.csv --key id --progressive -q age",
        "attack crl people.parquet later.csv --link age:+1 --presence 1 -q age --truth id",
        "attack cas people.parquet --learn people.csv -q age -s illness",
    ),
    "sweep": (
        "sweep people.parquet -q age,gender -s illness --histogram -o bins.parquet",
        "sweep people.parquet -q age,gender --sample 0.9 --seed 1",
        "sweep people.parquet -q age,gender -s illness --weight id",
    ),
    "adversaries": ("adversaries bins.parquet --knows who:age=0.5 --threshold 0.5",),
    "levels": (
        "levels people.parquet -q age -s illness --show-blocks --k 2,3 --l-recursive 3,2",
        "levels people.parquet -q age --population people.csv",
    ),
    "tables": (
        "tables people.parquet --table age,gender --table age,illness -s illness "
        "--progressive --leave-one-out --by age --magnitude id:gender",
        "tables people.parquet --table age,illness -s illness --remedies --change age:10",
    ),
    "synthetic": (
        "synthetic people.parquet people.csv people@people.duckdb -q age,gender -s illness "
        "--by gender --records said.csv --require repU<=1",
    ),
    "suda": ("suda people.parquet -q age,gender --values --by occupation --omit-missing",),
    "unicity": ("unicity people.parquet --person gender -q age --draws 10 --points 1,2",),
    "anonymise": (
        "anonymise crowd.csv -o better.csv --method lattice --k 2 --suppress 0.2 -q a,b,c",
        "anonymise crowd.csv -o three.parquet --method mondrian --k 3 -q a,b,c",
        "anonymise crowd.csv -o drawn.csv --method pram -q a -s s --pd 0.7 --alpha 1 --seed 1",
    ),
    "compare": (
        "compare crowd.csv three.parquet -q a,b,c -s s",
        "compare crowd.csv -q a,b,c -s s --change drop=c --change drop=b",
        "compare people.parquet -q age --refines gender",
    ),
    "dit": ("dit crowd.csv -q a,b -s s --k 2,3",),
    "dp": ("dp crowd.csv --useful s --secret a --predicate \"s='x'\" --epsilon 1,2",),
}
"""Further lines of a command: their answers have columns that those of ``LINES`` lack."""

JSON_LESS = ("demo", "init", "open", "report", "shell", "sql", "start")
"""Commands that write a file, a text or a page, and have no ``--format``."""


def has_json(line: str) -> bool:
    """Return whether the answer to a line is also JSON."""
    return line.split(maxsplit=1)[0] not in JSON_LESS and "--show records" not in line


DRAWN = {
    "adversaries": "adversaries sweep.parquet --knows age=0.5,gender=1 --threshold 0.5",
    "anonymise": FURTHER["anonymise"][0],
    "attack": FURTHER["attack"][0],
    "compare": FURTHER["compare"][0],
    "dit": FURTHER["dit"][0],
    "dp": FURTHER["dp"][0],
    "suda": LINES["suda"][0],
    "sweep": FURTHER["sweep"][0],
    "synthetic": LINES["synthetic"][0],
    "tables": LINES["tables"][0],
    "changes": FURTHER["compare"][1],
}
"""A line of each command that also draws charts, where the libraries for them are installed."""

CROWD = "a,b,c,s,w\n" + "".join(
    f"{i % 3},{i % 4},{i % 7},{'xy'[i % 5 == 0]},{i % 6}\n" for i in range(60)
)
"""More people than the table of the thesis has: charts of ten are too small."""


def lines(name: str) -> list[str]:
    """Return the lines of a command: all, but for a quick look."""
    return [*LINES[name], *(() if EFFORT == "quick" else FURTHER.get(name, ()))]


MAKERS = {
    word: line
    for table in (LINES, FURTHER)
    for line in chain.from_iterable(table.values())
    for option, word in pairwise(line.split())
    if option == "-o"
}
"""The line that writes a file, by the name of the file."""


def commands() -> set[str]:
    """Return the names of all commands."""
    return set(typer.main.get_command(application()).commands)  # type: ignore[attr-defined]


def lay_out(folder: Path) -> None:
    """Write the files that the command lines name."""
    people = pl.read_csv(SAMPLES / "thesis_table_3_2.csv")
    people.write_parquet(folder / "people.parquet")
    people.write_csv(folder / "people.csv")
    shutil.copy(SAMPLES / "thesis_table_5_2b.csv", folder / "later.csv")
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{folder}/people.parquet'")
    (folder / "other.csv").write_text("zzz\nno line names this file\n")
    (folder / "crowd.csv").write_text(CROWD)
    (folder / "policy.toml").write_text(POLICY)
    (folder / "study.toml").write_text(STUDY)
    (folder / "worth.csv").write_text("value,worth\nyes,2\nno,1\n")
    (folder / "prior.csv").write_text("illness,probability\nyes,0.5\nno,0.5\n")
    (folder / "illness.csv").write_text("yes;any\nno;any\n")
    (folder / "counts.csv").write_text("age,gender,count\n25,F,3\n25,M,2\n49,F,3\n49,M,1\n60,M,1\n")
    shown = "age,illness,count\n25,yes,3\n25,no,*\n49,yes,*\n49,no,*\n60,no,*\n"
    (folder / "shown.csv").write_text(shown)
    digits = [hashlib.md5(str(i).encode()).hexdigest() for i in range(4)]
    (folder / "hashed.csv").write_text("\n".join(["hash", *digits]) + "\n")
