"""Places: the repository, the samples, files of the tests."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PACKAGE = ROOT / "qifsql"
SAMPLES = ROOT / "data-samples"
BENCHMARKS = ROOT / "benchmarks"
GOLDEN = TESTS / "golden"
HOSPITALS = TESTS / "hospitals"
