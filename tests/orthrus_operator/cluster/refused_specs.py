"""Specs that the API server must refuse: the field that it must name, and the words it must say."""

from typing import Any

HF = {"source": "hf://org/model"}
LONG = "x" * 600


def model(**fields: Any) -> dict[str, Any]:
    return {"model": HF | fields}


def engine(**arguments: Any) -> dict[str, Any]:
    return {"engineArgs": {name.replace("_", "-"): value for name, value in arguments.items()}}


def adapter(**fields: Any) -> dict[str, Any]:
    return {"name": "e5", "source": "hf://org/e5", "task": "embed"} | fields


def scaled(**fields: Any) -> dict[str, Any]:
    return {"autoscaling": {"maxReplicas": 4} | fields}


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
    ({"embedding": {"normalize": 1}}, "spec.embedding.normalize", "must be of type boolean"),
    ({"embedding": {"normalise": True}}, "spec.embedding.normalise", "unknown field"),
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
    ({"image": {"tag": "1@sha256:0"}}, "spec.image.tag", "TAG@sha256:DIGEST"),
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
    ({"autoscaling": {}}, "spec.autoscaling.maxReplicas", "Required value"),
    (scaled(maxReplicas=0), "spec.autoscaling.maxReplicas", "greater than or equal to 1"),
    (scaled(maxReplicas=2**20), "spec.autoscaling.maxReplicas", "less than or equal to 10000"),
    (scaled(minReplicas=0), "spec.autoscaling.minReplicas", "nothing waits that could wake one"),
    (scaled(minReplicas=5), "spec.autoscaling.maxReplicas", "must be at least minReplicas"),
    (scaled(backend="prometheus"), "spec.autoscaling.backend", '"keda"'),
    (scaled(targetCPUUtilization=80), "spec.autoscaling.targetCPUUtilization", "unknown field"),
    (
        scaled(backlogTokensPerReplica=0),
        "spec.autoscaling.backlogTokensPerReplica",
        "greater than or equal to 1",
    ),
    (
        scaled(backlogTokensPerReplica=65537),
        "spec.autoscaling.backlogTokensPerReplica",
        "at most a quarter of scheduling.maxQueuedTokens",
    ),
    (
        scaled(backlogTokensPerReplica=4096) | {"scheduling": {"maxQueuedTokens": 16383}},
        "spec.autoscaling.backlogTokensPerReplica",
        "a shorter queue refuses the requests",
    ),
    (
        scaled(scaleDownDelaySeconds=3601),
        "spec.autoscaling.scaleDownDelaySeconds",
        "less than or equal to 3600",
    ),
]
