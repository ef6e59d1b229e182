"""``qifsql check``."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.commands.check.spec import QUESTIONS, CheckOptions, Preset, QuestionOptions
from qifsql.data.option import ATTACK, RUN
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options import shared_options
from qifsql.options.grouping import single_option
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Auxiliary, Data, Output

PEOPLE_OPTIONS = ("original", "control")  # files to compare a synthetic release with

Policy = Annotated[
    Path | None,
    typer.Option("--policy", help="Policy file (TOML, see above).", rich_help_panel=ATTACK),
]
Questions = Annotated[
    bool,
    shared_options.option(
        "With --preset wp216: answer the opinion's questions instead of a verdict.",
        "--questions",
        panel=QUESTIONS,
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", help="Also write JUnit XML, one test per level.", rich_help_panel=RUN),
]


EXAMPLES = {
    "Hold a release to a policy.": (
        'printf \'[[rule]]\\nmodel = "crs"\\nmeasure = "posterior_probabilistic"\\nat_most = '
        "0.1\\n' > policy.toml && qifsql check data-samples/school_census_2018.parquet "
        "--policy policy.toml -q TP_SEXO,NU_ANO"
    ),
    "Hold a release to 5-anonymity, as many statistical offices do.": (
        "qifsql check data-samples/school_census_2018.parquet --preset k5 -q TP_SEXO,NU_ANO"
    ),
    "Write the verdict for a pipeline, as JSON and JUnit.": (
        "qifsql check data-samples/school_census_2018.parquet --policy policy.toml -q "
        "TP_SEXO,NU_ANO -o verdict.json --junit verdict.xml"
    ),
    "Answer the three questions of the opinion WP 216, with the next year as a register.": (
        "qifsql check data-samples/school_census_2018.parquet --preset wp216 --questions -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -s TP_COR_RACA --register "
        "data-samples/school_census_2019.parquet --threshold 0.2"
    ),
}


def check(
    context: typer.Context,
    data: Data,
    auxiliary: Auxiliary,
    options: CheckOptions,
    about: QuestionOptions,
    output: Output,
    settings: Settings,
    policy: Policy = None,
    preset: Annotated[str | None, single_option(Preset, "preset")] = None,
    questions: Questions = False,
    junit: Junit = None,
) -> Answer:
    """Check a release against a policy; exit code 4 if a level is not met.

    If people may have several records, name the column of people first (--person, or person in
    the policy): without it a policy that does not accept records is not met.

    The policy is a TOML file. Options given here override its \\[adversary]:

    \b
    unnamed = "warn"               # or "refuse" or "ignore" (see below)

    \b
    \\[adversary]
    qids = ["age", "sex"]
    secret = ["disease"]

    \b
    [\\[rule]]                       # one table per rule
    model = "cas"
    measure = "posterior_probabilistic"
    at_most = 0.9                  # or at_least, or both
    by = "region"                  # optional: in every group
    secret = "disease"             # optional: for one secret

    \b
    [\\[rule]]
    model = "crs"
    measure = "singled_out"
    rise_at_most = 10              # or fall_at_most: against the baseline

    \b
    \\[baseline]
    file = "last.json"             # written by qifsql check -o last.json

    \b
    [\\[recipient]]                  # to whom it is given, and the accepted risk
    name = "university"
    knows = { age = 0.9, sex = 1 } # chances that they know it
    attempt = 0.05                 # that they try
    at_most = { maximum = 0.05, average = 0.01 }
    until = 2028-12-31

    A rule with model = "synthetic" compares FILE with the people from whom it was made
    (original), and with people from whom it was not made (control), by the measures of
    qifsql synthetic; the worse end of an interval is compared.

    A rule with model = "tables" bounds what FILE proves together with all that was
    published of the same people before (\\[tables] ledger = "FILE"), by the measures of
    qifsql tables.

    --preset takes the levels of an authority instead of a file; qifsql init --policy
    writes them with their sources and limits. A key attempt, the chance that anybody
    attacks, multiplies probabilities (in \\[adversary] or a rule; default 1).

    The result lists all columns of the file with their roles, and the people whom
    the columns without a rule would single out, together and each alone (keys and
    secrets excepted). With unnamed = "refuse" such columns break the policy; with
    "ignore" they are listed and not measured.

    With --preset wp216 --questions: the questions of EU Opinion 05/2014 (WP 216),
    singling out, linkability and inference, answered without a verdict.
    """  # noqa: D301 - the backspace keeps the lines of the example as they are
    from qifsql.commands.check import view
    from qifsql.commands.check.check import check as run
    from qifsql.commands.check.check import policy_file
    from qifsql.results.storage import check_ending, check_place, write
    from qifsql.study.policy import read

    source = auxiliary.source(data)
    baseline, statement = options.pop("baseline", None), options.pop("statement", None)
    adversary: dict[str, Any] = dict(options)
    for name in ("null", "absent"):  # a default does not win over the policy
        if getattr(context.get_parameter_source(name), "name", "") == "DEFAULT":
            adversary.pop(name, None)
    rules = policy_file(policy, preset)
    if questions:
        if junit is not None:
            raise InputError("the three questions have no verdict; leave --junit out")
        result = run(
            source[0] if len(source) == 1 else source,
            questions=True,
            preset=preset,
            baseline=baseline,
            statement=statement,
            settings=settings,
            **adversary,
            **about | {"seed": settings.seed or 0},
        )
        title = f"three questions about {shared_options.title_of(source)}"
        return Answer(result, title, aside=result.details, prose=True)
    if junit is not None:
        check_ending(junit, (".xml",))
    levels = read(rules, **adversary)
    people = [adversary[name] for name in PEOPLE_OPTIONS if name in adversary]
    inputs = [path for dataset in (*source, *people) for path in dataset.paths]
    ledger = levels.tables.get("ledger")
    inputs += [str(f) for f in (levels.file, levels.baseline, baseline, ledger) if f is not None]
    for file in (output.out, junit):  # refuse them before any work is done
        if file is not None:
            check_place(file, tuple(inputs))
    adversary |= {"baseline": baseline, "statement": statement}
    verdict = run(source, rules, settings=settings, **adversary, **about)
    notes = []
    is_table = sys.stdout.isatty() if output.format_ is None else output.format_ == "table"
    if not is_table:  # a table ends with this line
        notes = [f"{view.subject(verdict.origin.spec)}: {verdict.summary}", *view.caveats(verdict)]
    if junit is not None:
        from qifsql.commands.check.junit import junit as xml

        write({junit: xml(verdict)}, verdict.origin)
    title = f"qifsql: {shared_options.title_of(source)} against {levels.file.name}"
    return Answer(verdict, notes=notes, display=view.display(verdict, title))
