"""The page of a file: numbers, commands, safety, faults."""

import json
import re
import shlex
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from effort import PATIENCE, SOON
from places import SAMPLES
from terminal import run

from qifsql.commands.open import background
from qifsql.commands.open.calculations import Calculations, Superseded
from qifsql.commands.open.explorer import Explorer
from qifsql.commands.open.walking import Walk
from qifsql.data.dataset import Dataset
from qifsql.engine.settings import Settings

testing = pytest.importorskip("starlette.testclient", reason="needs qifsql[explorer]")
pytest.importorskip("httpx2", reason="Starlette's client needs httpx2")
from qifsql.commands.open import server  # noqa: E402 - after the check

TOKEN, PORT = "a-token-of-a-test", 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
CANARY = "Zanzibar"
NUMBERS = ("posterior_deterministic", "posterior_probabilistic", "singled_out")


class Page(NamedTuple):
    """A page with its client and its columns by name."""

    explorer: Explorer
    client: Any
    numbers: dict[str, int]

    def form(self, **roles: str) -> dict[str, str]:
        """A form in which the columns have these roles."""
        return {f"role-{self.numbers[name]}": role for name, role in roles.items()}

    def post(self, name: str, form: dict[str, str]) -> str:
        """The answer to a form."""
        answer = self.client.post(f"/{TOKEN}/{name}", data=form, headers={"Origin": ORIGIN})
        assert answer.status_code == 200, answer.status_code
        return str(answer.text)


def opened(path: Path, **options: Any) -> Iterator[Page]:
    """Serve a file, its calculations in another thread."""
    calculations = Calculations(interrupt=None)
    thread = threading.Thread(target=calculations.run, daemon=True)
    thread.start()
    page = Explorer(Dataset.open(path), [str(path)], calculations=calculations, **options)
    app = server.application(page, token=TOKEN, port=PORT, lang="en", seen=calculations.seen)
    with testing.TestClient(app, base_url=ORIGIN) as client:
        columns = page.columns().result(60)
        yield Page(page, client, {c.name: i for i, c in enumerate(columns)})
    page.jobs.close()
    calculations.end()
    thread.join(10)


@pytest.fixture(scope="module")
def census() -> Iterator[Page]:
    yield from opened(SAMPLES / "school_census_2018.parquet")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page of people; workspaces of sweeps are beside the file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.parquet"
    rows = range(200)
    towns = [CANARY if i < 3 else ("Northtown", "Southtown")[i % 2] for i in rows]
    pl.DataFrame(
        {
            "age": [20 + i * i % 50 for i in rows],
            "town": towns,
            "illness": [f"{CANARY}itis" if i % 20 == 0 else "none" for i in rows],
        }
    ).write_parquet(path)
    yield from opened(path)


def shown(text: str) -> dict[str, dict[str, str]]:
    """The exact numbers on the page by secret and name."""
    rows = re.findall(r'<tr data-model="(\w+)" data-secret="([^"]*)">(.*?)</tr>', text, re.S)
    return {
        secret: dict(re.findall(r'<data data-name="(\w+)" value="([^"]*)"', row))
        for _, secret, row in rows
    }


def command(text: str, name: str) -> list[str]:
    """A command line on the page."""
    import html

    found = re.search(rf'id="line-{name}"[^>]*>(.*?)</pre>', text, re.S)
    assert found is not None, name
    return shlex.split(html.unescape(found[1]))[1:]


def by_command(words: list[str]) -> dict[str, dict[str, str]]:
    """The numbers that a command line gives."""
    done = run(*words, "--format", "json", "--quiet")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["results"]
    return {row["secret"] or "": {n: str(row[n]) for n in NUMBERS} for row in rows}


QID, SECRET = "quasi-identifier", "secret"
TRIED: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"NU_DIA": QID, "NU_MES": QID, "TP_SEXO": QID}, {}),
    ({"NU_DIA": QID, "NU_MES": QID, "IN_TRANSPORTE_PUBLICO": SECRET}, {"NU_DIA": "5"}),
    ({"NU_DIA": QID, "NU_MES": QID, "IN_TRANSPORTE_PUBLICO": SECRET}, {"NU_DIA": "drop"}),
    ({"NU_ANO": QID, "CO_ENTIDADE": QID}, {"CO_ENTIDADE": "1000", "NU_ANO": "2"}),
]


@pytest.mark.cases(1)
@pytest.mark.parametrize(("roles", "steps"), TRIED)
def test_numbers_on_the_page_equal_those_of_the_command(
    census: Page, roles: dict[str, str], steps: dict[str, str]
) -> None:
    form = census.form(**roles) | {f"step-{census.numbers[n]}": how for n, how in steps.items()}
    text = census.post("try", form | {"option-histogram": "on"})
    numbers = {s: {n: row[n] for n in NUMBERS} for s, row in shown(text).items()}
    assert numbers == by_command(command(text, "attack"))
    assert len(numbers) == 1 + list(roles.values()).count(SECRET)
    assert ('id="line-cost"' in text) == bool(steps)
    if steps:
        before = by_command(command(text, "before"))
        assert before.keys() == numbers.keys()
        done = run(*command(text, "cost"), "--format", "json", "--quiet")
        rows = json.loads(done.out)["results"]
        last = [row for row in rows if row["release"] in ("together", "alone")][-1]
        now = shown(text)[""]
        assert str(last["singled_out"]) == now["singled_out"]
        success = float(now["posterior_probabilistic"])
        assert last["crs_posterior_probabilistic"] == pytest.approx(success)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_options_change_numbers_and_command_alike(census: Page) -> None:
    form = census.form(NU_DIA=QID, IN_TRANSPORTE_PUBLICO=SECRET)
    options = {"option-null": "drop", "option-by": "TP_SEXO", "option-weight": "NU_MES"}
    text = census.post("try", form | options)
    words = command(text, "attack")
    assert {"--null", "--by", "--weight"} <= set(words)
    assert {s: {n: r[n] for n in NUMBERS} for s, r in shown(text).items()} == by_command(words)


def test_a_calculation_says_how_far_it_is(census: Page) -> None:
    assert census.post("progress", {}) == "Working"
    census.explorer.settings.progress("attacking", 0.34)  # as the engine does
    assert census.post("progress", {"language": "pt-BR"}) == "Calculando 34 %"
    census.post("try", census.form(NU_DIA=QID, TP_ETAPA_ENSINO=QID, NU_MES=QID))
    assert census.post("progress", {}) == "Working"


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_earlier_states_are_five_and_can_be_gone_back_to(census: Page) -> None:
    names = [
        "NU_DIA",
        "NU_MES",
        "NU_ANO",
        "TP_SEXO",
        "TP_COR_RACA",
        "CO_PAIS_ORIGEM",
        "CO_ENTIDADE",
    ]
    trail = ""
    for name in names:
        text = census.post("try", census.form(**{name: QID}) | {"trail": trail})
        trail = re.findall(r'name="trail" value="([\d,]*)"', text)[-1]
    assert len(trail.split(",")) == 5
    earlier = re.findall(r'hx-vals=\'{"state": "(\d+)"}\' hx-include="#choices"', text)
    assert len(earlier) == 4  # the fifth is that of now
    page = census.post("page", {"state": earlier[0], "trail": trail})
    chosen = re.findall(r'name="role-(\d+)" value="([^"]*)" checked>', page)
    assert [i for i, role in chosen if role == QID] == [str(census.numbers[names[-5]])]


def test_sliders_are_drawn_again_only_when_roles_change(census: Page) -> None:
    form = census.form(NU_DIA=QID)
    first = census.post("try", form)
    roles = re.search(r'name="roles" value="([^"]*)"', first)
    assert roles is not None
    again = census.post("try", form | {"roles": roles[1]})
    assert 'id="adversary"' in first
    assert 'id="adversary"' not in again


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_the_charts_and_the_cost_are_those_of_the_report(census: Page) -> None:
    form = census.form(NU_DIA=QID, NU_MES=QID) | {f"step-{census.numbers['NU_DIA']}": "5"}
    form["option-histogram"] = "on"
    assert "<svg" in census.post("charts", form)
    cost = census.post("cost", form)
    assert "Penalty" in cost
    assert "NU_DIA" in cost


@pytest.mark.slow(because="2.3 s; every recorded mutant dies without it")
def test_no_value_of_a_cell_is_on_the_page(people: Page) -> None:
    texts = [people.client.get(f"/{TOKEN}/").text]
    form = people.form(age=QID, town=QID, illness=SECRET) | {"option-by": "town"}
    form |= {"option-histogram": "on", f"step-{people.numbers['town']}": "3"}
    texts += [people.post(name, form) for name in ("try", "charts", "cost", "page")]
    assert shown(texts[1])
    assert not [text for text in texts if CANARY in text]


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_groups_are_named_with_private(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"age": range(40), "town": [CANARY, "North"] * 20}).write_parquet(path)
    for page in opened(path, private=True):
        form = page.form(age=QID) | {"option-by": "town"}
        assert CANARY in page.post("charts", form)
        assert "Confidential" in page.client.get(f"/{TOKEN}/").text


def test_errors_are_those_of_the_command_line(people: Page) -> None:
    form = people.form(age=QID) | {"option-by": "nosuch"}
    text = people.post("try", form)
    path = people.explorer.dataset.paths[0]
    said = run("attack", "crs", path, "-q", "age", "--by", "nosuch").err
    message = said.removeprefix("error: ").strip().replace('"', "&#34;")
    assert message in text
    assert "nobody" not in text
    assert "knows nothing" in people.post("try", {})


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_a_file_that_changes_or_vanishes_is_said(people: Page) -> None:
    form = people.form(age=QID)
    assert shown(people.post("try", form))
    path = Path(people.explorer.dataset.paths[0])
    pl.read_parquet(path).head(50).write_parquet(path)
    changed = people.post("try", form)
    assert "was replaced or changed since it was opened" in changed
    assert not shown(changed)
    assert "50 records" in people.post("reopen", form)
    assert shown(people.post("try", form))
    path.unlink()
    assert "cannot be read" in people.post("try", form)


@pytest.mark.slow(because="each command is tested in its room; the page shows their lines")
def test_releases_reports_and_studies_are_written_by_the_command(
    people: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    form = people.form(age=QID, town=QID, illness=SECRET) | {f"step-{people.numbers['age']}": "10"}
    files = {"release": "out.csv", "classes": "k.csv", "report": "out.html", "study": "out.toml"}
    for what, out in files.items():
        started = people.post("do", form | {"what": what, "out": out, "k": "3"})
        assert 'id="job-' in started, started
    for job in people.explorer.jobs.latest:
        wait(job)
        assert job.state == "done", job.output
    ages = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["age"]
    assert ages.n_unique() == 5
    classes = pl.read_csv(tmp_path / "k.csv", infer_schema=False).group_by("age", "town").len()
    assert classes["len"].min() >= 3  # type: ignore[operator]
    assert all((tmp_path / out).stat().st_size for out in files.values())
    assert "exists" in people.post("do", form | {"what": "release", "out": "out.csv"})
    assert "end in" in people.post("do", form | {"what": "report", "out": "people.parquet"})


def wait(job: Any, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while job.state == "running" and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.slow(because="6.0 s; every recorded mutant dies without it")
def test_a_sweep_runs_beside_and_can_be_walked(census: Page, tmp_path: Path) -> None:
    out = tmp_path / "sweep.parquet"
    form = census.form(NU_DIA=QID, NU_MES=QID, NU_ANO=QID)
    census.post("do", form | {"what": "sweep", "out": str(out), "threshold": "0.1"})
    job = census.explorer.jobs.latest[0]
    number = {"job": str(job.number)}
    assert shown(census.post("try", form))  # meanwhile
    wait(job)
    assert job.state == "done", job.output
    assert 'hx-post="answers"' in census.post("job", number)
    assert 'hx-post="answers"' not in census.post("job", number | {"seen": str(job.version)})
    walk = census.post("subset", number)
    answers = census.post("answers", number)
    assert answers.startswith(walk[:40])
    assert "Shapley" in answers
    assert "NU_DIA, NU_MES, NU_ANO" in walk
    assert "so far" not in walk
    frame = pl.read_parquet(out)
    assert walk.count("<circle") == frame["subset"].n_unique() == 7
    one = frame.filter(pl.col("n_qids") == 1, pl.col("qids").list.first() == "NU_MES")
    there = census.post("subset", number | {"subset": str(one["subset"].item())})
    assert f"{100 * one['posterior_probabilistic'].item():.2f} %" in there
    assert "no such command" in census.post("subset", {"job": "../etc/passwd"})
    by_hand = tmp_path / "by_hand.parquet"
    words = [*job.lines[0][:-1], by_hand]
    assert run(*words, "--quiet").code == 0
    drop = ("seconds", "attack_id")
    assert pl.read_parquet(by_hand).drop(drop, strict=False).equals(frame.drop(drop, strict=False))


@pytest.mark.slow(because="a sweep beside the page runs to its end in another test")
def test_answers_of_a_sweep_come_one_after_another(
    census: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps that are too short for anything, and steps that are long enough for a part."""
    monkeypatch.setattr(background, "FIRST_STEP", 0.05)
    monkeypatch.setattr(background.SweepJob, "seconds", 0.0)
    form = census.form(NU_DIA=QID, NU_MES=QID, NU_ANO=QID, CO_ENTIDADE=QID, TP_SEXO=QID)
    texts: list[str] = []
    show = background.SweepJob._read_answers

    def seen(self: Any, file: str) -> bool:
        is_shown = show(self, file)
        texts.append(census.post("answers", {"job": str(self.number)}))
        return is_shown

    monkeypatch.setattr(background.SweepJob, "_read_answers", seen)
    budgets = iter(["0s", "0s", "0.2s", "0.3s", "0.4s"])
    command = background.Job._run_line

    def hasty(self: Any, words: Sequence[str]) -> int:
        if words[-2] == "--time-budget":
            words = [*words[:-1], next(budgets, "60s")]
        return command(self, words)

    monkeypatch.setattr(background.Job, "_run_line", hasty)
    out = tmp_path / "sweep.parquet"
    census.post("do", form | {"what": "sweep", "out": str(out)})
    job = census.explorer.jobs.latest[0]
    wait(job)
    assert job.state == "done", job.output
    assert job.version == len(texts) >= 2
    assert "so far" not in texts[-1]
    assert pl.read_parquet(out)["subset"].n_unique() == 31


def test_a_command_is_stopped_as_by_ctrl_c(census: Page, tmp_path: Path) -> None:
    columns = [c.name for c in census.explorer.columns().result() if c.role == QID]
    form = census.form(**dict.fromkeys(columns, QID))
    out = tmp_path / "sweep.parquet"
    census.post("do", form | {"what": "sweep", "out": str(out)})
    job = census.explorer.jobs.latest[0]
    text = census.post("stop", {"job": str(job.number)})
    assert "Stopped." in text
    assert job.state == "stopped"
    assert not out.exists()


def test_a_stored_sweep_of_some_sets_promises_no_others(people: Page, tmp_path: Path) -> None:
    out, path = tmp_path / "some.parquet", people.explorer.dataset.paths[0]
    done = run("sweep", path, "-q", "age,town,illness", "--sizes", "1-2", "-o", out, "--quiet")
    assert done.code == 0, done.err
    app = server.application(Walk.of(str(out)), token=TOKEN, port=PORT, lang="en", seen=int)
    with testing.TestClient(app, base_url=ORIGIN) as client:
        text = client.get(f"/{TOKEN}/").text
        assert text.count("<circle") == 6
        assert "so far" not in text


def test_people_with_several_records_are_found_and_have_two_readings(tmp_path: Path) -> None:
    path, out = tmp_path / "visits.parquet", tmp_path / "sweep.parquet"
    ages = [20 + i % 9 for i in range(24)]
    visits = {"patient_id": [i % 8 for i in range(24)], "age": ages, "ward": ["a", "b"] * 12}
    pl.DataFrame(visits).write_parquet(path)
    explorer = Explorer(Dataset.open(path), [str(path)])
    explorer.read()
    choice = explorer.first_choices(explorer.columns().result(60))
    words = choice.attack_words([str(path)])
    assert words[words.index("--person") + 1] == "patient_id"
    made = choice.k_anonymise_words([str(path)], "out.xlsx", "5")
    assert made[-4:] == ["--person", "patient_id", "--drop", "patient_id"]
    changed = replace(choice, steps={"age": "5"})
    waiting = explorer.cost(changed)
    explorer.calculations.end()
    explorer.calculations.run()
    cost = waiting.result(60).frame
    assert set(cost["known_records"]) == {"all", "one"}
    assert set(cost["people"]) == {8}
    done = run("sweep", path, "-q", "age,ward", "--person", "patient_id", "-o", out, "--quiet")
    assert done.code == 0, done.err
    place = Walk.of(str(out)).at(1, "probabilistic", "3")
    assert [name.partition(" of ")[2] for name in place.questions] == [
        "all records of a person",
        "one record of a person",
    ]
    row = pl.read_parquet(out).filter(subset=3, known_records="one").row(0, named=True)
    assert place.numbers[3][1] == str(row["singled_out"])


def test_a_column_of_households_is_proposed_where_people_have_one_record(tmp_path: Path) -> None:
    """Not where they have several: the risk of households is about people with one each."""
    homes = {"hhid": [i // 3 for i in range(24)], "age": [20 + i % 9 for i in range(24)]}
    path = tmp_path / "homes.parquet"
    pl.DataFrame({**homes, "sex": ["f", "m"] * 12}).write_parquet(path)
    explorer = Explorer(Dataset.open(path), [str(path)])
    explorer.read()
    choice = explorer.first_choices(explorer.columns().result(60))
    words = choice.attack_words([str(path)])
    assert words[words.index("--household") + 1] == "hhid"
    waiting = explorer.attack(choice)
    explorer.calculations.end()
    explorer.calculations.run()
    assert "households" in waiting.result(60).details
    pl.DataFrame({"patient_id": [i % 8 for i in range(24)], **homes}).write_parquet(path)
    explorer = Explorer(Dataset.open(path), [str(path)])
    explorer.read()
    options = explorer.first_choices(explorer.columns().result(60)).options
    assert (options.get("household"), options["person"]) == (None, "patient_id")


def test_a_sweep_without_a_folder_for_its_steps_fails(tmp_path: Path) -> None:
    jobs = background.Jobs(Settings(temp=tmp_path / "gone"))
    job = jobs.sweep(["sweep", "people.parquet", "-o", "out.parquet"], private=False)
    wait(job)
    assert job.state == "failed"
    assert job.output.startswith("error: ")


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_a_stored_sweep_opens_without_its_data(people: Page, tmp_path: Path) -> None:
    out, path = tmp_path / "sweep.parquet", people.explorer.dataset.paths[0]
    done = run("sweep", path, "-q", "age,town", "-s", "illness", "--threshold", "0.5",
               "--histogram", "-o", out, "--quiet")  # fmt: skip
    assert done.code == 0, done.err
    Path(path).unlink()
    app = server.application(Walk.of(str(out)), token=TOKEN, port=PORT, lang="pt-BR", seen=int)
    with testing.TestClient(app, base_url=ORIGIN) as client:
        text = client.get(f"/{TOKEN}/").text
        assert "Todos os conjuntos de colunas" in text
        assert text.count("<circle") == 3
        assert CANARY not in text
        data = {"question": "1", "measure": "deterministic", "subset": "1", "language": "en"}
        there = client.post(f"/{TOKEN}/subset", data=data, headers={"Origin": ORIGIN}).text
        assert "People by success" in there
        assert CANARY not in there


# Who is answered


def requests() -> dict[str, tuple[str, str, dict[str, str]]]:
    """Requests to refuse: method, address and headers."""
    page, good = f"/{TOKEN}/", {"Origin": ORIGIN}
    return {
        "no token": ("GET", "/", {}),
        "a wrong token": ("GET", "/a-token-of-a-tesT/", {}),
        "a part of the token": ("GET", f"/{TOKEN[:-1]}/", {}),
        "an asset without the token": ("GET", "/assets/style.css", {}),
        "another host": ("GET", page, {"Host": f"evil.example:{PORT}"}),
        "another port": ("GET", page, {"Host": "127.0.0.1:1"}),
        "another origin": ("POST", f"{page}try", {"Origin": "http://evil.example"}),
        "no origin": ("POST", f"{page}try", {}),
        "the origin null": ("POST", f"{page}try", {"Origin": "null"}),
        "another site": ("GET", page, {"Sec-Fetch-Site": "cross-site"}),
        "another site of the machine": (
            "POST",
            f"{page}try",
            good | {"Sec-Fetch-Site": "same-site"},
        ),
    }


@pytest.mark.parametrize("request_", requests())
def test_others_are_refused_and_told_nothing(census: Page, request_: str) -> None:
    method, address, headers = requests()[request_]
    answer = census.client.request(method, address, headers=headers)
    assert (answer.status_code, answer.content) == (404, b"")


def test_nothing_is_loaded_from_elsewhere(census: Page) -> None:
    answer = census.client.get(f"/{TOKEN}/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert not re.findall(r"https?:", policy)
    sources = re.findall(r'(?:src|href)="([^"]*)"', answer.text)
    assert {s for s in sources if not s.startswith(("#", "data:,"))} == {
        f"assets/{name}" for name in server.ASSETS
    }
    for name in server.ASSETS:
        asset = census.client.get(f"/{TOKEN}/assets/{name}")
        assert asset.status_code == 200
        assert asset.headers["cache-control"] == "no-store"
    assert census.client.get(f"/{TOKEN}/assets/../server.py").status_code == 404


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    path = tmp_path / "people.parquet"
    pl.DataFrame({hostile: [i % 7 for i in range(50)], "age": range(50)}).write_parquet(path)
    for page in opened(path):
        form = page.form(**{hostile: QID, "age": QID}) | {"option-by": hostile}
        for text in (page.client.get(f"/{TOKEN}/").text, page.post("try", form)):
            assert hostile not in text


# Calculations


def test_a_newer_calculation_makes_a_waiting_one_superfluous() -> None:
    calculations = Calculations(interrupt=None)
    older = calculations.submit("attack", lambda: 1)
    other = calculations.submit("cost", lambda: 2)
    newer = calculations.submit("attack", lambda: 3)
    calculations.end()
    calculations.run()
    assert (other.result(0), newer.result(0)) == (2, 3)
    with pytest.raises(Superseded):
        older.result(0)


def test_a_newer_calculation_interrupts_the_running_one() -> None:
    """As Ctrl-C does, but the page goes on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _supersede()
    finally:
        signal.signal(signal.SIGINT, before)


def _supersede() -> None:
    calculations = Calculations()
    running, newer = threading.Event(), []

    def long() -> None:
        running.set()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(0.01)

    def supersede() -> None:
        try:
            running.wait(SOON)
            newer.append(calculations.submit("attack", lambda: "new"))
            newer[0].result(SOON)
        finally:
            calculations.end()

    older = calculations.submit("attack", long)
    thread = threading.Thread(target=supersede)
    thread.start()
    began = time.monotonic()
    calculations.run()
    thread.join()
    assert time.monotonic() - began < SOON
    assert newer[0].result(0) == "new"
    with pytest.raises(Superseded):
        older.result(0)


def test_the_copy_of_a_library_has_its_licence() -> None:
    from qifsql.commands.open.rendering import PAGE

    assert "Zero-Clause BSD" in (PAGE / "htmx.LICENSE").read_text("utf-8")
    assert 'version:"2.' in (PAGE / "htmx.min.js").read_text("utf-8")
