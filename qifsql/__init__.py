"""Privacy risk of published microdata, measured exactly.

>>> import qifsql
>>> result = qifsql.attack("crs", "census.parquet", qids=["age", "sex"])  # doctest: +SKIP
>>> result.frame  # doctest: +SKIP

Every command of the command line is a function of the same name here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers; at run time names are imported when they are first used
    from qifsql.assessment import Assessment
    from qifsql.checking import Verdict, check
    from qifsql.collection import Collection
    from qifsql.comparison.compare import Comparison, compare
    from qifsql.comparison.what_if import WhatIf, what_if
    from qifsql.composition.compose import Composed, compose
    from qifsql.dataset import Dataset
    from qifsql.demonstration import demo
    from qifsql.description import Description, describe
    from qifsql.differential.testing import Inference, dit
    from qifsql.engine.settings import Settings
    from qifsql.errors import QifError
    from qifsql.explanation import Explanation, explain
    from qifsql.grading.levels import Levels, levels
    from qifsql.inspection import sql
    from qifsql.linkage.estimate import Estimates, estimate
    from qifsql.linkage.keyless import attack
    from qifsql.linkage.link import Linked, link
    from qifsql.linkage.unhash import Unhashed, unhash
    from qifsql.linkage.unicity import Unicity, unicity
    from qifsql.linkage.wp29 import Opinion, wp29
    from qifsql.mechanisms.tradeoff import Tradeoff, dp
    from qifsql.objects import Hyper, hyper
    from qifsql.partition import Blocks, blocks, records
    from qifsql.prompt import shell
    from qifsql.receipts import Receipt, receipt
    from qifsql.refinement import Refinement, refines
    from qifsql.report.report import report
    from qifsql.sanitise.anonymise import Anonymised, anonymise
    from qifsql.spec import Attack
    from qifsql.study.draft import init
    from qifsql.study.result import StudyResult
    from qifsql.study.run import run
    from qifsql.study.spec import Study
    from qifsql.sweep.result import Sweep
    from qifsql.sweep.run import sweep
    from qifsql.treatment.treat import Treatment, treat

__version__ = "0.2.0"

__all__ = [
    "Anonymised",
    "Assessment",
    "Attack",
    "Blocks",
    "Collection",
    "Comparison",
    "Composed",
    "Dataset",
    "Description",
    "Estimates",
    "Explanation",
    "Hyper",
    "Inference",
    "Levels",
    "Linked",
    "Opinion",
    "QifError",
    "Receipt",
    "Refinement",
    "Settings",
    "Study",
    "StudyResult",
    "Sweep",
    "Tradeoff",
    "Treatment",
    "Unhashed",
    "Unicity",
    "Verdict",
    "WhatIf",
    "__version__",
    "anonymise",
    "attack",
    "blocks",
    "check",
    "compare",
    "compose",
    "demo",
    "describe",
    "dit",
    "dp",
    "estimate",
    "explain",
    "hyper",
    "init",
    "levels",
    "link",
    "receipt",
    "records",
    "refines",
    "report",
    "run",
    "shell",
    "sql",
    "sweep",
    "treat",
    "unhash",
    "unicity",
    "what_if",
    "wp29",
]

_HOME = {
    "Anonymised": "sanitise.anonymise",
    "Assessment": "assessment",
    "Attack": "spec",
    "Blocks": "partition",
    "Collection": "collection",
    "Comparison": "comparison.compare",
    "Composed": "composition.compose",
    "Dataset": "dataset",
    "Description": "description",
    "Estimates": "linkage.estimate",
    "Explanation": "explanation",
    "Hyper": "objects",
    "Inference": "differential.testing",
    "Levels": "grading.levels",
    "Linked": "linkage.link",
    "Opinion": "linkage.wp29",
    "QifError": "errors",
    "Receipt": "receipts",
    "Refinement": "refinement",
    "Settings": "engine.settings",
    "Study": "study.spec",
    "StudyResult": "study.result",
    "Sweep": "sweep.result",
    "Tradeoff": "mechanisms.tradeoff",
    "Treatment": "treatment.treat",
    "Unhashed": "linkage.unhash",
    "Unicity": "linkage.unicity",
    "Verdict": "checking",
    "WhatIf": "comparison.what_if",
    "anonymise": "sanitise.anonymise",
    "attack": "linkage.keyless",
    "blocks": "partition",
    "check": "checking",
    "compare": "comparison.compare",
    "compose": "composition.compose",
    "demo": "demonstration",
    "describe": "description",
    "dit": "differential.testing",
    "dp": "mechanisms.tradeoff",
    "estimate": "linkage.estimate",
    "explain": "explanation",
    "hyper": "objects",
    "init": "study.draft",
    "levels": "grading.levels",
    "link": "linkage.link",
    "receipt": "receipts",
    "records": "partition",
    "refines": "refinement",
    "report": "report.report",
    "run": "study.run",
    "shell": "prompt",
    "sql": "inspection",
    "sweep": "sweep.run",
    "treat": "treatment.treat",
    "unhash": "linkage.unhash",
    "unicity": "linkage.unicity",
    "what_if": "comparison.what_if",
    "wp29": "linkage.wp29",
}


for _package in ("report", "sweep"):
    import_module(f"{__name__}.{_package}")  # binds the name to the package, once
del report, sweep


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import qifsql`` stays fast."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
