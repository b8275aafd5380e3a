"""An admission webhook of ours that changes Deployments, as image mirrors and policy engines do."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from e2e.cluster.ca import Authority, Identity
from e2e.kubectl import Kubectl


@contextmanager
def mutating_webhook(
    kubectl: Kubectl, address: str, folder: Path, patch: list[dict[str, Any]]
) -> Iterator[list[str]]:
    """Has `patch` (JSON patch) done to every Deployment of the namespace while the context lasts;
    gives the names of those that it was done to, in order. `address` is one of this machine that
    the API server reaches."""
    seen: list[str] = []
    authority = Authority(folder, "webhook-ca")
    pair = authority.issue("webhook", Identity("webhook", hosts=(address,)))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))["request"]
            seen.append(request["name"])
            encoded = base64.b64encode(json.dumps(patch).encode()).decode()
            answer = {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch"}
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
            body = json.dumps({**review, "response": {**answer, "patch": encoded}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer((address, 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://{address}:{server.server_address[1]}/"
    kubectl.apply(_configuration(kubectl.namespace, url, authority.files.certificate))
    try:
        yield seen
    finally:
        kubectl("delete", "mutatingwebhookconfiguration", kubectl.namespace)
        server.shutdown()
        server.server_close()


def _configuration(namespace: str, url: str, certificate: Path) -> dict[str, Any]:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}
    bundle = base64.b64encode(certificate.read_bytes()).decode()
    webhook = {
        "name": "mirror.example.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [{**rule, "operations": ["CREATE", "UPDATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [webhook],
    }
