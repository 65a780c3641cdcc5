"""Scaling ladders of the Marin project: tables, fits and figures.

import delphi_core as dc
snapshot = dc.load_snapshot()
isoflop = dc.fit_isoflops(snapshot.records("delphi", "eval/paloma/macro_loss"))
dc.fit_token_law(isoflop).predict(1e23)
"""

from delphi_core.browse import filtered
from delphi_core.errors import DataError, DelphiError, FitError
from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult, fit_isoflops
from delphi_core.fits.power_law import PowerLaw, fit_params_law, fit_token_law
from delphi_core.records import budget_bucket
from delphi_core.snapshot import Ladder, Snapshot, load_snapshot
from delphi_core.sources.records_csv import read_records

__version__ = "0.2.0"

__all__ = [
    "DataError",
    "DelphiError",
    "FitError",
    "IsoflopFit",
    "IsoflopResult",
    "Ladder",
    "PowerLaw",
    "Snapshot",
    "budget_bucket",
    "filtered",
    "fit_isoflops",
    "fit_params_law",
    "fit_token_law",
    "load_snapshot",
    "read_records",
]
