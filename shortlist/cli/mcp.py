"""shortlist mcp"""

from __future__ import annotations

from shortlist.cli.options import ServerAddress, TokenFile


def mcp(server: ServerAddress = "http://127.0.0.1:8000/", token_file: TokenFile = None) -> None:
    """Offer a running server to assistants, over the Model Context Protocol on standard input and output.

    The tools are rank, explain, labels, learn and undo. What they teach goes into the server's journal.
    """
    from shortlist.integrations.mcp_tools import serve
    from shortlist.server.client import Server

    serve(Server(server, token_file))
