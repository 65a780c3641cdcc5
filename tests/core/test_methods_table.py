"""The table of methods where no method gives a law."""

import json

import delphi_core as dc
from delphi_core.cli import main

BPB = "eval/paloma/c4_en/bpb"


def test_a_table_without_any_law_has_its_columns_and_reasons(snapshot):
    records = snapshot.records("delphi", BPB)
    asked = (dc.IsoflopFit(), dc.LawSettings())
    none = dc.methods_table(dc.fit_methods(records, *asked))
    macro = snapshot.records("delphi", "eval/paloma/macro_loss")
    some = dc.methods_table(dc.fit_methods(macro, *asked))
    assert list(none) == list(some)
    assert none["E"].isna().all()
    assert none["notes"].str.contains("fit more").all()


def test_the_command_says_that_no_method_gives_a_law(capsys):
    for more in ([], ["--json"]):
        assert main(["methods", "--metric", BPB, *more]) == 3
        printed = capsys.readouterr()
        assert printed.err == "no method gives a law here.\n"
        rows = json.loads(printed.out)["rows"] if more else printed.out.splitlines()[1:]
        assert len(rows) == 15
