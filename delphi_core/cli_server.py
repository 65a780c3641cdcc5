"""How commands are told of the tracking server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from delphi_core.sources.graphql import KEY_VARIABLE, Endpoint
from delphi_core.sources.tracking_server import (
    DEFAULT_SERVER,
    PROJECTS,
    SERVER_VARIABLE,
    TrackingServer,
)

if TYPE_CHECKING:
    import argparse


def server_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the tracking server is, and whether a key is sent."""
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"tracking server (default: {SERVER_VARIABLE} in the environment, else "
        f"{DEFAULT_SERVER})",
    )
    parser.add_argument(
        "--server-key",
        action="store_true",
        help=f"send the key that {KEY_VARIABLE} holds (default: none is sent; public projects "
        "need none)",
    )
    parser.add_argument(
        "--project",
        action="append",
        metavar="ENTITY/PROJECT",
        help="look for runs in this project of the tracking server; may be given again (default: "
        f"{', then '.join(PROJECTS)})",
    )


def server_of(options: argparse.Namespace) -> TrackingServer:
    """The tracking server that a command was told of.

    Raises
    ------
    DataError
        Its address or a project's name is not one, or the key that is to be sent is not there.
    """
    named = os.environ.get(SERVER_VARIABLE, "").strip() or DEFAULT_SERVER
    if options.server is not None:
        named = options.server.strip()
    endpoint = Endpoint(named, with_key=options.server_key, seconds=options.seconds)
    # Asked for here as well, so that a key that is missing is said once and not by each run.
    endpoint.authentication()
    return TrackingServer(endpoint, projects=tuple(options.project or PROJECTS))
