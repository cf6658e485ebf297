"""POST requests to one address, over connections that stay open; with one time limit for a whole
answer, and one for its length. Redirects are not followed.
"""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult


class HttpClient:
    """Sends JSON to a path below an address; any number of threads may use it."""

    def __init__(self, address: SplitResult, path: str, key: str | None) -> None:
        self._host = address.hostname or ""
        self._port = address.port
        self._context = ssl.create_default_context() if address.scheme == "https" else None
        self._path = address.path.rstrip("/") + path
        if address.query:
            self._path += f"?{address.query}"
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._lock = threading.Lock()
        self._idle: list[HTTPConnection] = []

    def post(
        self, body: bytes, most_bytes: int, seconds: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a body; return the status, the headers and the content of the answer.

        Raises an OSError, of which TimeoutError is one, or an HTTPException.
        """
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            with suppress(OSError, HTTPException):  # closed by the server while it was idle
                return self._post_over(connection, body, most_bytes, seconds)
        return self._post_over(self._connect(seconds), body, most_bytes, seconds)

    def close(self) -> None:
        """Close the connections that are open."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def __del__(self) -> None:
        if hasattr(self, "_idle"):
            self.close()

    def _connect(self, seconds: float) -> HTTPConnection:
        if self._context is None:
            return HTTPConnection(self._host, self._port, timeout=seconds)
        return HTTPSConnection(self._host, self._port, timeout=seconds, context=self._context)

    def _post_over(
        self, connection: HTTPConnection, body: bytes, most_bytes: int, seconds: float
    ) -> tuple[int, dict[str, str], bytes]:
        # an answer that comes drop by drop never meets the time limit of the socket
        is_late = threading.Event()
        timer = threading.Timer(seconds, shut_down, [connection, is_late])
        timer.daemon = True
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(seconds)
            timer.start()
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            content = response.read(most_bytes + 1)
            if len(content) > most_bytes:
                raise HTTPException("the answer is too long")
            if response.length:  # bytes that were promised and did not come
                raise HTTPException("the answer ends in the middle")
        except (OSError, HTTPException):
            connection.close()
            if is_late.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
        if response.will_close or not response.isclosed():
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, content


def shut_down(connection: HTTPConnection, is_late: threading.Event) -> None:
    """End a connection, so that the thread which waits for it goes on and finds that it is late."""
    is_late.set()
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
