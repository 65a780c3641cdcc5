"""What is refused, what is warned of, and what cannot be known: from the tables' columns."""

from dataclasses import replace

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.comparable import metric_differences, optima_metrics
from delphi_core.tokenizers import bytes_per_token, tokenizer_trace

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
DROPLESS = "eval_dropless/paloma/macro_loss"


def changed(snapshot, table, change):
    """The snapshot with one table changed."""
    tables = dict(snapshot.tables)
    tables[table] = change(tables[table].copy())
    return replace(snapshot, tables=tables)


def with_cell(snapshot, ladder, column, value):
    """The snapshot with one cell of ladders.csv changed."""

    def change(rows):
        rows.loc[rows["ladder"] == ladder, column] = value
        return rows

    return changed(snapshot, "ladders", change)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (BPB, ["another unit (nats/token against bits/byte)", "another text or mean"]),
        (DROPLESS, ["another kind of evaluation (eval against eval_dropless"]),
        ("eval/macro_loss", ["another text or mean"]),
        ("eval_dropless/paloma/macro_bpb", ["another unit", "another kind of evaluation"]),
    ],
)
def test_another_metric_unit_or_evaluation_is_refused_with_the_reason(snapshot, metric, words):
    found = dc.comparison(snapshot, "delphi", "moe-v16", MACRO, ladder_metric=metric)
    assert not found.allowed
    for part in words:
        assert part in found.refusals[0]
    assert metric_differences(snapshot, MACRO, MACRO) == []
    assert len(metric_differences(snapshot, MACRO, metric)) == len(
        metric_differences(snapshot, metric, MACRO)
    )


def test_a_ladder_without_the_metric_is_refused_with_what_it_has(snapshot):
    (reason,) = dc.comparison(snapshot, "delphi", "delphi-attempt-1", BPB).refusals
    assert "has no optima in eval/paloma/c4_en/bpb; it has eval/paloma/macro_loss" in reason
    (reason,) = dc.comparison(snapshot, "delphi", "hero", MACRO).refusals
    assert "no optimum of any budget" in reason
    assert "another kind of evaluation (eval against eval_dropless" in reason
    found = dc.comparison(snapshot, "delphi", "moe-67b", MACRO)
    assert "Trajectories page" in found.refusals[0]
    assert (found.warnings, found.notes) == ((), ())


def test_unknown_ladders_and_metrics_are_named_with_near_misses(snapshot):
    with pytest.raises(dc.DataError, match="no ladder 'delphy'; did you mean 'delphi'"):
        dc.comparison(snapshot, "delphi", "delphy", MACRO)
    with pytest.raises(dc.DataError, match="no metric 'paloma/macro_los'"):
        dc.comparison(snapshot, "delphi", "moe-v16", "paloma/macro_los")


def test_delphi_and_attempt_1_share_every_convention(snapshot):
    found = dc.comparison(snapshot, "delphi-attempt-1", "delphi", MACRO)
    assert found.allowed
    assert found.warnings == ()
    assert any("Optimizer differs" in note for note in found.notes)
    assert any("22 of 22 shapes" in note for note in found.notes)


def test_dense_against_active_and_flops_are_warned_of(snapshot):
    found = dc.comparison(snapshot, "delphi", "moe-v16", MACRO)
    assert found.allowed
    sizes, flops = found.warnings
    assert "sized by parameters, MoE v16 iso-FLOP by active parameters" in sizes
    assert "recorded total training FLOPs, lm_head included" in flops
    assert "nominal budget" in flops
    assert any("Tokenizer: not known to be the same" in note for note in found.notes)


def test_sequence_length_is_warned_of(snapshot):
    (words,) = dc.comparison(snapshot, "moe-v16", "moe-aug-hero", MACRO).warnings
    assert "MoE v16 iso-FLOP 4,096, MoE August hero iso-FLOP 8,192 tokens" in words


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("params_column", "active_params", "active parameters"),
        ("flops_convention", "total training FLOPs, lm_head excluded", "leaves lm_head out"),
    ],
)
def test_a_warning_comes_from_its_column(snapshot, column, value, words):
    before = dc.comparison(snapshot, "delphi-attempt-1", "delphi", MACRO)
    after = dc.comparison(with_cell(snapshot, "delphi", column, value), *_args(before))
    assert before.warnings == ()
    assert words in " ".join(after.warnings)


def _args(found):
    return found.base, found.ladder, found.metric


def test_a_bits_per_byte_needs_no_tokenizer(snapshot):
    found = dc.comparison(snapshot, "delphi", "moe-v16", BPB)
    assert found.allowed
    assert not any("okenizer" in words for words in found.notes)


def test_what_optima_a_ladder_has(snapshot):
    assert optima_metrics(snapshot, "delphi") == [BPB, MACRO]
    assert optima_metrics(snapshot, "moe-may-gates") == [MACRO]
    assert optima_metrics(snapshot, "hero") == []


def test_loss_and_bits_per_byte_of_a_text_give_the_bytes_of_a_token(snapshot):
    found = bytes_per_token(snapshot, "delphi")
    evals = snapshot.tables["evals"]
    own = evals[evals["ladder"] == "delphi"].pivot_table("value", "run", "metric").dropna()
    ratios = own["eval/paloma/c4_en/loss"] / own[BPB] / np.log(2)
    # Eight runs of one tokenizer agree to four digits, whatever their size.
    assert ratios.max() / ratios.min() < 1.0003
    assert found == {"paloma/c4_en": pytest.approx(4.688, abs=0.001)}
    assert bytes_per_token(snapshot, "delphi-attempt-1") == {}


def test_the_hero_and_the_67b_run_have_the_tokens_of_one_tokenizer(snapshot):
    trace = tokenizer_trace(snapshot, "hero", "moe-67b")
    assert trace.same is True
    assert "paloma/macro give 3.978 and 3.988 bytes a token" in trace.sentence


def test_another_tokenizer_is_refused_in_a_loss_and_allowed_in_bits_per_byte(snapshot):
    # The same losses and texts, with tokens a fifth longer, in both ladders' c4_en.
    def change(rows):
        own = rows[(rows["ladder"] == "delphi") & (rows["metric"] == "eval/paloma/c4_en/loss")]
        run = rows.loc[(rows["ladder"] == "moe-v16") & (rows["metric"] == BPB), "run"].iloc[0]
        bits = float(rows.loc[(rows["run"] == run) & (rows["metric"] == BPB), "value"].iloc[0])
        value = bits * np.log(2) * 4.688 * 1.2
        rows.loc[len(rows)] = own.iloc[0].to_dict() | {
            "ladder": "moe-v16",
            "run": run,
            "value": value,
        }
        return rows

    other = changed(snapshot, "evals", change)
    found = dc.comparison(other, "delphi", "moe-v16", MACRO)
    (reason,) = found.refusals
    assert "Different tokenizers" in reason
    assert "4.688 and 5.626 bytes a token" in reason
    assert dc.comparison(other, "delphi", "moe-v16", BPB).allowed
    assert dc.comparison(snapshot, "delphi", "moe-v16", MACRO).allowed


def test_shapes_of_unequal_parameter_counts_are_no_proof_of_one_tokenizer(snapshot):
    def change(rows):
        rows.loc[rows["ladder"] == "delphi", "params"] += 1
        return rows

    trace = tokenizer_trace(changed(snapshot, "runs", change), "delphi", "delphi-attempt-1")
    assert trace.same is None
    assert "0 of 22 shapes" in trace.sentence
