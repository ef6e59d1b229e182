"""A verdict as JUnit XML, which continuous integration shows as tests: one for each level."""

from xml.etree import ElementTree as ET

import polars as pl

from qifsql import __version__
from qifsql.commands.check import view
from qifsql.commands.check.result import Verdict
from qifsql.presentation.escaping import cell


def junit(result: Verdict) -> str:
    """Return a verdict as JUnit XML, with control characters replaced in names and values."""
    spec = result.origin.spec
    name, dataset = cell(spec["policy"]), cell(spec["dataset"])
    refusing = spec.get("unnamed") == "refuse"
    root = ET.Element("testsuites", name="qifsql")
    suite = ET.SubElement(root, "testsuite", name=f"{dataset} against {name}")
    suite.set("timestamp", result.origin.started)
    for element in (root, suite):
        others = bool(result.repeated) + bool(result.expired) + bool(result.changed)
        element.set("tests", str(result.frame.height + refusing + others))
        failures = result.broken + bool(result.refused) + others
        element.set("failures", str(failures))
        element.set("errors", "0")
        element.set("skipped", "0")
        element.set("time", f"{result.origin.seconds:.3f}")
    _add_properties(suite, result)
    for row in result.rows():
        level = f"rule {row['rule']}: {row['measure']} {row['wanted']}, {view.level_subject(row)}"
        message = "" if row["met"] else view.finding_text(row)
        more = f"{dataset}: {view.level_subject(row)}\n"
        _add_test(suite, f"{name}.{row['model']}", level, message, more)
    if refusing:
        message = f"in no rule: {', '.join(result.refused)}" if result.refused else ""
        _add_test(
            suite, f"{name}.columns", f"every column of {dataset} is in a rule", cell(message)
        )
    if result.repeated:
        message = f"records are counted, not people ({cell(', '.join(result.repeated))})"
        _add_test(suite, f"{name}.people", f"people of {dataset} are counted", message)
    if result.expired:
        message = f"the assessment has expired for {cell(', '.join(result.expired))}"
        _add_test(suite, f"{name}.recipients", f"assessments of {dataset} hold today", message)
    if result.changed:
        message = f"changed since it was written: {cell(', '.join(result.changed))}"
        _add_test(suite, f"{name}.statement", f"the statement is about {dataset}", message)
    if caveats := view.caveats(result):
        ET.SubElement(suite, "system-out").text = "\n".join(map(cell, caveats))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_properties(suite: ET.Element, result: Verdict) -> None:
    """Write the version, the data and the baseline (None: no baseline), and uncovered columns."""
    spec = result.origin.spec
    together = result.uncovered.filter(pl.col("column").is_null())["singled_out"]  # 0 or 1 rows
    values = {
        "qifsql": __version__,
        "dataset": spec["dataset"],
        "baseline": spec["baseline"],
        "not_considered": ", ".join(result.uncovered["column"].drop_nulls()) or None,
        "not_considered_singled_out": str(*together) or None,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in values.items():
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=cell(value))


def _add_test(suite: ET.Element, group: str, name: str, message: str, more: str = "") -> None:
    """Write one test, which fails if there is a message; ``more`` precedes it in the text."""
    case = ET.SubElement(suite, "testcase", classname=group, name=name)
    case.set("time", "0")
    if message:
        ET.SubElement(case, "failure", type="policy", message=message).text = more + message
