"""Limits on connections, before anything is known of who asks: how large a header, how long idle, how many."""

from __future__ import annotations

import asyncio
import resource

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shortlist.server.settings import Limits

SPARE = 64  # files that a process opens beside its connections


def limited(limits: Limits) -> type[asyncio.Protocol]:
    """Connections within these limits, and within the number of files that the system lets a process open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = limits.connections + SPARE
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        needed = soft
    most = max(needed - SPARE, 1)
    return type("Connection", (Connection,), {"limits": limits, "most": most})


class Connection(HttpToolsProtocol):
    """A connection that is closed when it sends too much of nothing, or nothing for too long.

    Bytes that bring neither the end of a header nor any of a body are counted, be they of a header, of a trailer or
    between the chunks of a body. What is asked, once its header is whole, is the middleware's to limit.
    """

    limits: Limits
    most: int

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        others: list[Connection] = list(self.connections)  # type: ignore[arg-type]
        super().connection_made(transport)
        self._bytes = 0  # since the last header was whole, or the last of a body came
        self._since = self.loop.time()  # when it last did something
        self._unread = 0  # bytes answered that the other side has not taken
        self._clock = self.loop.call_later(self.limits.idle / 2, self._look)
        if len(others) >= self.most:
            idle = [one for one in others if not one.is_busy()]
            if idle:
                min(idle, key=lambda one: one._since).transport.abort()
            else:
                self._refuse(503, f"there are {self.most} connections already; try again in a second")

    def connection_lost(self, exc: Exception | None) -> None:
        self._clock.cancel()
        super().connection_lost(exc)

    def is_busy(self) -> bool:
        """Whether something is being answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self.transport.is_closing()

    def _look(self) -> None:
        """Now and then: close it if nothing has happened for too long."""
        unread, self._unread = self._unread, self.transport.get_write_buffer_size()
        now = self.loop.time()
        if self.is_busy() or self._unread < unread:
            self._since = now
        elif now - self._since >= self.limits.idle:
            if self._unread:
                self.transport.abort()  # closing would wait for all of it to be taken
                return
            self.transport.close()
        self._clock = self.loop.call_later(self.limits.idle / 2, self._look)

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        super().data_received(data)
        if self._bytes > self.limits.header and not self.transport.is_closing():
            self._refuse(431, f"the header is larger than the {self.limits.header:,} bytes that are taken")

    def on_headers_complete(self) -> None:
        self._bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def _refuse(self, status: int, sentence: str) -> None:
        body = msgspec.json.encode({"error": sentence})
        phrases = {431: "Request Header Fields Too Large", 503: "Service Unavailable"}
        head = (
            f"HTTP/1.1 {status} {phrases[status]}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\nretry-after: 1\r\n\r\n"
        )
        if not self.is_busy():  # or else it would stand in the middle of another answer
            self.transport.write(head.encode() + body)
        self.transport.close()
