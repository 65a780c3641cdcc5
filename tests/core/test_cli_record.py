"""The ledger, forecast-freeze and forecast-check commands: files, exit status, sentences."""

import json
import shutil

import pytest

from delphi_core.cli import main
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_write import write_manifest

RUNG = "rav-ladder-d1024"
MACRO = "eval_dropless/paloma/macro_loss"


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, standard error."""

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled snapshot that a test may change."""
    return shutil.copytree(BUNDLED, tmp_path / "snapshot")


@pytest.fixture
def hero(run, tmp_path):
    """The hero's frozen forecast."""
    file = tmp_path / "hero.json"
    assert run("forecast-freeze", "--target", "hero", "--out", file)[0] == 0
    return file


def rewrite(folder, change):
    """Change trajectories.csv line by line, by number; None leaves a line out."""
    file = folder / "trajectories.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [new for row, line in enumerate(lines, 1) if (new := change(row, line)) is not None]
    assert kept != lines
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    write_manifest(folder, "2026-01-01T00:00:00Z")
    return folder


def a_rung_row():
    """Row number and cells of an evaluation of a rung in trajectories.csv."""
    lines = (BUNDLED / "trajectories.csv").read_text(encoding="utf-8").splitlines()
    rows = [(row, line) for row, line in enumerate(lines, 1) if f",{RUNG}," in line]
    return next((row, line.split(",")) for row, line in reversed(rows) if f",{MACRO}," in line)


def test_freeze_then_check_on_the_same_snapshot(run, hero):
    status, out, err = run("forecast-check", hero)
    assert (status, err) == (0, "")
    assert "It still follows from the same data, to the last bit." in out
    assert "Measurements since: none since it was frozen." in out
    assert "47 were known when it was frozen; not counted." in out
    status, out, _ = run("forecast-check", hero, "--json")
    document = json.loads(out)
    assert status == 0
    assert document["follows"]
    assert document["checksum"] == json.loads(hero.read_text(encoding="utf-8"))["checksum"]


def test_the_frozen_numbers_are_those_of_the_forecast_command(run, hero):
    document = json.loads(hero.read_text(encoding="utf-8"))
    printed = json.loads(run("forecast", "--target", "hero", "--json")[1])
    names = ("fraction", "predicted", "low", "high")
    wanted = [
        [point[name] for name in names] for point in printed["points"] if point["step"] is None
    ]
    assert [[row[name] for name in names] for row in document["result"]["predictions"]] == wanted
    assert document["result"]["rungs"] == printed["rungs"]


def test_one_changed_loss_is_named_with_its_row_of_the_file(run, hero, folder):
    number, cells = a_rung_row()
    place = len(cells) - 2
    value = float(cells[place])
    changed = [*cells[:place], repr(value + 0.01), *cells[place + 1 :]]
    place = rewrite(folder, lambda row, line: ",".join(changed) if row == number else line)
    status, out, err = run("forecast-check", hero, "--snapshot", place)
    assert (status, err) == (3, "")
    assert f"trajectories row {number} (hero, {RUNG}, " in out
    assert f"value was {value}, is {value + 0.01}" in out
    assert "files that differ: trajectories.csv" in out
    assert "It does not follow as it stands" in out
    status, out, _ = run("forecast-check", hero, "--snapshot", place, "--json")
    assert status == 3
    assert json.loads(out)["rows_changed"]["trajectories"]["changed"]


def test_measurements_made_since_are_scored(run, folder, tmp_path):
    early = rewrite(
        folder, lambda _, line: None if "hero-535b-a23b" in line and ",13" in line else line
    )
    file = tmp_path / "early.json"
    assert run("forecast-freeze", "--target", "hero", "--snapshot", early, "--out", file)[0] == 0
    status, out, _ = run("forecast-check", file)
    assert status == 0
    found = json.loads(run("forecast-check", file, "--json")[1])["since"]["summary"]
    assert found["evaluations"] > 0
    assert (
        f"Measurements since: {found['evaluations']} evaluations, mean absolute error "
        f"{found['mean_abs_error_pct']:.3f} %, worst {found['max_abs_error_pct']:.3f} %, "
        f"{100 * found['coverage']:.0f} % inside the 90 % band, interval score "
        f"{found['interval_score']:.3f} %."
    ) in out


def test_a_file_is_not_replaced_without_force(run, hero):
    before = hero.read_bytes()
    status, out, err = run("forecast-freeze", "--target", "67b", "--out", hero)
    assert (status, out) == (1, "")
    assert err == "hero.json is there already; name another file, or --force to replace it.\n"
    assert hero.read_bytes() == before
    assert run("forecast-freeze", "--target", "67b", "--out", hero, "--force")[0] == 0
    assert json.loads(hero.read_bytes())["forecast"]["target"] == "67b"
    assert sorted(path.name for path in hero.parent.iterdir()) == ["hero.json"]


def test_an_altered_file_is_status_3(run, hero):
    text = hero.read_text(encoding="utf-8")
    hero.write_text(text.replace('"made_at": "20', '"made_at": "19'), encoding="utf-8")
    status, out, _ = run("forecast-check", hero)
    assert status == 3
    assert "the file was altered after it was made" in out


def test_names_out_of_a_file_are_printed_as_text(run, hero):
    document = json.loads(hero.read_text(encoding="utf-8"))
    document["versions"] = {"numpy": "\x1b[31m1.0"}
    document["made_at"] = "\x1b]0;title\x07"
    hero.write_text(json.dumps(document), encoding="utf-8")
    status, out, _ = run("forecast-check", hero)
    assert status == 3
    assert all(line.isprintable() for line in out.splitlines())
    assert "numpy ?[31m1.0 then" in out


def test_a_law_at_some_compute(run, tmp_path):
    file = tmp_path / "law.json"
    command = ("forecast-freeze", "--ladder", "moe-v16", "--out", file)
    status, out, err = run(*command, "--flops", "1e22", "--flops", "1e23", "--level", "0.8")
    assert (status, err) == (0, "")
    assert out.startswith("law.json: 2 predictions from ")
    document = json.loads(file.read_text(encoding="utf-8"))
    assert out.splitlines()[-1] == f"checksum {document['checksum']}"
    assert document["settings"]["level"] == 0.8
    assert run("forecast-check", file)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "heros"], "did you mean 'hero'"),
        (["--target", "hero", "--metric", "ptb"], "no metric 'ptb' on this target"),
        (["--target", "hero", "--method", "spline"], "no method 'spline'"),
        (["--target", "hero", "--asymptote", "2.6"], "E is pinned at 2.6"),
        (["--target", "hero", "--without", "ptbb"], "did you mean 'ptb'"),
        (["--target", "hero", "--level", "2"], "level is '2.0'"),
        (["--target", "hero", "--snapshot", "nowhere"], "cannot be read: No such file"),
        (["--ladder", "delphy", "--flops", "1e22"], "did you mean 'delphi'"),
        (["--ladder", "delphi", "--flops", "1e22", "--method", "cubic"], "no method 'cubic'"),
        (["--ladder", "delphi", "--flops", "1e22", "--metric", "x"], "has no metric 'x'"),
    ],
)
def test_what_cannot_be_frozen_is_status_1_and_one_sentence(run, tmp_path, arguments, words):
    file = tmp_path / "out.json"
    status, out, err = run("forecast-freeze", *arguments, "--out", file)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not file.exists()


def test_a_place_that_cannot_be_written_is_one_sentence(run, tmp_path):
    for out, words in (
        (tmp_path, "is a folder; name a file"),
        (tmp_path / "none" / "x.json", "is no folder; make it"),
        ("gs://bucket/x.json", "is in a bucket"),
    ):
        status, _, err = run("forecast-freeze", "--target", "hero", "--out", out)
        assert status == 1
        assert words in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["forecast-freeze", "--out", "x"],
        ["forecast-freeze", "--target", "hero"],
        ["forecast-freeze", "--target", "hero", "--ladder", "delphi", "--out", "x"],
        ["forecast-freeze", "--target", "hero", "--flops", "1e22", "--out", "x"],
        ["forecast-freeze", "--target", "hero", "--band", "profile", "--out", "x"],
        ["forecast-freeze", "--ladder", "delphi", "--out", "x"],
        ["forecast-freeze", "--ladder", "delphi", "--flops", "1e40", "--out", "x"],
        ["forecast-freeze", "--ladder", "delphi", "--flops", "0", "--out", "x"],
        ["forecast-freeze", "--ladder", "delphi", "--flops", "much", "--out", "x"],
        [
            "forecast-freeze",
            "--ladder",
            "delphi",
            "--flops",
            "1e22",
            "--without",
            "p",
            "--out",
            "x",
        ],
        ["forecast-freeze", "--target", "hero", "--asymptote", "low", "--out", "x"],
        ["forecast-check"],
        ["ledger", "hero"],
    ],
)
def test_wrong_usage_is_status_2(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it is not JSON as written"),
        ("{}", "is no frozen forecast; forecast-freeze writes them"),
        ('{"kind": "frozen forecast of the Delphi Dashboard", "format": 9}', "has format '9'"),
    ],
)
def test_a_bad_file_is_status_1_and_one_sentence(run, tmp_path, content, words):
    file = tmp_path / "bad\x1b.json"
    file.write_text(content, encoding="utf-8")
    for form in ([], ["--json"]):
        status, out, err = run("forecast-check", file, *form)
        assert (status, out) == (1, "")
        assert words in err
        assert err.startswith("bad?.json ")
        assert len(err.strip().splitlines()) == 1


def test_the_ledger_says_how_published_forecasts_came_out(run):
    status, out, err = run("ledger", "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    early = [row for row in document["forecasts"] if row["preregistered"] and row["error_pct"]]
    assert [
        (row["ladder"], round(row["error_pct"], 2)) for row in early if row["ladder"] != "hero"
    ] == [
        ("moe-v16", -0.8),
        ("moe-67b", -0.57),
        ("delphi", 0.5),
        ("delphi", 0.2),
        ("delphi", 0.2),
    ]
    text = run("ledger")[1]
    assert "(preregistered), three anchors, 1.4 + 84.74 C^-0.0862; 3 rungs at 80 %" in text
    assert "yes           over 100                          23       10    4      1.19 %" in text
    assert "nan" not in text.lower()
    assert text.endswith("17 more forecasts without an outcome; --json has all\n")
