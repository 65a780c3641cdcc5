"""Files of records: good ones are read to the last bit, bad ones are refused in words."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.sources.records_csv import parse_records

HEADER = "tokens,metric,value,flops,params,label\n"
GOOD = "1e9,loss,3.5,1e18,1e8,a\n"

BAD = {
    "empty": (b"", "mine.csv is empty"),
    "blank": (b"\n\n", "mine.csv is empty"),
    "header only": (HEADER.encode(), "mine.csv has a header but no rows"),
    "wrong columns": (b"a,b,c\n1,2,3\n", "mine.csv has no column 'tokens'"),
    "a column missing": (b"tokens,metric,value,flops,params\n1,l,1,1,1\n", "no column 'label'"),
    "a column twice": (b"tokens,tokens\n1,2\n", "names column 'tokens' twice"),
    "text in a number": (
        (HEADER + GOOD + "many,loss,3,1,1,a\n").encode(),
        "row 3: tokens is 'many'",
    ),
    "NaN": ((HEADER + GOOD + "1,loss,NaN,1,1,a\n").encode(), "row 3: value is 'NaN'"),
    "1e400": ((HEADER + "1,loss,1e400,1,1,a\n").encode(), "row 2: value is '1e400'"),
    "negative": (
        (HEADER + "-3,loss,1,1,1,a\n").encode(),
        "row 2: tokens is '-3'; it must be a pos",
    ),
    "nothing": ((HEADER + "1,loss,,1,1,a\n").encode(), "row 2: value is empty"),
    "duplicate": ((HEADER + GOOD + GOOD).encode(), "row 3 is the same in every column as row 2"),
    "UTF-16": ((HEADER + GOOD).encode("utf-16"), "mine.csv is UTF-16 or UTF-32 text"),
    "binary": (bytes(range(256)) * 20, "mine.csv row 2: not UTF-8 text"),
    "NUL": ((HEADER + "1,lo\0ss,1,1,1,a\n").encode(), "row 2: holds a NUL byte"),
    "short row": ((HEADER + "1,loss,1\n").encode(), "row 2: 3 cells where the header has 6"),
    "long row": ((HEADER + GOOD + "1,loss,1,1,1,a,b\n").encode(), "row 3: 7 cells where"),
    "open quote": ((HEADER + '1,"loss,1,1,1,a\n').encode(), "not readable as CSV"),
    "huge cell": ((HEADER + "1," + "x" * 200_000 + ",1,1,1,a\n").encode(), "not readable as CSV"),
    "semicolons": (b"tokens;metric;value\n1;loss;3\n", "separates its cells by semicolons"),
    "tabs": (b"tokens\tmetric\tvalue\n1\tloss\t3\n", "separates its cells by tabs"),
    "near miss": (HEADER.replace("tokens", " Tokens").encode() + b"1,l,1,1,1,a\n", "rename ' Tok"),
    "blank label": ((HEADER + "1,loss,1,1,1,  \n").encode(), "row 2: label is empty"),
    "column row": (
        (HEADER.strip() + ",row\n" + (GOOD.strip() + ",9\n") * 2).encode(),
        "row 3 is the same in every column as row 2",
    ),
    "many columns": (",".join(f"c{i}" for i in range(100_000)).encode(), "no rows"),
    "blank line": ((HEADER + "\n" + "0,loss,1,1,1,a\n").encode(), "row 3: tokens is '0'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_words(case):
    content, words = BAD[case]
    with pytest.raises(dc.DataError) as caught:
        parse_records(content, "mine.csv")
    lines = str(caught.value).splitlines()
    assert any(words in line for line in lines)
    assert len(lines) <= 10


def test_replicates_are_not_duplicates():
    records = parse_records((HEADER + GOOD + GOOD.replace("3.5", "3.6")).encode(), "mine.csv")
    assert records["value"].to_list() == [3.5, 3.6]


def test_a_byte_order_mark_of_utf8_is_fine():
    assert len(parse_records((HEADER + GOOD).encode("utf-8-sig"), "mine.csv")) == 1


def test_further_columns_are_kept_and_known_ones_checked():
    text = HEADER.strip() + ",seed,status\n" + GOOD.strip() + ",42,finished\n"
    records = parse_records(text.encode(), "mine.csv")
    assert records["seed"].to_list() == ["42"]
    with pytest.raises(dc.DataError, match="status is 'done'; it must be one of finished"):
        parse_records(text.replace("finished", "done").encode(), "mine.csv")


def test_many_mistakes_are_ten_lines():
    with pytest.raises(dc.DataError) as caught:
        parse_records((HEADER + "x,loss,y,z,1,a\n" * 5000).encode(), "mine.csv")
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (10, f"and {3 * 5000 - 9:,} more mistakes.")
    with pytest.raises(dc.DataError) as caught:
        parse_records((HEADER + "x\n" * 5000).encode(), "mine.csv")
    assert str(caught.value).splitlines()[-1] == "and 4,991 more mistakes."


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(dc.DataError, match=r"none\.csv cannot be read: No such file"):
        dc.read_records(tmp_path / "none.csv")


names = st.text(st.characters(codec="utf-8", exclude_characters="\0\r")).filter(str.strip)
positive = st.floats(min_value=5e-324, max_value=1.7e308)


@given(
    st.lists(
        st.tuples(
            positive,
            st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).filter(
                str.strip
            ),
            st.floats(allow_nan=False, allow_infinity=False),
            positive,
            positive,
            st.just("label"),
        ),
        min_size=1,
        unique=True,
    )
)
@settings(deadline=None, max_examples=60)
def test_numbers_are_read_back_to_the_last_bit(rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER.strip().split(","))
    writer.writerows(rows)
    records = parse_records(text.getvalue().encode(), "mine.csv")
    expected = pd.DataFrame(rows, columns=HEADER.strip().split(","))
    for column in ("tokens", "value", "flops", "params"):
        assert records[column].to_list() == expected[column].to_list()
    assert records["metric"].to_list() == expected["metric"].to_list()


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=150)
def test_no_bytes_raise_anything_else(content):
    for data in (content, HEADER.encode() + content):
        try:
            parse_records(data, "mine.csv")
        except dc.DataError as error:
            assert str(error)  # noqa: PT017 - whether it raises hangs on the bytes
