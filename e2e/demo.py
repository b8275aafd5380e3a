"""`make demo`: from nothing to a running system, step by step, ending with the model's answers."""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from openai import OpenAIError
from rich.console import Console

from e2e.cluster import Cluster, ClusterError, progress
from e2e.images import ImageError, build
from e2e.installation import HelmError, install
from e2e.kubectl import Kubectl, KubectlError
from e2e.questions import QUESTION, SENTENCES, Answers, ask
from e2e.replica_metrics import metric
from e2e.sample import NAME, apply_sample, service_url, wait_available
from e2e.sample_model import sample_model
from e2e.waiting import wait_until

NAMESPACE = "orthrus-demo"
STEPS = 6
console = Console(highlight=False)


@contextmanager
def step(number: int, what: str) -> Iterator[None]:
    console.print(f"[bold][{number}/{STEPS}] {what}")
    started = time.monotonic()
    yield
    console.print(f"      done in {time.monotonic() - started:.0f} s")


def main() -> None:
    cluster = Cluster.current()
    if cluster.local is None:
        raise ClusterError(
            "KUBECONFIG is set, and images built here can only be loaded into the local cluster: "
            "unset it, or install on that cluster as charts/orthrus/README.md says"
        )
    with step(1, "The sample model: SmolLM2-135M-Instruct"):
        model = sample_model()
    with step(2, "A Kubernetes cluster"):
        cluster.up()
    with step(3, "Images of the operator and the replica"):
        operator, serving = build("operator"), build("serving-cpu")
        cluster.load_image(operator)
        cluster.load_image(serving)
    kubectl = Kubectl(cluster.tool("kubectl"), cluster.kubeconfig, NAMESPACE)
    with step(4, "The chart: operator and CRD"):
        install(cluster, release="orthrus", namespace=NAMESPACE, operator=operator, serving=serving)
    with step(5, "One OrthrusDeployment, until it is Available"):
        apply_sample(kubectl, model)
        _watch_until_available(kubectl)
    with (
        step(6, "A question and three sentences, asked at the same time"),
        service_url(cluster, kubectl) as url,
    ):
        answers = asyncio.run(ask(url, NAME))
        mixed = wait_until(
            "a step that held both tasks",
            lambda: metric(url, "orthrus_steps_total", kind="mixed"),
            lambda steps: steps > 0,
            within=30,
        )
    _report(answers, mixed, url, kubectl)


def _watch_until_available(kubectl: Kubectl) -> None:
    with progress.step(f"Wait for orth/{NAME} to be Available") as running:
        wait_available(
            kubectl,
            progress=lambda seen: running.note(seen.get("Ready", "waiting for the operator")),
        )
        running.note("")


def _report(answers: Answers, mixed: float, url: str, kubectl: Kubectl) -> None:
    console.print()
    console.print(f"[bold]Q:[/] {QUESTION}\n[bold]A:[/] {answers.answer}\n")
    console.print(f"[bold]Similarity[/] to “{SENTENCES[0]}”")
    console.print(f"  {answers.related:.3f}  {SENTENCES[1]}")
    console.print(f"  {answers.unrelated:.3f}  {SENTENCES[2]}\n")
    console.print(f"[bold]Steps that held both tasks:[/] {mixed:.0f}\n")
    console.print(kubectl("get", "orth"))
    command = " ".join(kubectl.command())
    console.print("[bold]To go on:[/]")
    for line in (
        f"  alias k='{command}'",
        f"  k describe orth {NAME}",
        f"  k scale orth {NAME} --replicas=2",
        f"  curl -s {url}/v1/models",
        f"  curl -s {url}/metrics | grep ^orthrus_",
        "  make demo-down        # remove it all",
    ):
        console.print(line, soft_wrap=True, markup=False)


if __name__ == "__main__":
    try:
        main()
    except (
        *(ClusterError, ImageError, HelmError, KubectlError),
        *(OpenAIError, httpx.HTTPError, LookupError, TimeoutError),
    ) as error:
        console.print("demo:", str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
