"""Charts: valid Vega-Lite, every number in its place, names that cannot break out, no network."""

import json
import re
import statistics
import struct
import sys
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from qifsql.commands.attack import charts as steps
from qifsql.commands.attack.keyless import charts
from qifsql.commands.attack.keyless.calibrate import CALIBRATION
from qifsql.commands.sweep import charts as subsets
from qifsql.data import installation
from qifsql.errors import InputError, OutputError
from qifsql.presentation import people_charts, theme
from qifsql.results import exports
from qifsql.results.assessment import SCHEMA
from qifsql.results.storage import Origin

alt = pytest.importorskip("altair")
vl_convert = pytest.importorskip("vl_convert")

QIDS = ["age", "sex", "race", "zip"]
HOSTILE = [
    "a.b[0]\"'\\",
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--",
    "🙂 年齢 & <b>",
    "datum.x' + alert(3) + '",
    "x" * 5_000,
    "new\nline\u202e\x00",
]
SECRET = "</script><b>" + "y" * 300
FIELDS = {
    *("known", "amount", "risk", "threshold", "group", "individuals"),
    *("panel", "order", "question", "measure", "prior", "size", "success", "subset", "names"),
    *(
        "label",
        "place",
        "bin",
        "people",
        "share",
        "qid",
        "contribution",
        "shapley",
        "alone",
        "last",
    ),
    *(f"quartile_{i}" for i in range(5)),
}


def sweep(qids: list[str], secrets: tuple[str, ...] = ("income",)) -> pl.DataFrame:
    """A sweep of all subsets: the more is known, the greater the success, up to 0.9."""
    rows = []
    for size in range(1, len(qids) + 1):
        for i, known in enumerate(combinations(qids, size)):
            for secret in (None, *secrets):
                prior = 0.001 if secret is None else 0.25
                more = (0.9 - prior) * size / len(qids) * (1 - i / 10_000)
                rows.append(
                    {
                        "model": "CRS" if secret is None else "CAS",
                        "secret": secret,
                        "qids": list(known),
                        "n_qids": size,
                        "prior_deterministic": 0.0,
                        "posterior_deterministic": more / 2,
                        "prior_probabilistic": prior,
                        "posterior_probabilistic": prior + more,
                        "subset": sum(1 << qids.index(q) for q in known),
                    }
                )
    schema = SCHEMA | {"subset": pl.UInt32(), "k": pl.Int64(), "l": pl.Int64()}
    return pl.DataFrame(rows, schema=schema)


def contributions(qids: list[str], secret: str = "income") -> pl.DataFrame:
    """Shapley values 1, 2, 3, ... of a hundred, in turn."""
    whole = sum(range(1, len(qids) + 1))
    return pl.DataFrame(
        [
            {
                "model": model,
                "secret": name,
                "measure": measure,
                "qid": qid,
                "shapley": i / 100,
                "share": i / whole,
                "alone": i / 200,
                "last": i / 400,
            }
            for model, name in (("CRS", None), ("CAS", secret))
            for measure in theme.MEASURES
            for i, qid in enumerate(qids, start=1)
        ],
        infer_schema_length=None,
    )


def bins(*subsets: list[str], secret: str = "income") -> pl.DataFrame:
    """A tenth of the people in bin 0, the others in bin 100, none between."""
    return pl.DataFrame(
        [
            {
                "model": model,
                "secret": name,
                "datasets": 1,
                "qids": qids,
                "bin": b,
                "individuals": n,
            }
            for model, name in (("CRS", None), ("CAS", secret))
            for qids in subsets
            for b, n in ((0, 3), (50, 0), (100, 27))
        ],
        infer_schema_length=None,
    )


def attacks(secret: str = "income", groups: tuple[str | None, ...] = ()) -> pl.DataFrame:
    """An attack with one, two and three datasets; with a row for each group, too."""
    of = groups or ("everybody",)
    rows = [
        {
            "model": model,
            "secret": name,
            "datasets": n,
            "prior_deterministic": 0.0,
            "posterior_deterministic": n / 10,
            "prior_probabilistic": 0.25,
            "posterior_probabilistic": 0.25 + n / 10 + i / 1000,
            "group": group,
            "individuals": 100 + i,
            "threshold": n / 10,
            "share": 1 - n / 10,
        }
        for model, name in (("CRL", None), ("CAL", secret))
        for n in (1, 2, 3)
        for i, group in enumerate(of)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def grouped(secret: str, groups: tuple[str | None, ...]) -> pl.DataFrame:
    return attacks(secret, groups).filter(datasets=3)


def linked() -> pl.DataFrame:
    """The calibration of links in two steps; the model promises too much in the second."""
    return pl.DataFrame(
        [
            {"step": step, "bin": b, "links": 10 * b, "predicted": b / 100, "right": b / 100 / step}
            for step in (1, 2)
            for b in (10, 50, 90)
        ],
        schema=CALIBRATION,
    )


CHARTS: dict[str, Callable[[list[str], str], Any]] = {
    "success": lambda qids, secret: subsets.success(sweep(qids, (secret,))),
    "histograms": lambda qids, secret: people_charts.histograms(
        bins(qids, qids[:1], secret=secret)
    ),
    "shapley": lambda qids, secret: subsets.shapley(contributions(qids, secret)),
    "releases": lambda qids, secret: subsets.releases(
        contributions(qids, secret).rename({"qid": "dataset"})
    ),
    "steps": lambda qids, secret: steps.steps(attacks(secret), qids[:3]),
    "thresholds": lambda qids, secret: people_charts.thresholds(attacks(secret)),
    "groups": lambda qids, secret: people_charts.groups(grouped(secret, (*qids, None))),
}
EVERY = pytest.mark.parametrize("name", CHARTS)


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """The rows that a chart draws."""
    rows: list[dict[str, Any]] = chart.to_dict()["data"]["values"]
    return rows


def looked_up(chart: Any, key: str) -> dict[Any, dict[str, Any]]:
    """A table that a chart looks things up in, by its key."""
    found = [t["from"]["data"] for t in chart.to_dict()["transform"] if t["lookup"] == key]
    return {row[key]: row for row in found[0]["values"]}


def everywhere(tree: Any, key: str) -> list[Any]:
    """Every value that stands under a key, however deep."""
    if isinstance(tree, dict):
        here = [v for k, v in tree.items() if k == key]
        return here + [v for k, t in tree.items() if k != "values" for v in everywhere(t, key)]
    return [v for t in tree for v in everywhere(t, key)] if isinstance(tree, list) else []


@pytest.mark.cases(1)
@EVERY
def test_a_chart_is_valid_and_compiles(name: str) -> None:
    spec = CHARTS[name](QIDS, "income").to_dict(validate=True)
    assert vl_convert.vegalite_to_vega(spec)["marks"]


@pytest.mark.cases(2)
@EVERY
def test_a_chart_can_be_read_in_words_and_without_good_eyes(name: str) -> None:
    spec = CHARTS[name](QIDS, "income").to_dict()
    assert spec["title"]["text"]
    assert spec["description"].startswith(spec["title"]["text"])
    assert "Re-identification" in spec["description"]
    assert "Inference of income" in spec["description"]
    assert spec["config"]["background"] == "white"
    sizes = [v for k in ("fontSize", "labelFontSize") for v in everywhere(spec, k)]
    assert min(sizes) >= 12


@pytest.mark.cases(1)
@EVERY
def test_all_fields_are_our_own_names(name: str) -> None:
    spec = CHARTS[name](HOSTILE, SECRET).to_dict()
    assert set(everywhere(spec, "field")) <= FIELDS


def test_there_is_a_dot_for_each_subset_question_and_measure() -> None:
    chart = subsets.success(sweep(QIDS))
    panels, names = looked_up(chart, "panel"), looked_up(chart, "subset")
    seen = {
        (
            panels[row["panel"]]["question"],
            panels[row["panel"]]["measure"],
            names[row["subset"]]["names"],
            row["size"],
            row["success"],
        )
        for row in rows_of(chart)
        if "subset" in row
    }
    expected = {
        (
            "Re-identification" if row["secret"] is None else "Inference of income",
            measure,
            ", ".join(row["qids"]),
            row["n_qids"],
            row[f"posterior_{measure}"],
        )
        for row in sweep(QIDS).to_dicts()
        for measure in theme.MEASURES
    }
    assert seen == expected
    assert len(seen) == 15 * 2 * 2


def test_the_dashed_line_is_the_prior() -> None:
    chart = subsets.success(sweep(QIDS))
    panels = looked_up(chart, "panel")
    seen = [
        (panels[row["panel"]]["question"], row["success"], row["label"])
        for row in rows_of(chart)
        if "label" in row
    ]
    assert seen == [
        ("Re-identification", 0.0, "before\n0.00 %"),
        ("Re-identification", 0.001, "before\n0.10 %"),
        ("Inference of income", 0.0, "before\n0.00 %"),
        ("Inference of income", 0.25, "before\n25.00 %"),
    ]


def test_the_black_line_is_the_mean_of_each_size() -> None:
    frame = sweep(QIDS, ())
    seen = {
        row["size"]: row["success"]
        for row in rows_of(subsets.success(frame))
        if "quartile_0" in row and row["panel"] == 1
    }
    assert seen == {
        size: pytest.approx(statistics.fmean(frame.filter(n_qids=size)["posterior_probabilistic"]))
        for size in range(1, 5)
    }


@pytest.fixture(scope="module")
def large() -> pl.DataFrame:
    return sweep([f"column_{i}_with_a_name" for i in range(13)])


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
def test_many_subsets_are_summed_up_in_a_small_file(large: pl.DataFrame) -> None:
    chart = subsets.success(large)
    assert large.height == 2 * 8191
    assert len(json.dumps(chart.to_dict())) < 1_000_000
    sizes = {
        row["size"]: row for row in rows_of(chart) if "quartile_0" in row and row["panel"] == 3
    }
    best = {row["size"]: row for row in rows_of(chart) if "subset" in row and row["panel"] == 3}
    names = looked_up(chart, "subset")
    for size in range(1, 13):
        of = large.filter(model="CAS", n_qids=size).sort("posterior_probabilistic")
        values = of["posterior_probabilistic"].to_list()
        quartiles = [values[0], *statistics.quantiles(values, method="inclusive"), values[-1]]
        assert [sizes[size][f"quartile_{i}"] for i in range(5)] == pytest.approx(quartiles)
        assert best[size]["success"] == values[-1]
        assert names[best[size]["subset"]]["names"] == ", ".join(of["qids"][-1])


def test_the_shares_of_people_add_up_in_each_panel() -> None:
    chart = people_charts.histograms(bins(QIDS, QIDS[:1]))
    seen = [(r["panel"], r["bin"], r["people"], r["share"]) for r in rows_of(chart)]
    panels = [
        "Re-identification\nknowing age, sex, race and zip",
        "Re-identification\nknowing age",
        "Inference of income\nknowing age, sex, race and zip",
        "Inference of income\nknowing age",
    ]
    assert seen == [row for p in panels for row in ((p, 0, 3, 0.1), (p, 100, 27, 0.9))]


def test_contributions_are_sorted_within_each_panel() -> None:
    chart = subsets.shapley(contributions(QIDS).sample(fraction=1, shuffle=True, seed=1))
    seen: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows_of(chart):
        panel = seen.setdefault((row["question"], row["measure"]), [])
        panel.append((row["qid"], row["contribution"]))
    assert len(seen) == 4
    for panel in seen.values():
        assert panel == [
            ("zip", "4.00 (40.00 %)"),
            ("race", "3.00 (30.00 %)"),
            ("sex", "2.00 (20.00 %)"),
            ("age", "1.00 (10.00 %)"),
        ]


def test_a_share_of_nothing_is_left_out() -> None:
    nothing = contributions(QIDS).with_columns(shapley=0.0, share=float("nan"), alone=0.0, last=0.0)
    chart = subsets.shapley(nothing)
    assert {row["contribution"] for row in rows_of(chart)} == {"0.00"}
    assert "NaN" not in json.dumps(chart.to_dict())


def test_names_that_look_alike_when_cut_stay_apart() -> None:
    alike = ["x" * 500 + end for end in "abc"]
    seen = {row["qid"] for row in rows_of(subsets.shapley(contributions(alike)))}
    assert len(seen) == 3
    assert max(map(len, seen)) < 60
    panels = {
        row["panel"] for row in rows_of(people_charts.histograms(bins(*([name] for name in alike))))
    }
    assert len(panels) == 6


def test_before_stands_first_then_each_release() -> None:
    chart = steps.steps(attacks().sample(fraction=1, shuffle=True, seed=2), ["k", "first", "x"])
    seen = [
        (r["question"], r["measure"], r["known"], r["success"], r["amount"]) for r in rows_of(chart)
    ]
    for secret in ("Re-identification", "Inference of income"):
        own = [row[2:] for row in seen if row[:2] == (secret, "probabilistic")]
        assert own == [
            ("before", 0.25, "25.00 %"),
            ("k", 0.35, "35.00 %"),
            ("and first", 0.45, "45.00 %"),
            ("and x", 0.55, "55.00 %"),
        ]
    assert len(seen) == 2 * 2 * 4


def test_one_release_is_before_and_after() -> None:
    chart = steps.steps(attacks().filter(datasets=1))
    assert {row["known"] for row in rows_of(chart)} == {"before", "after"}


def test_people_under_the_pointer_are_counted_and_shares_are_in_percent() -> None:
    chart = people_charts.groups(grouped("income", ("low", None))).to_dict()
    told = [
        tip
        for layer in chart["spec"]["layer"]
        for tip in layer.get("encoding", {}).get("tooltip", ())
    ]
    names = {tip["field"]: (tip["title"], tip.get("format")) for tip in told}
    assert names == {
        "group": ("group", None),
        "individuals": ("people", ",d"),
        "success": ("success", None),
        "prior": ("before", None),
    }
    assert chart["config"]["tooltipFormat"]["numberFormat"] == ".6~%"


def test_the_groups_with_most_risk_stand_first_and_missing_is_one() -> None:
    chart = people_charts.groups(grouped("income", ("low", None, "x" * 5000)))
    own = [r for r in rows_of(chart) if r["question"] == "Inference of income"]
    assert [r["success"] for r in own] == sorted((r["success"] for r in own), reverse=True)
    assert own[1]["group"] == "(missing)"
    assert len(own[0]["group"]) < 60
    assert {r["prior"] for r in own} == {0.25}


def test_people_above_a_risk() -> None:
    chart = people_charts.thresholds(attacks())
    own = [r for r in rows_of(chart) if r["question"] == "Re-identification"]
    assert [(r["risk"], r["amount"]) for r in own] == [
        ("at least 10 %", "90.00 %"),
        ("at least 20 %", "80.00 %"),
        ("at least 30 %", "70.00 %"),
    ]


class Page(HTMLParser):
    """The tags of a page, its scripts, and all that it would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.loads: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [k for k, _ in attrs if k in ("src", "href", "data") or k.startswith("on")]
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and data.strip():
            self.scripts.append(data)


@pytest.mark.slow(because="0.3 s each; every recorded mutant dies without it")
@EVERY
def test_a_page_loads_nothing_and_no_name_breaks_out_of_it(name: str, tmp_path: Path) -> None:
    chart = CHARTS[name](HOSTILE, SECRET)
    exports.save_chart(chart, tmp_path / "chart.html", Origin.now())
    text = (tmp_path / "chart.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags == [
        *("html", "head", "meta", "title", "meta", "meta", "body", "main", "h1", "div", "p"),
        *("script", "script"),
    ]
    assert page.loads == []
    assert len(re.findall("</?script", text, re.IGNORECASE)) == 4
    assert "<!--" not in text
    call = text[text.rindex("<script>") + len("<script>") : text.rindex("</script>")]
    spec, _ = json.JSONDecoder().raw_decode(call.removeprefix('vegaEmbed("#chart", '))
    assert spec == chart.to_dict()


def test_the_browser_is_told_to_run_the_two_scripts_alone(tmp_path: Path) -> None:
    exports.save_chart(subsets.success(sweep(QIDS)), tmp_path / "chart.html", Origin.now())
    text = (tmp_path / "chart.html").read_bytes().decode()
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [b64encode(sha256(s.encode()).digest()).decode() for s in scripts]
    policy = Page(text).policy
    assert len(digests) == 2
    assert policy.startswith("default-src 'none';")
    assert policy.endswith("script-src " + " ".join(f"'sha256-{d}'" for d in digests))


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@EVERY
def test_a_picture_in_svg_is_well_formed_and_described(name: str, tmp_path: Path) -> None:
    chart = CHARTS[name](HOSTILE, SECRET)
    exports.save_chart(chart, tmp_path / "chart.svg", Origin.now())
    root = ElementTree.fromstring((tmp_path / "chart.svg").read_bytes())
    space = "{http://www.w3.org/2000/svg}"
    spec = chart.to_dict()
    assert root.findtext(f"{space}title") == spec["title"]["text"]
    assert root.findtext(f"{space}desc") == spec["description"]
    assert not [e for e in root.iter() if e.tag in (f"{space}script", f"{space}image")]
    assert any("</script><b>yyy" in text for text in root.itertext())


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@EVERY
def test_a_picture_in_png_has_twice_the_pixels(name: str, tmp_path: Path) -> None:
    exports.save_chart(CHARTS[name](QIDS, "income"), tmp_path / "chart.PNG", Origin.now())
    content = (tmp_path / "chart.PNG").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert 900 < width < 3_000
    assert 500 < height < 3_000


@pytest.mark.slow(because="0.3 s each; every recorded mutant dies without it")
@EVERY
def test_the_specification_is_written_as_it_is(name: str, tmp_path: Path) -> None:
    chart = CHARTS[name](HOSTILE, SECRET)
    exports.save_chart(chart, tmp_path / "chart.json", Origin.now())
    spec = json.loads((tmp_path / "chart.json").read_bytes())
    assert spec == chart.to_dict()
    assert "vega-lite" in spec["$schema"]


def test_a_chart_takes_the_place_of_an_older_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "chart.json"
    path.write_text("old")
    exports.save_chart(subsets.success(sweep(QIDS)), path, Origin.now())
    assert [p.name for p in tmp_path.iterdir()] == ["chart.json"]
    assert path.read_text() != "old"


def test_another_ending_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"one of \.html, \.png, \.svg, \.json"):
        exports.save_chart(subsets.success(sweep(QIDS)), tmp_path / "chart.pdf", Origin.now())
    assert not list(tmp_path.iterdir())


@EVERY
@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_without_the_extra_it_is_named(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=re.escape(installation.command("charts"))):
        CHARTS[name](QIDS, "income")


@pytest.mark.parametrize(
    ("draw", "frame"),
    [
        (subsets.success, sweep(QIDS)),
        (people_charts.histograms, bins(QIDS)),
        (subsets.shapley, contributions(QIDS)),
    ],
)
def test_nothing_to_draw_is_said(draw: Callable[[pl.DataFrame], Any], frame: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw(frame.clear())


def test_links_are_drawn_by_step_with_how_many_they_are() -> None:
    chart = charts.calibration(linked())
    drawn = {(r["panel"], r["predicted"]): (r["right"], r["links"]) for r in rows_of(chart)}
    assert drawn["release 1 to 2", 0.5] == (0.5, 500)
    assert drawn["release 2 to 3", 0.9] == (0.45, 900)
    assert len(drawn) == 6
    spec = chart.to_dict(validate=True)
    assert vl_convert.vegalite_to_vega(spec)["marks"]
    words = spec["description"]
    assert (
        "release 1 to 2: of 1,500 links 71.33 % are right according to the model, 71.33 %" in words
    )
    assert (
        "release 2 to 3: of 1,500 links 71.33 % are right according to the model, 35.67 %" in words
    )


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_what_altair_is_set_to_stays_as_it_is(tmp_path: Path, large: pl.DataFrame) -> None:
    def state() -> tuple[object, ...]:
        transformers = alt.data_transformers
        return (transformers.active, dict(transformers.options), alt.theme.active)

    before = state()
    exports.save_chart(subsets.success(large), tmp_path / "chart.json", Origin.now())
    assert state() == before
