"""`python -m delphi_core`."""

import sys

from delphi_core.cli import main

sys.exit(main())
