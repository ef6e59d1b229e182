"""The people as whole numbers, and the batches of targets."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.commands.dit.leave_one_out import make_scales_without
from qifsql.commands.dit.spec import BAYES, FILES, MONDRIAN, Question
from qifsql.counting import scales
from qifsql.counting.cuts import check_secret_limits
from qifsql.counting.passes import Coded, Passes
from qifsql.counting.scales import Scale, own_table
from qifsql.data.hierarchy import Hierarchy
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, InputError, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.render import render

MOST_TARGETS = 100_000  # of a batch
MOST_TRAINED_TARGETS = 500  # of a batch, if each release is trained on, or read from a file
MOST_BITS = 10_000_000  # of the cells of a batch whose releases are trained on
MOST_PEOPLE = 4_000_000  # in all releases or separate trees of a batch


@dataclass(frozen=True)
class People:
    """The tables ``coded``, ``different``, ``targets`` and ``aimed`` of the dataset ``name``."""

    name: str
    scales: tuple[Scale, ...]
    coded: Coded
    secret: Attribute


def code_people(
    engine: Engine, microdata: Microdata, hierarchies: Mapping[str, Hierarchy]
) -> People:
    """Create ``coded``: a row per record, with the places of its values on their scales.

    ``dictionary_secret_1`` has the codes of the secret. ``hierarchies`` are those that Mondrian
    cuts along. DatasetError if there are no records, InputError if the secret has one value.
    """
    name = microdata.dataset.name
    qid_scales = tuple(scales.make_scales(engine, microdata, hierarchies))
    (secret,) = scales.make_secrets(engine, microdata)
    scales.code_records(engine, microdata)
    counted = exp.select("count(*)").from_(own_table("coded"))
    ((records,),) = engine.rows(Plan((), counted), "counting records", name)
    if not records:
        after = " under the filter (where)" if microdata.where is not None else ""
        raise DatasetError(f"{name} has no records{after}; there is nobody to test")
    if secret.values == 1:
        raise InputError(
            f"secret {quoted(secret.attribute.name)} has one value, which everybody knows; name "
            "another secret"
        )
    trees = tuple(i for i, scale in enumerate(qid_scales, 1) if scale.tree is not None)
    coded = Coded(name, len(qid_scales), records, (secret,), trees=trees)
    return People(name, qid_scales, coded, microdata.secrets[0])


def choose_targets(passes: Passes, people: People, question: Question) -> list[int]:
    """Choose the people to test (targets), and divide them into batches; return their numbers.

    Created are ``aimed``, the targets with their batch, and ``whose``, the target of each record:
    one for all people with the same values, unless each record has a release without it in a file.
    ``different`` has a row per different person; for Mondrian changed scales are created, too.
    """
    numbers = {"wanted_targets": question.sample, "wanted_seed": question.seed}
    passes.make("different", "dit/different")
    # In a batch all releases are in memory, each with about as many records as the data.
    releases = max(1, min(MOST_TRAINED_TARGETS, MOST_PEOPLE // people.coded.records))
    batch_size = {"wanted_many": releases}
    if question.method == FILES:  # a file for each record
        passes.keep("whose", exp.select("record", "record AS target").from_(own_table("coded")))
        passes.make("aimed", "dit/records_aimed", numbers | batch_size)
    else:
        passes.make("targets", "dit/targets", numbers)
        passes.make("whose", "dit/whose")
        if question.method == MONDRIAN:
            _batch_mondrian_targets(passes, people, question)
        else:
            passes.make("aimed", "dit/people_aimed", batch_size)
        passes.drop("targets")
    query = exp.select("batch").distinct().from_(own_table("aimed")).order_by("batch")
    return [batch for (batch,) in passes.stream.rows(render(query))]


def _batch_mondrian_targets(passes: Passes, people: People, question: Question) -> None:
    """Create ``aimed``: the ``targets`` with their batch, small enough for the memory.

    A batch has fewer if a classifier is trained for each, or if targets need a tree of cuts with
    all people: those without whom a scale changes (``rescaled``, created first, as are scales).
    """
    (different,) = passes.row(exp.select("count(*)").from_(own_table("different")))
    make_scales_without(passes, people.scales)
    passes.make("rescaled", "dit/rescaled")
    bits = different * people.coded.width  # that a classifier learns from, for a target
    trained = max(1, min(MOST_TRAINED_TARGETS, MOST_BITS // bits))
    size = MOST_TARGETS if question.classifier == BAYES else trained
    size_with_trees = max(1, min(size, MOST_PEOPLE // different))
    passes.make("aimed", "dit/aimed", {"wanted_many": size, "wanted_few": size_with_trees})


def check_limits(people: People, question: Question) -> None:
    """Refuse a k that is too large for the data, and limits that do not fit the secret."""
    records = people.coded.records
    (secret,) = people.coded.secrets
    for limits in question.runs:
        if limits is None:
            continue
        if limits.k > records - 1:
            raise InputError(
                f"k is {limits.k:,}, and {people.name} has {plural(records, 'record')}, one less "
                "without a person; no class can have so many"
            )
        check_secret_limits(limits, secret)
