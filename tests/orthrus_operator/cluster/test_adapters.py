"""From `spec.adapters` to a watched ConfigMap, and from what replicas answer to the status.

No kubelet runs these pods: a server on the address of the pod answers as a replica does.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster

ADDRESS = "127.0.0.77"
E5 = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
SQL = {"name": "sql", "source": "pvc://adapters/sql", "task": "generate"}


class Replica:
    """Answers /ready with `adapters`."""

    def __init__(self) -> None:
        self.adapters: list[dict[str, Any]] = []
        answer = self._answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = answer()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer((ADDRESS, 8000), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _answer(self) -> bytes:
        body = {"ready": True, "reason": "serving", "adapters": self.adapters}
        return json.dumps(body).encode()

    def say(self, **states: str) -> None:
        self.adapters = [
            {"name": name, "state": state, "serves": state == "loaded", "message": "it is broken"}
            for name, state in states.items()
        ]


@pytest.fixture
def replica() -> Iterator[Replica]:
    started = Replica()
    yield started
    started.server.shutdown()
    started.server.server_close()


def file(subject: Subject) -> list[dict[str, Any]]:
    config_map = subject.child("configmap")
    if not config_map:
        return []
    found: list[dict[str, Any]] = json.loads(config_map["data"]["adapters.yaml"])["adapters"]
    return found


def test_adapters_come_change_and_go_without_a_restart(subject: Subject, replica: Replica) -> None:
    subject.apply(adapters=[E5])
    (pod,) = subject.wait_for_pods(1)
    assert file(subject) == [E5]
    ready = [{"type": "Ready", "status": "True"}]
    subject.patch_pod_status(
        pod, {"conditions": ready, "podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}]}
    )
    replica.say(e5="loading")
    subject.wait_for_condition("AdaptersReady", "False AdaptersLoading")
    replica.say(e5="loaded")
    subject.wait_for_condition("AdaptersReady", "True AdaptersLoaded")
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert subject.kubectl("get", "orth", subject.name).splitlines()[1].split()[3] == "1/1"

    subject.apply(adapters=[E5, SQL])
    subject.wait("file", lambda: file(subject), lambda seen: seen == [E5, SQL])
    subject.wait_for_condition("Ready", "False AdaptersLoading")
    replica.say(e5="loaded", sql="failed")
    subject.wait_for_condition("AdaptersReady", "False AdapterFailed")
    assert subject.conditions()["Available"] == "True ReplicasReady"
    assert "it is broken" in subject.message()
    assert [each["ready"] for each in subject.status()["adapters"]] == ["1/1", "0/1"]

    subject.apply(adapters=[E5])
    replica.say(e5="loaded")
    subject.wait_for_condition("Ready", "True ReplicasReady")
    assert [each["metadata"]["uid"] for each in subject.pods()] == [pod["metadata"]["uid"]]

    subject.apply()
    subject.wait("no file", lambda: subject.child("configmap"), lambda seen: not seen)
    subject.wait("status", subject.status, lambda seen: "adapters" not in seen)
    assert subject.conditions()["AdaptersReady"] == "True NoAdapters"
