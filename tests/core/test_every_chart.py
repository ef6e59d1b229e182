"""Every chart of every command is drawn: the drawing library refuses no format of any of them."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from answers import Answers, of_each
from command_lines import DRAWN

from qifsql import commands

pytest.importorskip("altair")
pytest.importorskip("vl_convert")


def test_every_command_with_charts_is_here() -> None:
    folder = Path(commands.__file__).parent
    rooms = {path.parent.name for path in folder.glob("*/charts.py")}
    assert rooms == {line.split(maxsplit=1)[0] for line in DRAWN.values()}


@pytest.mark.cases(1)
@of_each(DRAWN)
def test_every_chart_is_drawn(answers: Answers, name: str) -> None:
    answer = answers.to(DRAWN[name])
    assert answer.done.code == 0, answer.done.err
    drawn = [path for path in answer.written if path.suffix == ".svg"]
    assert drawn
    assert all(ElementTree.parse(path).getroot().tag.endswith("svg") for path in drawn)
    assert "ERROR" not in answer.libraries
