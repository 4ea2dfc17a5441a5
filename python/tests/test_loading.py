"""Files and settings, before the engine sees them."""

import datetime
from typing import Any

import pytest

from burstlab.errors import InputError, ScenarioError, unknown
from burstlab.loading import apply_settings, parse_value, read_toml, to_document


def test_a_syntax_error_has_line_and_column(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('[run]\nduration = "1 s\n')
    with pytest.raises(InputError, match=r"x\.toml.*line 2, column"):
        read_toml(path)


@pytest.mark.parametrize("content", [b"\x00\xff\xfe\x80binary", b"\xc3"])
def test_what_is_not_text_is_refused(tmp_path, content):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_toml(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_toml(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="is a directory"):
        read_toml(tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("40", 40),
        ("0.5", 0.5),
        ("true", True),
        ('["1 ms", "2 ms"]', ["1 ms", "2 ms"]),
        ("5 ms", "5 ms"),
        ("sack", "sack"),
        ("nan", "nan"),
        ("2024-01-01", "2024-01-01"),
        ("1\nx = 2", "1\nx = 2"),
        ("", ""),
    ],
)
def test_values_are_toml_and_bare_words_are_strings(text, value):
    assert parse_value(text) == value


def test_settings_reach_tables_and_lists():
    before: dict[str, Any] = {"flows": [{"label": "a"}, {"label": "b"}], "tcp": {"window": 10}}
    after = apply_settings(
        before,
        ["tcp.window=40", "flows[1].tcp.variant=reno", "flows.0.label=c", "loss.p.q=1"],
    )
    assert after["tcp"] == {"window": 40}
    assert after["flows"] == [
        {"label": "c"},
        {"label": "b", "tcp": {"variant": "reno"}},
    ]
    assert after["loss"] == {"p": {"q": 1}}
    assert before["tcp"]["window"] == 10
    assert apply_settings({}, ["flows[0].count=2"]) == {"flows": [{"count": 2}]}


@pytest.mark.parametrize(
    "setting",
    ["tcp.window", "=3", "tcp..window=3", "flows[9].label=x", "tcp.window.x=1"],
)
def test_settings_that_name_no_field(setting):
    document = {"flows": [{}], "tcp": {"window": 10}}
    with pytest.raises(InputError):
        apply_settings(document, [setting])


def test_what_json_cannot_carry_is_named():
    with pytest.raises(ScenarioError) as caught:
        to_document({"run": {"duration": datetime.date(2024, 1, 1)}})
    assert caught.value.path == "run.duration"
    with pytest.raises(ScenarioError, match="finite"):
        to_document({"loss": {"data": {"probability": float("nan")}}})


def test_a_scenario_error_names_all():
    error = ScenarioError("network.link_rate", "10", "no unit", 'write "10 Gb/s"')
    assert isinstance(error, ValueError)
    for part in ("network.link_rate", "10", "no unit", "10 Gb/s"):
        assert part in str(error)
    assert (error.path, error.fix) == ("network.link_rate", 'write "10 Gb/s"')


def test_an_unknown_name_comes_with_the_nearest():
    assert "did you mean 'yu2004/table1'?" in str(
        unknown("target", "yu2004/tabel1", ["yu2004/table1", "yu2004/fig3"])
    )
    assert "known: a, b" in str(unknown("target", "zzzzzz", ["a", "b"]))
