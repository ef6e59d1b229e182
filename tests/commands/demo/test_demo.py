"""The main job on the bundled sample."""

import pytest
from answers import Answers, together


@together("demo")
@pytest.mark.slow(because="9 s; the wheel and the clone run the demo")
def test_demo_prints_and_writes_the_reports(answers: Answers) -> None:
    answer = answers.to("demo")
    assert "people are singled out" in answer.done.out
    files = {path for path in answer.written if path.is_file()}
    assert {path.parent for path in files} == {answers.folder / "demo-report"}
    assert {path.suffix for path in files} == {".parquet", ".csv", ".html", ".json"}
