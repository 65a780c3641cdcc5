"""Checks of a table against its declaration."""

import pandas as pd

from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.schema import Column, Table

TABLE = Table(
    "things",
    "thing",
    (
        Column("name", "text", "its name"),
        Column("count", "integer", "how many", required=False, at_least=0),
        Column("share", "number", "part", required=False, at_least=0, at_most=1),
        Column("good", "flag", "whether", required=False),
        Column("month", "date", "when", required=False),
    ),
    key=("name",),
)


def check(text: str) -> tuple[pd.DataFrame, list[str]]:
    table = read_csv_text(text.encode(), "things.csv", may_be_empty=True)
    frame, mistakes = check_table(table, TABLE, "things.csv")
    return frame, mistakes.sentences


def test_types_are_exact():
    frame, problems = check(
        "name,count,share,good,month\na,9007199254740991,0.1,1,2026-08\nb,,,,\n"
    )
    assert problems == []
    assert frame.dtypes.astype(str).to_dict() == {
        "name": "str",
        "count": "Int64",
        "share": "float64",
        "good": "bool",
        "month": "str",
    }
    assert frame["count"].to_list() == [2**53 - 1, pd.NA]
    assert frame["month"].isna().to_list() == [False, True]


def test_every_mistake_in_row_order():
    _, problems = check(
        "name,count,share,good,month\n"
        "a,1.5,2,yes,2026-13\n"
        ",-1,-0.1,true,May\n"
        "c,9007199254740992,x,false,2026-02-30\n"
        "d,inf,1e999,0,\n"
    )
    assert problems == [
        "things.csv row 2: count is '1.5'; it must be a whole number, at least 0.",
        "things.csv row 2: share is '2'; it must be a number, at least 0, at most 1.",
        "things.csv row 2: good is 'yes'; it must be true or false.",
        "things.csv row 2: month is '2026-13'; it must be a date (YYYY-MM-DD) or month (YYYY-MM).",
        "things.csv row 3: name is empty; it must be text (its name).",
        "things.csv row 3: count is '-1'; it must be a whole number, at least 0.",
        "things.csv row 3: share is '-0.1'; it must be a number, at least 0, at most 1.",
        "things.csv row 3: month is 'May'; it must be a date (YYYY-MM-DD) or month (YYYY-MM).",
        "things.csv row 4: count is '9007199254740992'; it must be a whole number, at least 0.",
        "things.csv row 4: share is 'x'; it must be a number, at least 0, at most 1.",
        "things.csv row 5: count is 'inf'; it must be a finite number.",
        "things.csv row 5: share is '1e999'; it must be a finite number.",
    ]


def test_hostile_cells_are_shown_escaped_and_short():
    _, problems = check('name,count,share,good,month\na,"\x1b[31m\n' + "y" * 500 + '",,,\n')
    (sentence,) = problems
    assert "\x1b" not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 150


def test_columns_are_suggested():
    _, problems = check("name,counts,share,good,month\na,1,,,\n")
    assert problems == [
        "things.csv has no column 'count' (how many); add it.",
        "things.csv has an unknown column 'counts'; did you mean 'count'?",
    ]


def test_a_table_may_be_empty():
    frame, problems = check("name,count,share,good,month\n")
    assert problems == []
    assert len(frame) == 0
    assert str(frame["count"].dtype) == "Int64"


def test_duplicates_are_counted_and_named():
    _, problems = check("name,count,share,good,month\na,1,,true,\nb,,,true,\na,2,,true,\n")
    assert problems == ["things.csv row 4 has the same name as row 2; remove one of them."]
