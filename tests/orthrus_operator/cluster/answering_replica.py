"""A server on the address of a pod, which answers as its replica would: no kubelet runs it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.builders.adapters import declaration_digest
from tests.orthrus_operator.cluster.subject import Subject

_REST = "# HELP vllm:other A replica shows far more than is read of it.\n" * 2000


class AnsweringReplica:
    """Answers /ready with `adapters`, /metrics with `metrics`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.adapters: list[dict[str, Any]] = []
        self.metrics = ""
        replica = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = replica.answer(self.path)
                self.send_response(200 if body else 404)
                self.send_header("content-length", str(len(body)))
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer((address, 8000), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, path: str) -> bytes:
        if path == "/metrics":
            return self.metrics.encode()
        body = {"ready": True, "reason": "serving", "adapters": self.adapters}
        return json.dumps(body).encode() if path == "/ready" else b""

    def run(self, pod: dict[str, Any], subject: Subject) -> None:
        """Makes `pod` ready, at this address."""
        ready = [{"type": "Ready", "status": "True"}]
        addresses = {"podIP": self.address, "podIPs": [{"ip": self.address}]}
        subject.patch_pod_status(pod, {"conditions": ready, **addresses})

    def say_adapters(self, *said: tuple[dict[str, Any], str]) -> None:
        """Each an entry of `spec.adapters`, and its state."""
        self.adapters = [
            {
                "name": entry["name"],
                "declaration": declaration_digest(Adapter.model_validate(entry)),
                "state": state,
                "serves": state == "loaded",
                "message": "it is broken",
            }
            for entry, state in said
        ]

    def say_work(
        self, *, in_flight: int, backlog: int = 0, embedding: int = 0, decode: int = 0
    ) -> None:
        """`embedding` and `decode` are tokens scheduled since its start."""
        self.metrics = _REST + (
            f'vllm:num_requests_running{{engine="0",model_name="m"}} {in_flight}.0\n'
            f'vllm:num_requests_waiting{{engine="0",model_name="m"}} 0.0\n'
            f'orthrus_backlog_tokens{{type="embedding"}} {backlog}.0\n'
            f'orthrus_backlog_tokens{{type="generation"}} 0.0\n'
            f'orthrus_scheduled_tokens_total{{unit="embedding_chunk"}} {embedding}.0\n'
            f'orthrus_scheduled_tokens_total{{unit="decode"}} {decode}.0\n'
            f"orthrus_token_budget_total {2 * (embedding + decode)}.0\n"
            f"orthrus_busy_ratio 0.5\n"
        )

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
