"""Hints about missing extras: the command fits how qifsql was installed."""

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from places import PACKAGE

from qifsql import __version__
from qifsql.data import installation

INDEX = "pip install 'qifsql[ml]'"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an active environment in it, as `make` sets it up."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "pip"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def come_from(origin: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip have stored this origin of qifsql; None for a package of an index."""
    text = None if origin is None else json.dumps(origin)
    package = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
    monkeypatch.setattr(installation, "distribution", lambda name: package)


def clone(place: Path, *, editable: bool) -> dict[str, Any]:
    """The entry that pip stores of an installation from a folder."""
    return {"url": place.as_uri(), "dir_info": {"editable": True} if editable else {}}


def test_a_package_of_an_index_has_its_extras_there(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_from(None, monkeypatch)
    assert installation.command("ml") == INDEX


def test_sources_that_nobody_installed_name_the_package(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", missing)
    assert installation.command("ml") == INDEX


@pytest.mark.parametrize(("editable", "option"), [(True, "--editable "), (False, "")])
def test_a_clone_installs_its_extras_itself(
    editable: bool, option: str, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_from(clone(environment, editable=editable), monkeypatch)
    assert installation.command("ml") == f"pip install {option}'.[ml]'"


def test_another_folder_and_an_inactive_environment_are_named(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_from(clone(environment, editable=True), monkeypatch)
    monkeypatch.setenv("PATH", "")
    python = ".venv/bin/python"
    assert installation.command("ml") == f"{python} -m pip install --editable '.[ml]'"
    (environment / "data").mkdir()
    monkeypatch.chdir(environment / "data")
    assert shlex.split(installation.command("ml")) == [
        *(str(environment / python), "-m", "pip", "install", "--editable", f"{environment}[ml]")
    ]


def test_a_wheel_is_named_by_its_file(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = environment / "dist of today" / "qifsql-0.2.0-py3-none-any.whl"
    come_from({"url": wheel.as_uri(), "archive_info": {}}, monkeypatch)
    assert installation.command("ml") == (
        "pip install './dist of today/qifsql-0.2.0-py3-none-any.whl[ml]'"
    )


def test_a_commit_and_an_archive_are_named_by_their_address(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://example.org/qifsql"
    come_from({"url": url, "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}, monkeypatch)
    assert installation.command("ml") == f"pip install 'qifsql[ml] @ git+{url}@0a1b'"
    come_from({"url": f"{url}.tar.gz", "archive_info": {}}, monkeypatch)
    assert installation.command("ml") == f"pip install 'qifsql[ml] @ {url}.tar.gz'"


def test_a_folder_that_was_removed_has_no_paths_in_it(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_from(clone(environment, editable=False), monkeypatch)
    gone = environment / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert installation.command("ml") == f"pip install {shlex.quote(f'{environment}[ml]')}"


def test_no_other_place_words_an_installation() -> None:
    sources = (p for kind in ("py", "html", "po", "toml") for p in PACKAGE.rglob(f"*.{kind}"))
    assert [p.name for p in sources if re.search(r"\bpip3? install\b", p.read_text("utf-8"))] == []


@pytest.mark.supply
def test_pip_understands_the_command() -> None:
    """The command of this installation, without the packages of the extra: nothing is installed."""
    words = shlex.split(installation.command("ml"))
    if words[-1].startswith("qifsql["):
        pytest.skip("qifsql was not installed from a clone or a wheel")
    if words[0] == "pip":
        words[:1] = [sys.executable, "-m", "pip"]
    alone = ["--dry-run", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*words, *alone], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert f"Would install qifsql-{__version__}" in done.stdout
