"""Data flows one way: no module imports against the direction, and only web knows streamlit."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "delphi_core"

# Lowest first; a module may import from its own layer and from those before it.
LAYERS = [
    {"errors", "words", "schema", "plain_rows", "version", "citation"},
    {"csv_text", "tables", "checks", "spreadsheet"},
    {"manifest", "parquet_table"},
    {"records"},
    {"sources"},
    {"snapshot_read", "snapshot_write"},
    {"snapshot", "browse", "published", "tokenizers", "comparable"},
    {"snapshot_rows", "snapshot_run_names"},
    {"snapshot_sources", "snapshot_records", "snapshot_build"},
    {"snapshot_diff", "snapshot_publish"},
    {"snapshot_keeper"},
    {"fits"},
    {"figures"},
    {"export", "own_records"},
    {"own_ladders", "json_text", "download_columns"},
    {"trajectories"},
    {"macro", "events"},
    {"ledger", "law_tables", "trajectory_tables", "plan_input", "plan_tables", "recipe_check"},
    {"recipe_fits", "recipes", "recipe_tables"},
    {"law_documents", "backtest_tables", "plan_documents", "recipe_documents"},
    {"frozen_file", "frozen_rows"},
    {"frozen_trajectory", "frozen_law"},
    {"freeze", "frozen_check"},
    {"cli_text", "record_text", "trajectory_text", "plan_text", "recipe_text"},
    {"cli_arguments", "cli_reading", "cli_server"},
    {
        "cli_fit",
        "cli_methods",
        "cli_compare",
        "cli_plan",
        "cli_forecast",
        "cli_extract",
        "cli_trajectories",
        "cli_snapshot",
        "cli_record",
    },
    {"cli", "__main__", "__init__", "web"},
]
# Fits and figures know no files, no network and no page; only errors, words and records of ours.
PURE = {"fits": {"errors", "words", "records", "fits"}}
PURE["figures"] = PURE["fits"] | {"figures"}
NEVER_IN_PURE = {"os", "pathlib", "io", "requests", "urllib", "streamlit", "gcsfs", "fsspec"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Names of the modules that a file imports, type hints included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            if module == "delphi_core":
                yield from (f"delphi_core.{alias.name}" for alias in node.names)
            else:
                yield module


def part(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def ours(path):
    return {name.split(".")[1] for name in imports(path) if name.startswith("delphi_core.")}


def test_every_module_has_a_layer():
    assert {part(path) for path in MODULES} == set.union(*LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_direction(path):
    place = next(i for i, layer in enumerate(LAYERS) if part(path) in layer)
    assert ours(path) <= set.union(*LAYERS[: place + 1])
    if part(path) in PURE:
        assert ours(path) <= PURE[part(path)]
        assert not {name.split(".")[0] for name in imports(path)} & NEVER_IN_PURE


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_web_imports_streamlit(path):
    assert part(path) == "web" or "streamlit" not in {n.split(".")[0] for n in imports(path)}


def test_sources_and_snapshot_do_not_know_fits():
    for path in MODULES:
        if part(path).startswith(
            ("sources", "snapshot", "manifest", "tables", "records", "browse")
        ):
            assert not ours(path) & {"fits", "figures", "web", "export", "cli"}
