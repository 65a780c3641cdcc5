"""A Chromium for pictures that asks nobody for anything; needs requirements-cards.txt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from choreographer.browsers.chromium import Chromium

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_REQUESTS = (
    # Charts are drawn by files of the installed packages: there is no host to be asked, and the
    # browser's own services find none either.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
)


def sandboxed() -> bool:
    """Whether a Chromium of this process can have a sandbox; root gets none."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


class QuietChromium(Chromium):
    """A Chromium that finds no host."""

    def get_cli(self) -> Sequence[str]:
        """The command line that it is started by."""
        return [*super().get_cli(), *NO_REQUESTS]
