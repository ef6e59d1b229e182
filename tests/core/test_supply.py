"""Locks, the action, the image, the workflows and SECURITY.md: what is installed and published.

That two builds are equal byte for byte is checked by ``make rebuild``: it needs two clones. Tests
that run the action start processes and have the mark ``supply``; the others only read files.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
CORE = PROJECT["project"]["dependencies"]
BUILD = PROJECT["dependency-groups"]["build"]
USERS = [r for name in ("charts", "excel", "ml", "models", "stats", "tables") for r in EXTRAS[name]]
ASKED = {
    "core": CORE,
    "demo": [*CORE, *EXTRAS["charts"], *BUILD],
    "extras": [*CORE, *USERS],
    "dev": [*CORE, *USERS, *EXTRAS["docs"], *EXTRAS["spark"], *EXTRAS["dev"], *BUILD],
    "build": [*BUILD, *PROJECT["build-system"]["requires"]],
    "sbom": PROJECT["dependency-groups"]["sbom"],
}
LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[^\s;]+( ; [^\\]+)?( --hash=sha256:[0-9a-f]{64})+")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def locked(name: str) -> Iterator[str]:
    """Yield the requirements of a lock file, each with its hashes in one line."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", "")
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield " ".join(line.split())


def versions(name: str) -> dict[str, set[Version]]:
    """Return the versions of each package in a lock file; markers may choose among several."""
    found: dict[str, set[Version]] = {}
    for line in locked(name):
        requirement = Requirement(line.partition(" --hash")[0])
        pins = {Version(s.version) for s in requirement.specifier}
        found.setdefault(canonicalize_name(requirement.name), set()).update(pins)
    return found


# Locks


def test_there_is_a_lock_for_each_purpose() -> None:
    assert {p.stem for p in (ROOT / "requirements").iterdir()} == set(ASKED)


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_versions_with_hashes_and_no_address(name: str) -> None:
    assert [line for line in locked(name) if not LINE.fullmatch(line)] == []
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert not re.findall(r"://|^-|^\s+--(?!hash=)", text, re.M)


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_what_pyproject_asks_for(name: str) -> None:
    there = versions(name)
    wrong = []
    for requirement in map(Requirement, ASKED[name]):
        pins = there.get(canonicalize_name(requirement.name), set())
        if requirement.name != "qifsql" and not (
            pins and all(map(requirement.specifier.contains, pins))
        ):
            wrong.append(str(requirement))
    assert not wrong, f"run make lock: {wrong}"


def test_what_is_tested_is_what_is_shipped() -> None:
    """A package has the same versions in the locks of users as in that of the tests."""
    tested = versions("dev")
    for name in ("core", "demo", "extras", "build"):
        differing = {p: v for p, v in versions(name).items() if tested.get(p) != v}
        assert not differing, f"run make lock: {name}"


# The action


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    """The definition of the action."""
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return read


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of ten people, of whom one is alone by age, and an installation of qifsql."""
    workspace, temporary = tmp_path / "workspace", tmp_path / "temporary"
    (temporary / "qifsql" / "bin").mkdir(parents=True)
    workspace.mkdir()
    python = temporary / "qifsql" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    people = pl.DataFrame({"age": [20] * 4 + [30] * 5 + [40], "ill": [0, 1] * 5})
    people.write_csv(workspace / "people.csv")
    people.write_csv(workspace / "-o people.csv")
    rule = (
        '[adversary]\nqids = ["age"]\n'
        '[[rule]]\nmodel = "crs"\nmeasure = "singled_out"\nat_most = {}\n'
    )
    (workspace / "lax.toml").write_text(rule.format(1))
    (workspace / "strict policy.toml").write_text(rule.format(0))
    monkeypatch.setenv("RUNNER_TEMP", str(temporary))
    monkeypatch.chdir(workspace)
    return workspace


def checked(action: dict[str, Any], **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action as a runner does, with these inputs."""
    step = action["runs"]["steps"][-1]
    values = {
        name: str(entry.get("default", "")) for name, entry in action["inputs"].items()
    } | inputs
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], text)
        for name, text in step["env"].items()
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def test_no_input_of_the_action_becomes_part_of_a_script(action: dict[str, Any]) -> None:
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    assert {s["shell"] for s in steps} == {"bash"}
    assert not [s["name"] for s in steps if "${{" in s["run"]]
    reached = {
        m for s in steps for text in s["env"].values() for m in re.findall(r"inputs\.(\w+)", text)
    }
    assert reached == set(action["inputs"])


def test_the_action_installs_locked_packages_alone(action: dict[str, Any]) -> None:
    lines = [w for w in action["runs"]["steps"][0]["run"].splitlines() if " pip install" in w]
    assert len(lines) == 3
    assert [w for w in lines if "--require-hashes" not in w and "--no-deps" not in w] == []
    assert all((ROOT / p).is_file() for w in lines for p in re.findall(r"PATH/([\w./]+)", w))


@pytest.mark.supply
def test_the_action_ends_as_the_check_does(action: dict[str, Any], runner: Path) -> None:
    lax = checked(action, file="people.csv", policy="lax.toml", args="--quiet")
    assert lax.returncode == 0, lax
    assert lax.stdout
    assert checked(action, file="people.csv", policy="strict policy.toml").returncode == 4
    adults = checked(
        action,
        file="people.csv",
        policy="strict policy.toml",
        args="--where 'age < 40' -o out.json",
    )
    assert adults.returncode == 0, adults
    assert (runner / "out.json").is_file()
    preset = checked(action, file="people.csv", args="--preset k3 -q age")
    assert preset.returncode == 4, preset


@pytest.mark.supply
def test_a_file_whose_name_looks_like_an_option_is_a_file(
    action: dict[str, Any], runner: Path
) -> None:
    done = checked(action, file="-o people.csv", policy="lax.toml")
    assert done.returncode == 0, done
    assert not (runner / " people.csv").exists()


@pytest.mark.supply
@pytest.mark.parametrize(
    "text",
    ['"; touch pwned; "', "$(touch pwned)`touch pwned`", "' ; touch pwned #", "a\ntouch pwned"],
)
@pytest.mark.parametrize("place", ["file", "policy", "args"])
def test_nothing_in_an_input_is_run(
    text: str, place: str, action: dict[str, Any], runner: Path
) -> None:
    before = sorted(runner.iterdir())
    inputs = {"file": "people.csv", "policy": "lax.toml", "args": "--quiet"} | {place: text}
    done = checked(action, **inputs)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert sorted(runner.iterdir()) == before


# The image


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the recipe: their word, and the rest."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", "").splitlines()
    return [(w, rest) for w, _, rest in (line.partition(" ") for line in lines if line.strip())]


def test_the_image_runs_the_command_line_without_root() -> None:
    last = dict(instructions())
    assert last["ENTRYPOINT"] == '["qifsql"]'
    user, group = last["USER"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert "slim" in next(rest for word, rest in instructions() if rest.startswith("BASE="))


def test_the_image_installs_locked_packages_alone() -> None:
    runs = [part for word, rest in instructions() if word == "RUN" for part in rest.split("&&")]
    installs = [part for part in runs if " install " in part]
    assert len(installs) == 3
    assert [p for p in installs if "--require-hashes" not in p and "--no-deps" not in p] == []
    locks = {m for p in installs for m in re.findall(r"requirements/(\w+|\$\{LOCK\})\.txt", p)}
    assert locks == {"build", "${LOCK}"}
    assert dict(r.split("=") for w, r in instructions() if w == "ARG" and "=" in r)["LOCK"] in ASKED


def test_the_image_copies_what_is_there_and_what_is_not_ignored() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    assert copied == allowed
    assert [name for name in copied if not (ROOT / name).exists()] == []


# The workflows


WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))
    for path in sorted((ROOT / ".github/workflows").iterdir())
}


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.fixture
def release() -> dict[str, Any]:
    """The workflow of a release."""
    read: dict[str, Any] = WORKFLOWS["release"]
    return read


def test_there_is_a_workflow_for_each_occasion() -> None:
    assert set(WORKFLOWS) == {"ci", "nightly", "release"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_of_others_are_pinned_by_commit(name: str) -> None:
    steps = steps_of(WORKFLOWS[name])
    used = [s["uses"] for s in steps if "uses" in s]
    assert len(used) >= 2
    assert [u for u in used if not PINNED.fullmatch(u)] == []
    assert not [s for s in steps if "${{" in s.get("run", "")]


@pytest.mark.parametrize("name", ["ci", "nightly"])
def test_a_workflow_that_checks_may_read_alone(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {}
    assert {str(job["permissions"]) for job in workflow["jobs"].values()} == {
        "{'contents': 'read'}"
    }


def test_only_the_job_that_publishes_may_sign(release: dict[str, Any]) -> None:
    assert release["permissions"] == {}
    writes = {
        name: {right for right, level in job["permissions"].items() if level == "write"}
        for name, job in release["jobs"].items()
    }
    assert writes == {"build": set(), "rebuild": set(), "publish": {"attestations", "id-token"}}
    publish = release["jobs"]["publish"]
    assert publish["environment"] == "pypi"
    assert set(publish["needs"]) == set(writes) - {"publish"}
    assert not [s for s in publish["steps"] if "checkout" in s.get("uses", "")]
    assert publish["steps"][-1]["with"]["attestations"] is True


def test_make_has_the_targets_that_workflows_call() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    script = (ROOT / ".ci/run").read_text("utf-8")
    runs = [s.get("run", "") for workflow in WORKFLOWS.values() for s in steps_of(workflow)]
    called = {
        m for run in (*runs, script) for m in re.findall(r"^ *make ([a-z][a-z-]*)", run, re.M)
    }
    matrix = WORKFLOWS["nightly"]["jobs"]["tests"]["strategy"]["matrix"]["target"]
    assert called == {"demo", "dist", "lint", "marked", "rebuild", "sbom", "test"}
    assert [n for n in (*called, *matrix) if not re.search(rf"^{n}:", text, re.M)] == []


def test_each_night_all_is_checked_that_a_release_needs_and_a_push_does_not_run() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(r"^release-check:.*\n((?:\t.*\n)+)", text, re.M)
    assert recipe
    release = set(re.findall(r"\$\(MAKE\) (\S+)", recipe[1]))
    jobs = WORKFLOWS["nightly"]["jobs"]
    nightly = {s["run"].removeprefix("make ") for s in jobs["build"]["steps"] if "run" in s}
    nightly |= set(jobs["tests"]["strategy"]["matrix"]["target"])
    assert release - {"check"} == nightly


def test_marks_that_make_test_leaves_out_have_a_target() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    fast = re.search(r"^FAST := (.*)$", text, re.M)
    marked = re.search(r"^MARKED := (.*)$", text, re.M)
    union = re.search(r'-m "\(([a-z ]+)\) and not slow"', text)
    assert fast
    assert marked
    assert union
    names = marked[1].split()
    assert fast[1] == " and ".join(f"not {mark}" for mark in ("slow", *names))
    assert union[1] == " or ".join(names)
    known = {re.split("[:(]", m)[0] for m in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    assert {"slow", *names} <= known


@pytest.mark.supply
def test_the_library_of_charts_is_the_bundle_of_the_locked_version() -> None:
    """After a new version: ``QIFSQL_GOLDEN=write pytest -m supply`` writes it, and look at it."""
    converter = pytest.importorskip("vl_convert")
    file = ROOT / "qifsql" / "presentation" / "page" / "vega.js"
    bundle = converter.javascript_bundle()
    if os.environ.get("QIFSQL_GOLDEN") == "write":
        file.write_text(bundle, "utf-8")
    assert file.read_text("utf-8") == bundle


# SECURITY.md
