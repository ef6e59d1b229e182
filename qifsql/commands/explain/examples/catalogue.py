"""Worked examples: each measure step by step, in lines of text, from the counts of a small table.

Every number is computed from the counts, so the lines are true for any table. The file
``measures.toml`` has the meaning of each measure and the source of its formula. The last number of
the last line is the measure itself.
"""

from collections.abc import Callable, Mapping

from qifsql.commands.explain.examples import (
    distribution,
    incomplete,
    levels,
    linking,
    noisy,
    releases,
    special,
    subsets,
    success,
    tables,
)
from qifsql.commands.explain.examples.sample import Lines, Sample, persons, shown

MODULES = (
    *(success, distribution, incomplete, subsets, levels, noisy, linking, special, tables),
    releases,
)
EXAMPLES: Mapping[str, Callable[[Sample], Lines]] = {
    name: example
    for module in MODULES
    for name, example in vars(module).items()
    if getattr(example, "__module__", "") == module.__name__ and not name.startswith("_")
}
"""The worked example of each measure by its name: the functions of these modules."""


def table(sample: Sample) -> Lines:
    """Return the counts from which an example is computed."""
    head = f"{persons(sample.people)}; {sample.qid} is known, {sample.secret} is the secret"
    return head, *shown(sample.blocks)
