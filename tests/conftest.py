"""What all tests share: where the data are, and how long hypothesis may search."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]  # every attack opens an engine

settings.register_profile("default", max_examples=40, deadline=None, suppress_health_check=SLOW)
settings.register_profile("ci", settings.get_profile("default"), max_examples=60, derandomize=True)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of the tables that come with the package."""
    return ROOT / "data-samples"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public microdata and reference results, which is not in the repository."""
    given = os.environ.get("QIFSQL_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared"
    if not (folder / "data" / "reference").is_dir():
        pytest.skip(f"no test data in {folder}; set QIFSQL_SHARED to the folder that has data/")
    return folder
