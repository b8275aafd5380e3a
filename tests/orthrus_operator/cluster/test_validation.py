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

pytestmark = pytest.mark.cluster

HF = {"source": "hf://org/model"}
LONG = "x" * 600


def model(**fields: Any) -> dict[str, Any]:
    return {"model": HF | fields}


def engine(**arguments: Any) -> dict[str, Any]:
    return {"engineArgs": {name.replace("_", "-"): value for name, value in arguments.items()}}


def adapter(**fields: Any) -> dict[str, Any]:
    return {"name": "e5", "source": "hf://org/e5", "task": "embed"} | fields


def pod_container(**fields: Any) -> dict[str, Any]:
    return {"podTemplate": {"spec": {"containers": [{"name": "replica"} | fields]}}}


INVALID: list[tuple[dict[str, Any], str, str]] = [
    # what is wrong, the field that the message names, words of the message
    ({"model": None}, "spec.model", "Required value"),
    ({"model": {}}, "spec.model.source", "Required value"),
    (model(source="org/model"), "spec.model.source", "must be hf://ORG/NAME"),
    (model(source="hf://model"), "spec.model.source", "must be hf://ORG/NAME"),
    (model(source="hf://org/model@main"), "spec.model.source", "must be hf://ORG/NAME"),
    (model(source="s3://bucket/model"), "spec.model.source", "pvc://CLAIM/path"),
    (model(source="host://models"), "spec.model.source", "host:///path"),
    (model(source="host:///"), "spec.model.source", "host:///path"),
    (model(source="host:///models/../etc"), "spec.model.source", ".. as a path segment"),
    (model(source="oci://registry/image"), "spec.model.source", "oci://IMAGE:TAG"),
    (model(source="oci://registry.example:5000/image"), "spec.model.source", "oci://IMAGE:TAG"),
    (model(source="pvc:///path"), "spec.model.source", "pvc://CLAIM/path"),
    (model(source="pvc://claim/a b"), "spec.model.source", "pvc://CLAIM/path"),
    (model(source="pvc://claim/../../etc"), "spec.model.source", ".. as a path segment"),
    (model(source="pvc://claim/.."), "spec.model.source", ".. as a path segment"),
    (model(source=f"hf://org/{LONG}"), "spec.model.source", "Too long"),
    (model(source=7), "spec.model.source", "must be of type string"),
    (model(source="pvc://claim/m", revision="v1"), "spec.model.revision", "only for hf://"),
    (model(revision=""), "spec.model.revision", "at least 1 chars"),
    (model(servedName=""), "spec.model.servedName", "at least 1 chars"),
    (model(tokenSecretRef={"name": "hub"}), "spec.model.tokenSecretRef.key", "Required value"),
    (
        model(source="pvc://claim/m", tokenSecretRef={"name": "hub", "key": "token"}),
        "spec.model.tokenSecretRef",
        "only for hf://",
    ),
    (
        model(cache={"emptyDir": {}, "persistentVolumeClaim": {"claimName": "c"}}),
        "spec.model.cache",
        "set only one of",
    ),
    (
        model(cache={"persistentVolumeClaim": {}}),
        "spec.model.cache.persistentVolumeClaim.claimName",
        "Required value",
    ),
    (
        model(cache={"emptyDir": {}, "hostPath": {"path": "/cache"}}),
        "spec.model.cache",
        "set only one of",
    ),
    (model(cache={"hostPath": {"path": "/"}}), "spec.model.cache.hostPath.path", "absolute folder"),
    (model(cache={"hostPath": {"path": "a"}}), "spec.model.cache.hostPath.path", "absolute folder"),
    (
        model(cache={"hostPath": {"path": "/a/../etc"}}),
        "spec.model.cache.hostPath.path",
        "without ..",
    ),
    (
        model(cache={"emptyDir": {"sizeLimit": "lots"}}),
        "spec.model.cache.emptyDir.sizeLimit",
        "must be a quantity",
    ),
    (
        model(cache={"emptyDir": {"sizeLimit": "-1Gi"}}),
        "spec.model.cache.emptyDir.sizeLimit",
        "must be a quantity",
    ),
    ({"embedding": {"pooling": "max"}}, "spec.embedding.pooling", '"weighted-mean"'),
    ({"embedding": {"adapter": "e5"}}, "spec.embedding.adapter", "must be the name of an adapter"),
    (
        {"embedding": {"adapter": "sql"}, "adapters": [adapter(name="sql", task="generate")]},
        "spec.embedding.adapter",
        "of task embed",
    ),
    ({"adapters": [adapter(name="-x")]}, "spec.adapters[0].name", "starts with a letter"),
    ({"adapters": [adapter(source="/models/x")]}, "spec.adapters[0].source", "pvc://CLAIM/path"),
    ({"adapters": [adapter(source="pvc://c")]}, "spec.adapters[0].source", "pvc://CLAIM/path"),
    ({"adapters": [adapter(source="pvc://c/../d")]}, "spec.adapters[0].source", "path segment"),
    ({"adapters": [adapter(task="rank")]}, "spec.adapters[0].task", '"embed"'),
    (
        {"adapters": [adapter(task="generate", pooling="last")]},
        "spec.adapters[0].pooling",
        "only for adapters of task embed",
    ),
    ({"adapters": [adapter(), adapter()]}, "spec.adapters[1]", "Duplicate value"),
    ({"adapters": [adapter(dimensions=[])]}, "spec.adapters[0].dimensions", "at least 1 items"),
    ({"adapters": [adapter(dimensions=[0])]}, "spec.adapters[0].dimensions[0]", "equal to 1"),
    ({"embedding": {"normalize": True}}, "spec.embedding.normalize", "unknown field"),
    ({"scheduling": {"policy": "best"}}, "spec.scheduling.policy", '"ibs"'),
    (
        {"scheduling": {"maxBatchedTokens": 8}},
        "spec.scheduling.maxBatchedTokens",
        "greater than or equal to 16",
    ),
    (
        {"scheduling": {"maxBatchedTokens": 2**21}},
        "spec.scheduling.maxBatchedTokens",
        "less than or equal to 1048576",
    ),
    (
        {"scheduling": {"maxBatchedTokens": "2048"}},
        "spec.scheduling.maxBatchedTokens",
        "must be of type integer",
    ),
    (
        {"scheduling": {"maxBatchedTokens": 256, "embeddingChunkTokens": 512}},
        "spec.scheduling.embeddingChunkTokens",
        "must be at most maxBatchedTokens",
    ),
    (
        {"scheduling": {"embeddingChunkTokens": 4096}},
        "spec.scheduling.embeddingChunkTokens",
        "2048 when not set",
    ),
    (
        {"scheduling": {"embeddingChunkTokens": 0}},
        "spec.scheduling.embeddingChunkTokens",
        "greater than or equal to 1",
    ),
    (
        {"scheduling": {"maxSequences": 2048}},
        "spec.scheduling.maxSequences",
        "must be less than maxBatchedTokens",
    ),
    (
        {"scheduling": {"minOpportunities": -1}},
        "spec.scheduling.minOpportunities",
        "greater than or equal to 0",
    ),
    (
        {"scheduling": {"maxInterTokenMillis": 0}},
        "spec.scheduling.maxInterTokenMillis",
        "greater than or equal to 1",
    ),
    ({"engineArgs": {"max-inter-token-millis": "1"}}, "spec.engineArgs", "maxInterTokenMillis"),
    (
        {"scheduling": {"maxQueuedTokens": 0}},
        "spec.scheduling.maxQueuedTokens",
        "greater than or equal to 1",
    ),
    ({"replicas": -1}, "spec.replicas", "greater than or equal to 0"),
    ({"replicas": 1.5}, "spec.replicas", "must be of type integer"),
    ({"accelerator": {"type": "tpu"}}, "spec.accelerator.type", '"cpu"'),
    (
        {"accelerator": {"type": "cpu", "resourceName": "nvidia.com/gpu"}},
        "spec.accelerator.resourceName",
        "only for type gpu",
    ),
    ({"accelerator": {"resourceName": "gpu"}}, "spec.accelerator.resourceName", "nvidia.com/gpu"),
    ({"accelerator": {"count": 2}}, "spec.accelerator.count", "unknown field"),
    (
        {"resources": {"requests": {"memory": "much"}}},
        "spec.resources.requests",
        "must be a quantity",
    ),
    ({"resources": {"limits": {"cpu": -1}}}, "spec.resources.limits", "must be a quantity"),
    (
        {"resources": {"requests": {"cpu": 4}, "limits": {"cpu": "3500m"}}},
        "spec.resources.requests",
        "may not exceed resources.limits",
    ),
    (
        {"resources": {"limits": {"nvidia.com/gpu": 2}}},
        "spec.resources.limits",
        "may not count the GPU",
    ),
    (
        {
            "resources": {"requests": {"amd.com/gpu": 1}},
            "accelerator": {"resourceName": "amd.com/gpu"},
        },
        "spec.resources.requests",
        "may not count the GPU",
    ),
    (
        {"resources": {"limits": {f"example.com/{i}": 1 for i in range(17)}}},
        "spec.resources.limits",
        "at most 16",
    ),
    ({"rollout": {"strategy": "BlueGreen"}}, "spec.rollout.strategy", '"Recreate"'),
    (
        {"rollout": {"maxUnavailable": 0}},
        "spec.rollout.maxUnavailable",
        "needs maxSurge of at least 1",
    ),
    (
        {"rollout": {"maxSurge": 0, "maxUnavailable": "0%"}},
        "spec.rollout.maxUnavailable",
        "needs maxSurge of at least 1",
    ),
    (
        {"rollout": {"strategy": "Recreate", "maxSurge": 1}},
        "spec.rollout.strategy",
        "only for strategy Rolling",
    ),
    ({"rollout": {"maxSurge": "half"}}, "spec.rollout.maxSurge", "a percentage such as 25%"),
    ({"rollout": {"maxUnavailable": "00%"}}, "spec.rollout.maxUnavailable", "a percentage such"),
    ({"rollout": {"maxSurge": -1}}, "spec.rollout.maxSurge", "a number of replicas"),
    ({"drainSeconds": -1}, "spec.drainSeconds", "greater than or equal to 0"),
    ({"drainSeconds": 7200}, "spec.drainSeconds", "less than or equal to 3600"),
    ({"service": {"type": "ExternalName"}}, "spec.service.type", '"LoadBalancer"'),
    ({"service": {"port": 0}}, "spec.service.port", "greater than or equal to 1"),
    ({"image": {"repository": "registry.example/serving"}}, "spec.image.tag", "needs image.tag"),
    (
        {"image": {"repository": "registry.example/serving:1", "tag": "1"}},
        "spec.image.repository",
        "without tag or digest",
    ),
    (
        {"image": {"repository": "UPPER/case", "tag": "1"}},
        "spec.image.repository",
        "must be a lower-case repository",
    ),
    ({"image": {"tag": "a b"}}, "spec.image.tag", "must be a tag"),
    ({"image": {"pullPolicy": "Sometimes"}}, "spec.image.pullPolicy", '"IfNotPresent"'),
    ({"image": {"pullSecrets": [{}]}}, "spec.image.pullSecrets[0].name", "Required value"),
    (
        {"image": {"pullSecrets": [{"name": "a"}, {"name": "a"}]}},
        "spec.image.pullSecrets[1]",
        "Duplicate value",
    ),
    ({"paused": "yes"}, "spec.paused", "must be of type boolean"),
    (engine(gpu_memory_utilization=0.9), "spec.engineArgs", "must be of type string"),
    (engine(enforce_eager=True), "spec.engineArgs", "must be of type string"),
    ({"engineArgs": {"--seed": "1"}}, "spec.engineArgs", "without leading dashes"),
    ({"engineArgs": {"max_model_len": "1"}}, "spec.engineArgs", "such as gpu-memory-utilization"),
    ({"engineArgs": {"hf-overrides.x": "1"}}, "spec.engineArgs", "one JSON string"),
    (engine(no_enable_prefix_caching="true"), "spec.engineArgs", 'set the value to "false"'),
    (engine(port="1"), "spec.engineArgs", "spec.service.port"),
    (engine(max_num_seqs="1"), "spec.engineArgs", "spec.scheduling.maxSequences"),
    (engine(api_key="secret"), "spec.engineArgs", "spec.auth.apiKeySecretRef"),
    (engine(api_key_file="/x"), "spec.engineArgs", "spec.auth.apiKeySecretRef"),
    (engine(tensor_parallel_size="2"), "spec.engineArgs", "exactly one GPU"),
    (engine(enable_lora="true"), "spec.engineArgs", "set spec.adapters"),
    (engine(max_loras="2"), "spec.engineArgs", "with room for adapters"),
    (engine(config="flags.yaml"), "spec.engineArgs", "a file could set any flag"),
    ({"auth": {}}, "spec.auth.apiKeySecretRef", "Required value"),
    ({"auth": {"apiKeySecretRef": {"name": "a"}}}, "spec.auth.apiKeySecretRef.key", "Required"),
    ({"networkPolicy": {"enabled": "yes"}}, "spec.networkPolicy.enabled", "of type boolean"),
    ({"monitoring": {"podMonitor": 1}}, "spec.monitoring.podMonitor", "of type boolean"),
    *(
        ({"podTemplate": {"spec": {field: value}}}, f"spec.podTemplate.spec.{field}", "unknown")
        for field, value in {
            "serviceAccountName": "admin",
            "hostNetwork": True,
            "hostPID": True,
            "securityContext": {"runAsUser": 0},
            "initContainers": [],
            "nodeName": "node1",
        }.items()
    ),
    (pod_container(image="x"), "spec.podTemplate.spec.containers[0].image", "unknown"),
    (
        pod_container(securityContext={"privileged": True}),
        "spec.podTemplate.spec.containers[0].securityContext",
        "unknown",
    ),
    (pod_container(name="other"), "spec.podTemplate.spec.containers[0].name", '"replica"'),
    (pod_container(env=[{}]), "spec.podTemplate.spec.containers[0].env[0].name", "Required value"),
    (
        pod_container(env=[{"name": "HF_TOKEN", "value": "x"}]),
        "spec.podTemplate.spec.containers[0].env[0].name",
        "set spec.model.tokenSecretRef",
    ),
    (
        pod_container(env=[{"name": "A"}, {"name": "A"}]),
        "spec.podTemplate.spec.containers[0].env[1]",
        "Duplicate value",
    ),
    (
        pod_container(volumeMounts=[{"name": "a", "mountPath": "/models/x"}]),
        "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath",
        "which the operator mounts",
    ),
    (
        {"podTemplate": {"spec": {"volumes": [{"name": "a"}]}}},
        "spec.podTemplate.spec.volumes[0]",
        "exactly one of",
    ),
    (
        {"podTemplate": {"spec": {"volumes": [{"name": "a", "emptyDir": {}, "secret": {}}]}}},
        "spec.podTemplate.spec.volumes[0]",
        "exactly one of",
    ),
    (
        {"podTemplate": {"spec": {"volumes": [{"name": "cache", "emptyDir": {}}]}}},
        "spec.podTemplate.spec.volumes[0].name",
        "the operator's own",
    ),
    (
        {"podTemplate": {"spec": {"volumes": [{"name": "a", "csi": {"driver": "x"}}]}}},
        "spec.podTemplate.spec.volumes[0].csi",
        "unknown",
    ),
    (
        {"podTemplate": {"metadata": {"labels": {"serving.orthrus.io/deployment": "x"}}}},
        "spec.podTemplate.metadata.labels",
        "which the operator sets",
    ),
    (
        {"podTemplate": {"spec": {"tolerations": [{"effect": "Never"}]}}},
        "spec.podTemplate.spec.tolerations[0].effect",
        '"NoSchedule"',
    ),
    ({"autoscaling": {"maxReplicas": 2}}, "spec.autoscaling", "unknown field"),
]

VALID: dict[str, dict[str, Any]] = {
    "smallest": {},
    "small budget alone": {"scheduling": {"maxBatchedTokens": 16}},
    "chunk equal to budget": {"scheduling": {"maxBatchedTokens": 64, "embeddingChunkTokens": 64}},
    "the paper's form": {"scheduling": {"minOpportunities": 0}},
    "first come": {"scheduling": {"policy": "fcfs"}},
    "no replicas": {"replicas": 0},
    "claim root": {"model": {"source": "pvc://claim"}},
    "claim path with dots": {"model": {"source": "pvc://my.claim/v1..2/model"}},
    "folder of the node": {"model": {"source": "host:///mnt/models/m"}},
    "image by tag": {"model": {"source": "oci://registry.example:5000/models/m:v1"}},
    "image by digest": {"model": {"source": f"oci://registry.example/m@sha256:{'0' * 64}"}},
    "cache on the node": {"model": {**HF, "cache": {"hostPath": {"path": "/mnt/cache"}}}},
    "open to no network": {"networkPolicy": {"enabled": True}},
    "podTemplate": {
        "podTemplate": {
            "metadata": {"labels": {"team": "search"}, "annotations": {"a/b": "c"}},
            "spec": {
                "nodeSelector": {"gpu": "a100"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "affinity": {"nodeAffinity": {"x": {"y": [1]}}},
                "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone"}],
                "priorityClassName": "high",
                "runtimeClassName": "nvidia",
                "volumes": [
                    {"name": "ca", "configMap": {"name": "ca", "items": [{"key": "a"}]}},
                    {"name": "scratch", "emptyDir": {}},
                    {"name": "node", "hostPath": {"path": "/mnt/models"}},
                ],
                "containers": [
                    {
                        "name": "replica",
                        "env": [
                            {"name": "A", "value": ""},
                            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
                        ],
                        "volumeMounts": [{"name": "ca", "mountPath": "/ca", "readOnly": True}],
                    }
                ],
            },
        }
    },
    "adapters": {
        "embedding": {"adapter": "e5"},
        "adapters": [
            adapter(
                source="pvc://claim/e5",
                pooling="last",
                normalize=False,
                endToken="</s>",
                instruction="Query: ",
                dimensions=[64, 128],
            ),
            adapter(name="org/sql:1", source="hf://org/sql/folder@v1", task="generate"),
        ],
    },
    "cpu": {"accelerator": {"type": "cpu"}, "resources": {"limits": {"memory": "6Gi", "cpu": 2}}},
    "mig": {"accelerator": {"resourceName": "nvidia.com/mig-3g.40gb"}},
    "equal request and limit": {
        "resources": {"requests": {"cpu": "1000m"}, "limits": {"cpu": 1}},
    },
    "spare GPUs": {"rollout": {"maxSurge": 1, "maxUnavailable": 0}},
    "percentages": {"rollout": {"maxSurge": "25%", "maxUnavailable": "10%"}},
    "recreate": {"rollout": {"strategy": "Recreate"}},
    "tag alone": {"image": {"tag": "1.2.3"}},
    "registry with port": {"image": {"repository": "r.example:5000/a/b_c", "tag": "v1"}},
    "engine arguments": {
        "engineArgs": {"gpu-memory-utilization": "0.9", "override-generation-config": '{"a": 1}'}
    },
    "everything": {
        "model": {
            "source": "hf://org/model",
            "revision": "main",
            "servedName": "Name/of.model",
            "tokenSecretRef": {"name": "hub", "key": "token"},
            "cache": {"emptyDir": {"sizeLimit": "20Gi"}},
        },
        "embedding": {"pooling": "last"},
        "scheduling": {
            "policy": "homogeneous",
            "maxBatchedTokens": 4096,
            "embeddingChunkTokens": 256,
            "minOpportunities": 2,
            "maxQueuedTokens": 65536,
            "maxInterTokenMillis": 50,
            "maxSequences": 64,
        },
        "replicas": 4,
        "accelerator": {"type": "gpu", "resourceName": "amd.com/gpu"},
        "resources": {"requests": {"cpu": "4", "memory": "32Gi"}},
        "rollout": {"strategy": "Rolling", "maxSurge": 0, "maxUnavailable": 1},
        "drainSeconds": 300,
        "service": {"type": "LoadBalancer", "port": 8080},
        "image": {
            "repository": "registry.example/serving",
            "tag": "1",
            "pullPolicy": "Always",
            "pullSecrets": [{"name": "a"}, {"name": "b"}],
        },
        "auth": {"apiKeySecretRef": {"name": "keys", "key": "all"}},
        "networkPolicy": {"enabled": False},
        "monitoring": {"podMonitor": True},
        "paused": True,
        "engineArgs": {"seed": "1"},
    },
}


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
