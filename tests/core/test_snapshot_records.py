"""Files of records and of trajectories become rows of a snapshot, and what they refer to does."""

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.records import RECORD_COLUMNS, budget_bucket
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_build import build_snapshot
from delphi_core.snapshot_records import Origin

MACRO = "eval/paloma/macro_loss"
SIX = ",".join(RECORD_COLUMNS)


@pytest.fixture
def build(tmp_path):
    """Build a snapshot of the bundled one and files of records or trajectories."""
    made = iter(range(100))

    def call(*records, ladder="", about=None, url="", trajectories=(), sources=("bundled",)):
        out = tmp_path / f"built-{next(made)}"
        built = build_snapshot(
            out,
            sources,
            created_at="2026-12-01T00:00:00Z",
            records=[str(file) for file in records],
            trajectories=[str(file) for file in trajectories],
            origin=Origin(ladder, url, about),
        )
        return dc.load_snapshot(out), built.notes, out

    return call


@pytest.fixture
def write(tmp_path):
    """Write lines to a file."""
    made = iter(range(100))

    def call(*lines):
        file = tmp_path / f"file-{next(made)}.csv"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file

    return call


@pytest.fixture
def suite(snapshot, tmp_path):
    """Delphi's sweep as researchers pass it around: six columns, compute in buckets."""
    records = snapshot.records("delphi", MACRO)
    records = records[records["role"] == "isoflop"][list(RECORD_COLUMNS)].copy()
    records["flops"] = budget_bucket(records["flops"])
    file = tmp_path / "suite.csv"
    records.to_csv(file, index=False)
    return file


def refused(build, *files, **more):
    with pytest.raises(dc.DataError) as caught:
        build(*files, **more)
    return caught.value.problems


def test_records_that_are_there_already_change_nothing(build, suite, snapshot):
    copy, notes, _ = build(suite, ladder="delphi")
    assert copy.id == snapshot.id
    assert notes == ()


def test_compute_in_another_unit_is_of_the_same_runs(build, snapshot, tmp_path):
    records = snapshot.records("delphi", MACRO)
    records = records[records["role"].isin(["isoflop", "excluded"])][list(RECORD_COLUMNS)]
    through = records.assign(flops=np.nextafter(records["flops"], np.inf))
    through.to_csv(tmp_path / "records.csv", index=False)
    assert build(tmp_path / "records.csv", ladder="delphi")[0].id == snapshot.id


def test_a_further_metric_goes_to_the_same_runs(build, suite, snapshot):
    records = pd.read_csv(suite)
    more = records.assign(metric="test/metric", value=2 * records["value"] - 1)
    pd.concat([records, more]).to_csv(suite, index=False)
    copy, notes, _ = build(suite, ladder="delphi", url="gs://somewhere/isoflop")
    pd.testing.assert_frame_equal(copy.tables["runs"], snapshot.tables["runs"])
    old, new = snapshot.records("delphi", MACRO), copy.records("delphi", "test/metric")
    old = old[old["role"] == "isoflop"].set_index("run")["value"]
    assert (new.set_index("run")["value"] == 2 * old - 1).all()
    assert len(new) == 78
    kept = copy.tables["evals"].iloc[: len(snapshot.tables["evals"])]
    pd.testing.assert_frame_equal(kept, snapshot.tables["evals"])
    url = copy.tables["sources"].set_index("source")["url"]
    assert set(copy.tables["evals"].iloc[len(kept) :]["source"].map(url)) == {
        "gs://somewhere/isoflop"
    }
    assert len(notes) == 1
    assert "metric test/metric is new, taken as aggregate in nats/token" in notes[0]


def test_a_new_ladder_is_fitted_as_the_file_is(build, suite, snapshot):
    copy, notes, _ = build(suite, ladder="mine", about={"title": "My suite"})
    assert copy.title("mine") == "My suite"
    assert copy.ladder("mine").default_metric == MACRO
    assert notes == (
        f"ladder mine is new: isoflop, sized by params, {MACRO} first.",
        f"{suite} has no nominal budgets; centres of 1.1^k buckets stand in.",
    )
    mine = copy.records("mine", MACRO)
    assert (mine["budget"] == mine["flops"]).all()
    assert mine["budget"].nunique() == 7
    fit = dc.fit_isoflops(copy.records("mine", MACRO), method="marin")
    assert round(dc.fit_token_law(fit).exponent, 6) == 0.574388
    assert copy.metrics("mine") == [MACRO]
    for name in ("trajectories", "events", "metrics"):
        pd.testing.assert_frame_equal(copy.tables[name], snapshot.tables[name])


def test_runs_without_a_name_get_one_that_stays(build, write):
    rows = ["1e9,loss,3.5,1e18,1e8,a", "2e9,loss,3.4,1e18,5e7,a", "1.5e9,loss,3.4,1.5e18,5e7,a"]
    one, _, out = build(write(SIX, *rows), ladder="mine")
    other, _, _ = build(write(SIX, *reversed(rows)), ladder="mine")
    runs = one.tables["runs"]
    runs = runs[runs["ladder"] == "mine"]
    assert set(runs["run"]) == {
        "a-C1e+18-N100000000-D1000000000",
        "a-C1e+18-N50000000-D2000000000",
        "a-C1.5e+18-N50000000-D1500000000",
    }
    assert set(other.tables["runs"]["run"]) == set(one.tables["runs"]["run"])
    assert set(runs["role"]) == {"isoflop"}
    assert set(runs["status"]) == {"finished"}
    # Given again, the values go to the runs that were made.
    again, _, _ = build(write(SIX, *rows), ladder="mine", sources=(str(out),))
    assert again.tables["runs"].equals(one.tables["runs"])
    assert again.tables["evals"].equals(one.tables["evals"])


def test_replicates_are_numbered_in_the_order_of_the_file(build, write):
    rows = [
        "1e9,loss,3.5,1e18,1e8,a",
        "1e9,loss,3.6,1e18,1e8,a",
        "1e9,bpb,1.1,1e18,1e8,a",
        "1e9,bpb,1.2,1e18,1e8,a",
    ]
    file = write(SIX, *rows)
    copy, _, out = build(file, ladder="mine")
    evals = copy.tables["evals"]
    evals = evals[evals["ladder"] == "mine"].set_index(["run", "metric"])["value"]
    name = "a-C1e+18-N100000000-D1000000000"
    assert evals.to_dict() == {
        (name, "loss"): 3.5,
        (f"{name}-2", "loss"): 3.6,
        (name, "bpb"): 1.1,
        (f"{name}-2", "bpb"): 1.2,
    }
    again, _, _ = build(file, ladder="mine", sources=(str(out),))
    assert again.id == copy.id


def test_further_columns_are_kept(build, snapshot, tmp_path):
    """A download of this project comes back with roles, reasons, settings and names."""
    records = snapshot.records("delphi", MACRO)
    file = tmp_path / "download.csv"
    records.to_csv(file, index=False)
    copy, _, _ = build(file, ladder="mine")
    mine = copy.records("mine", MACRO)
    pd.testing.assert_frame_equal(mine, records)
    assert build(file, ladder="delphi")[0].id == snapshot.id


def test_a_mixture_of_experts_is_sized_by_active_params(build, snapshot, tmp_path):
    records = snapshot.records("moe-v16", MACRO)
    file = tmp_path / "moe.csv"
    records.to_csv(file, index=False)
    assert build(file, ladder="moe-v16")[0].id == snapshot.id
    copy, _, _ = build(file, ladder="mine", about={"params_column": "active_params"})
    assert copy.ladder("mine").default_x == "active_params"
    runs = copy.tables["runs"]
    assert runs.loc[runs["ladder"] == "mine", "params"].isna().all()
    pd.testing.assert_frame_equal(copy.records("mine", MACRO), records)


def test_which_of_several_runs_is_asked(build, write):
    rows = [f"1e9,{metric},3.5,1e18,1e8,a,{run}" for run in "xy" for metric in ("loss", "bpb")]
    _, _, out = build(write(f"{SIX},run", *rows), ladder="mine")
    (sentence,) = refused(
        build, write(SIX, "1e9,other,3.5,1e18,1e8,a"), ladder="mine", sources=(str(out),)
    )
    assert sentence.endswith(".csv row 2: it may be of x or y; add a column run.")


CONTRADICTIONS = {
    "tokens": "2e9,loss,3.5,1e18,1e8,a,x",
    "flops": "1e9,loss,3.5,2e18,1e8,a,x",
    "size (params)": "1e9,loss,3.5,1e18,2e8,a,x",
    "label": "1e9,loss,3.5,1e18,1e8,b,x",
}


@pytest.mark.parametrize("word", CONTRADICTIONS)
def test_a_run_has_one_configuration(build, write, word):
    first = write(f"{SIX},run", "1e9,bpb,1.1,1e18,1e8,a,x")
    both = write(f"{SIX},run", "1e9,bpb,1.1,1e18,1e8,a,x", CONTRADICTIONS[word])
    words = f"run 'x' has another {word} elsewhere; correct it, or name another run."
    assert refused(build, both, ladder="mine")[0].endswith(f"row 3: {words}")
    second = write(f"{SIX},run", CONTRADICTIONS[word])
    assert refused(build, first, second, ladder="mine")[0].endswith(f"row 2: {words}")


def test_mistakes_of_records_are_sentences(build, write, tmp_path):
    sentences = refused(
        build,
        write(SIX, "1e9,loss,3.5,-1,1e8,a", "1e9,loss,NaN,1e18,1e8,a"),
        write(f"{SIX},run", "1e9,loss,3.5,1e18,1e8,a,x", "1e9,loss,3.6,1e18,1e8,a,x"),
        write("tokens"),
        tmp_path / "nowhere.csv",
        ladder="mine",
    )
    assert [sentence.removeprefix(f"{tmp_path}/") for sentence in sentences] == [
        "file-0.csv row 2: flops is '-1'; it must be a positive number.",
        "file-0.csv row 3: value is 'NaN'; it must be a finite number.",
        "file-1.csv row 3 has the same ladder, run, metric as row 2; remove one of them.",
        "file-2.csv has a header but no rows; add at least one.",
        "nowhere.csv cannot be read: No such file or directory.",
    ]
    good = write(SIX, "1e9,loss,3.5,1e18,1e8,a")
    assert refused(build, good, ladder="delphi", about={"title": "x"}) == (
        "ladder 'delphi' is there already; describe only a new one.",
    )
    (sentence,) = refused(build, good, ladder="mine", about={"default_metric": "los"})
    assert sentence.startswith("ladder 'mine' row 1: default_metric 'los' is not in metrics.csv;")
    (sentence,) = refused(build, good, ladder="mine", about={"pinned_asymptote": "low"})
    assert sentence == "ladder 'mine' row 1: pinned_asymptote is 'low'; it must be a number."


POINTS = "run,segment,step,tokens,metric,value"


def test_trajectories_are_added(build, write, snapshot):
    run = "rav-ladder-d768-v2"
    file = write(f"ladder,{POINTS},source", f"hero,{run},again,7,3e7,test/loss,9.5,gs://there")
    copy, notes, _ = build(trajectories=[file])
    added = copy.tables["trajectories"].iloc[len(snapshot.tables["trajectories"]) :]
    assert added[["run", "segment", "step", "value"]].to_numpy().tolist() == [
        [run, "again", 7, 9.5]
    ]
    url = copy.tables["sources"].set_index("source")["url"]
    assert url[added["source"].iloc[0]] == "gs://there"
    assert "test/loss is new" in notes[0]
    # Without ladder and source, those of the command line.
    file = write(POINTS, f"{run},again,7,3e7,eval/loss,9.5")
    copy, _, _ = build(trajectories=[file], ladder="hero", url=str(url["s001"]))
    assert copy.tables["trajectories"].iloc[-1][["ladder", "source"]].tolist() == ["hero", "s001"]
    assert len(copy.tables["sources"]) == len(snapshot.tables["sources"])


def test_trajectories_that_are_there_change_nothing_but_their_values(build, snapshot, tmp_path):
    lines = (BUNDLED / "trajectories.csv").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "points.csv"
    with_source = [line.rpartition(",")[0] + ",gs://elsewhere" for line in lines[1:]]
    file.write_text("\n".join([lines[0], *with_source]) + "\n", encoding="utf-8")
    assert build(trajectories=[file])[0].id == snapshot.id
    changed = with_source[0].replace("12.25272274017334", "12.5")
    file.write_text("\n".join([lines[0], changed]) + "\n", encoding="utf-8")
    copy, _, _ = build(trajectories=[file])
    assert copy.tables["trajectories"]["value"].iloc[0] == 12.5
    assert len(copy.tables["trajectories"]) == 3221


def test_mistakes_of_trajectories_are_sentences(build, write):
    file = write(POINTS, "nobody,again,7,3e7,eval/loss,9.5")
    (sentence,) = refused(build, trajectories=[file], ladder="hero")
    assert "row 2: run 'nobody' is not in runs.csv" in sentence
    (sentence,) = refused(build, trajectories=[file])
    assert sentence.endswith("row 2: ladder is empty; it must be text (ladder the row belongs to).")
    file = write("run,step", "nobody,7")
    assert any("has no column 'tokens'" in s for s in refused(build, trajectories=[file]))
