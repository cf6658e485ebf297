"""Servers for drop-ins to ask."""

from tests.cli.conftest import run  # noqa: F401
from tests.server.conftest import folder, model_file, server, sure, sure_file  # noqa: F401
