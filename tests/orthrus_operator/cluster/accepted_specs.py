"""Specs that the API server must take."""

from typing import Any

from tests.orthrus_operator.cluster.refused_specs import HF, adapter

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
    "tag and digest": {"image": {"tag": f"{'a' * 128}@sha256:{'0' * 64}"}},
    "registry with port": {"image": {"repository": "r.example:5000/a/b_c", "tag": "v1"}},
    "engine arguments": {
        "engineArgs": {"gpu-memory-utilization": "0.9", "override-generation-config": '{"a": 1}'}
    },
    "autoscaling": {"autoscaling": {"maxReplicas": 8}},
    "autoscaling with a short queue": {
        "autoscaling": {"maxReplicas": 8},
        "scheduling": {"maxQueuedTokens": 4096},
    },
    "largest backlog that the queue allows": {
        "autoscaling": {"maxReplicas": 8, "backlogTokensPerReplica": 65536}
    },
    "everything": {
        "model": {
            "source": "hf://org/model",
            "revision": "main",
            "servedName": "Name/of.model",
            "tokenSecretRef": {"name": "hub", "key": "token"},
            "cache": {"emptyDir": {"sizeLimit": "20Gi"}},
        },
        "embedding": {"pooling": "last", "normalize": False},
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
        "autoscaling": {
            "minReplicas": 2,
            "maxReplicas": 8,
            "backlogTokensPerReplica": 16384,
            "backend": "keda",
            "scaleDownDelaySeconds": 0,
        },
        "paused": True,
        "engineArgs": {"seed": "1"},
    },
}
