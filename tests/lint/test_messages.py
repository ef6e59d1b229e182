"""Messages of reports are found in code and templates, and a catalogue is brought up to date."""

import io
import re
from pathlib import Path

import messages
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from qifsql.commands.check.questions.opinion import CAUTION


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('said("one")', ["one"]),
        ('said("one " "and two", n=1)', ["one and two"]),
        ('counted("{n} thing", "{n} things", 2)', [("{n} thing", "{n} things")]),
        ('told = "one"\nsaid(told)\ntold = said("two")', ["one", "two"]),
        ('told = "one"\nif 1:\n  told = "two"\nsaid(told)', ["one", "two"]),
        ('one, many = "a", "b"\ncounted(one, many, 2)', [("a", "b")]),
        ('said("one" if 1 else "two")', ["one", "two"]),
        ('said({1: "one", 2: "two"}[1])', ["one", "two"]),
        ('def f(x):\n  told = "one"\n  return said(told)', ["one"]),
        ('def f(x):\n  return said(TOLD[x])\nTOLD = ["one", "two"]', ["one", "two"]),
        (
            "from qifsql.commands.check.questions.opinion import CAUTION as told\nsaid(told)",
            [CAUTION],
        ),
    ],
)
def test_messages_are_found(tmp_path: Path, code: str, expected: list[object]):
    assert list(messages.of_module(module(tmp_path, code))) == expected


@pytest.mark.parametrize(
    "code",
    [
        'said("one" + x)',
        'said(f"{x} one")',
        "said(told)",
        "said()",
        "said(*texts)",
        "def f(told):\n  return said(told)",
        'def f(told):\n  if told is None: told = "one"\n  return said(told)',
        'for told in texts: told = "one"; said(told)',
        'told = "one"\ntold += x\nsaid(told)',
        'one = "a"\ncounted(one, "b" if 1 else "c", 2)',
    ],
)
def test_a_message_that_is_not_found_is_an_error_with_its_place(tmp_path: Path, code: str):
    path = module(tmp_path, code)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}:\d+: .* is not found$"):
        list(messages.of_module(path))


def module(folder: Path, code: str) -> Path:
    path = folder / "spoken.py"
    path.write_text(f"from qifsql.presentation.language import counted, said\n{code}\n", "utf-8")
    return path


def test_functions_of_other_modules_are_not_messages(tmp_path: Path):
    path = tmp_path / "other.py"
    path.write_text("from elsewhere import said\nsaid(x)\n", "utf-8")
    assert list(messages.of_module(path)) == []


def test_messages_of_templates_are_found(tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text("""<p a="{{ said('one') }}">{{ said("two") }}{{ other("x") }}</p>""", "utf-8")
    assert sorted(map(str, messages.of_page(path))) == ["one", "two"]
    path.write_text("<p>\n{{ said(one) }}</p>", "utf-8")
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}:2: "):
        list(messages.of_page(path))


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_translations_stay_and_what_is_not_said_goes():
    old = Catalog(locale="pt_BR")
    old.add("before", "antes")
    old.add("nobody says this", "isto ninguém diz")
    said = {"before": ["a.py"], "after": ["a.py", "b.py"], ("{n} byte", "{n} bytes"): ["b.py"]}
    new = messages.updated(old, said)
    made = io.BytesIO()
    write_po(made, new, ignore_obsolete=True)
    assert new["before"].string == "antes"
    assert b"nobody says this" not in made.getvalue()
    assert {message.id for message in new if message.id} == said.keys()


def test_a_catalogue_that_is_up_to_date_stays_as_it_is():
    catalog = messages.updated(Catalog(locale="pt_BR"), {"before": ["a.py"]})
    catalog["before"].string = "antes"
    again = messages.updated(catalog, {"before": ["a.py"]})
    assert [(m.id, m.string) for m in again if m.id] == [("before", "antes")]
    assert not again.obsolete
    assert not again["before"].fuzzy
