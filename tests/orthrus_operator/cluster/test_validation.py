"""The API server itself refuses wrong objects with a sentence that names the field."""

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest

from e2e.kubectl import Kubectl, KubectlError
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.containment import missing_field
from tests.orthrus_operator.cluster.accepted_specs import VALID
from tests.orthrus_operator.cluster.refused_specs import HF, INVALID

pytestmark = pytest.mark.cluster


def an_object(spec: dict[str, Any], name: str = "candidate") -> str:
    whole = {"model": HF} | spec
    return json.dumps(
        {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": name},
            "spec": {key: value for key, value in whole.items() if value is not None},
        }
    )


@pytest.mark.parametrize(("spec", "field", "words"), INVALID, ids=lambda value: str(value)[:60])
def test_refused(kubectl: Kubectl, spec: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(KubectlError) as refusal:
        kubectl("create", "--dry-run=server", "-f", "-", stdin=an_object(spec))
    assert field in str(refusal.value)
    assert words in str(refusal.value)


@pytest.mark.parametrize("name", ["1st", "a" * 53, "dots.in.it"])
def test_a_name_that_no_service_can_have_is_refused(kubectl: Kubectl, name: str) -> None:
    with pytest.raises(KubectlError, match="names the Service"):
        kubectl("create", "--dry-run=server", "-f", "-", stdin=an_object({}, name))


@pytest.mark.parametrize("case", VALID)
def test_accepted_and_understood(kubectl: Kubectl, case: str) -> None:
    """What the API server stores holds what was sent, and our types read all of it."""
    sent = json.loads(an_object(VALID[case]))
    stored = json.loads(
        kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(sent))
    )
    assert missing_field(sent["spec"], stored["spec"]) is None
    read = OrthrusDeployment.from_object(stored).spec
    assert read.model_dump(by_alias=True, mode="json", exclude_none=True) == stored["spec"]


@pytest.mark.parametrize("mode", ["--server-side=false", "--server-side=true"])
def test_defaults_are_no_drift(kubectl: Kubectl, mode: str) -> None:
    manifest = an_object({}, f"drift-{mode[-4:].strip('=')}")
    kubectl("apply", mode, "-f", "-", stdin=manifest)
    assert kubectl("diff", mode, "-f", "-", stdin=manifest) == ""
    kubectl("delete", "-f", "-", stdin=manifest)


def test_explain_reads_as_documentation(kubectl: Kubectl) -> None:
    text = kubectl("explain", "orth.spec.scheduling.minOpportunities")
    assert "a short prompt never waits" in " ".join(text.split())


def test_an_object_that_no_operator_has_seen_is_not_done_by_kstatus(kubectl: Kubectl) -> None:
    unwatched = replace(kubectl, namespace="default")
    name = f"unseen-{uuid.uuid4().hex[:8]}"
    metadata = {"name": name}
    unwatched.apply(
        {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": {"model": HF}}
    )
    stored = unwatched.get("orth", name)
    unwatched("delete", "orth", name)
    assert stored is not None
    assert stored["status"] == {"observedGeneration": -1}
