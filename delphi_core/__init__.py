"""Scaling ladders of the Marin project: tables, fits and figures.

import delphi_core as dc
snapshot = dc.load_snapshot()
isoflop = dc.fit_isoflops(snapshot.records("delphi", "eval/paloma/macro_loss"))
dc.fit_token_law(isoflop).predict(1e23)
dc.fit_loss_law(isoflop).predict(1e23)
"""

from delphi_core.browse import filtered
from delphi_core.comparable import Comparison, comparison
from delphi_core.errors import DataError, DelphiError, FitError
from delphi_core.fits.held_out import HeldOut, held_out_runs, seed_noise
from delphi_core.fits.interval import Interval
from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult, fit_isoflops
from delphi_core.fits.law_choice import Choice, choose
from delphi_core.fits.law_doubts import UnidentifiedError
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.loss_law import LossLaw
from delphi_core.fits.loss_law_fit import LossLawFit, fit_loss_law
from delphi_core.fits.optima import Optima, optima_of, published_optima_of
from delphi_core.fits.pairs import paired_runs
from delphi_core.fits.power_law import PowerLaw, fit_params_law, fit_token_law
from delphi_core.fits.recipe import Recipe, delphi_recipe, delphi_suite
from delphi_core.fits.speedup import SpeedUp, speed_up, speed_up_at_optima
from delphi_core.fits.surface import Surface, SurfaceFit, fit_surface
from delphi_core.fits.walk_forward import walk_forward_all
from delphi_core.freeze import freeze_forecast
from delphi_core.frozen_check import check_forecast
from delphi_core.law_tables import fit_methods, held_out_table, methods_table
from delphi_core.ledger import forecast_ledger
from delphi_core.own_ladders import OwnLadders, read_own_ladders, with_own_ladders
from delphi_core.plan_tables import LadderPlan, plan
from delphi_core.recipe_fits import FittedRecipe, RecipeSettings, fit_recipe
from delphi_core.recipes import Recipes, compare_recipes
from delphi_core.records import budget_bucket
from delphi_core.snapshot import Ladder, Snapshot, current_version, load_snapshot
from delphi_core.sources.extract import extract
from delphi_core.sources.places import Place
from delphi_core.sources.records_csv import read_records
from delphi_core.trajectories import main_line, targets
from delphi_core.trajectory_tables import forecast_trajectory
from delphi_core.version import __version__

__all__ = [
    "Choice",
    "Comparison",
    "DataError",
    "DelphiError",
    "FitError",
    "FittedRecipe",
    "HeldOut",
    "Interval",
    "IsoflopFit",
    "IsoflopResult",
    "Ladder",
    "LadderPlan",
    "LawSettings",
    "LossLaw",
    "LossLawFit",
    "Optima",
    "OwnLadders",
    "Place",
    "PowerLaw",
    "Recipe",
    "RecipeSettings",
    "Recipes",
    "Snapshot",
    "SpeedUp",
    "Surface",
    "SurfaceFit",
    "UnidentifiedError",
    "__version__",
    "budget_bucket",
    "check_forecast",
    "choose",
    "compare_recipes",
    "comparison",
    "current_version",
    "delphi_recipe",
    "delphi_suite",
    "extract",
    "filtered",
    "fit_isoflops",
    "fit_loss_law",
    "fit_methods",
    "fit_params_law",
    "fit_recipe",
    "fit_surface",
    "fit_token_law",
    "forecast_ledger",
    "forecast_trajectory",
    "freeze_forecast",
    "held_out_runs",
    "held_out_table",
    "load_snapshot",
    "main_line",
    "methods_table",
    "optima_of",
    "paired_runs",
    "plan",
    "published_optima_of",
    "read_own_ladders",
    "read_records",
    "seed_noise",
    "speed_up",
    "speed_up_at_optima",
    "targets",
    "walk_forward_all",
    "with_own_ladders",
]
