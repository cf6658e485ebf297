"""What the papers' tests share with those of the command line."""

from tests.cli.conftest import run as run
