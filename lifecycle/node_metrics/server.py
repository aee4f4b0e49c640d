"""Serves the text of the last look at the node: `GET /metrics` and nothing else."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOST_REQUESTS = 16
SECONDS = 5.0
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Page(ThreadingHTTPServer):
    """The server; `text` is what it answers. A request beyond the most at once is closed unanswered."""

    daemon_threads = True

    def __init__(self, address: str, port: int) -> None:
        self.text = ""
        self._free = threading.BoundedSemaphore(MOST_REQUESTS)
        super().__init__((address, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no event."""


class _Handler(BaseHTTPRequestHandler):
    timeout = SECONDS
    server: Page

    def do_GET(self) -> None:  # the name that http.server calls
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body = self.server.text.encode()
        self.send_response(200)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not logged."""
