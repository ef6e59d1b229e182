"""A verdict as JUnit XML, which continuous integration shows as tests: one for each level."""

from typing import Any
from xml.etree import ElementTree as ET

from qifsql import __version__
from qifsql.checking import Verdict
from qifsql.report import verdicts
from qifsql.report.cells import cell


def junit(result: Verdict) -> str:
    """The XML of a verdict. Names and values are text in which control characters are replaced."""
    spec = result.origin.spec
    name = cell(spec["policy"])
    root = ET.Element("testsuites", name="qifsql")
    suite = ET.SubElement(root, "testsuite", name=name, timestamp=result.origin.started)
    for element in (root, suite):
        element.set("tests", str(result.frame.height))
        element.set("failures", str(result.broken))
        element.set("errors", "0")
        element.set("skipped", "0")
        element.set("time", f"{result.origin.seconds:.3f}")
    properties = ET.SubElement(suite, "properties")
    about = {"qifsql": __version__, "dataset": spec["dataset"], "baseline": spec["baseline"]}
    for key, value in about.items():
        if value is not None:
            ET.SubElement(properties, "property", name=key, value=cell(value))
    for row in result.rows():
        _case(suite, row, name)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ET.Element, row: dict[str, Any], policy: str) -> None:
    """One level: its name says rule, whom and what; a failure says the value and the bounds."""
    whom = verdicts.whom(row)
    name = f"rule {row['rule']}: {row['measure']} {row['wanted']}, {whom}"
    case = ET.SubElement(suite, "testcase", classname=f"{policy}.{row['model']}", name=name)
    case.set("time", "0")
    if not row["met"]:
        said = verdicts.found(row)
        failure = ET.SubElement(case, "failure", type="policy", message=said)
        failure.text = f"{whom}\n{said}"
