"""`spec.engineArgs`: further vLLM flags, and which flags belong to something else."""

from orthrus_operator.api.declare import Rule

_FIELDS = {
    "model": "spec.model.source",
    "revision": "spec.model.revision",
    "served-model-name": "spec.model.servedName",
    "hf-token": "spec.model.tokenSecretRef",
    "download-dir": "spec.model.cache",
    "embedding-pooling": "spec.embedding.pooling",
    "batch-policy": "spec.scheduling.policy",
    "max-num-batched-tokens": "spec.scheduling.maxBatchedTokens",
    "embedding-chunk-tokens": "spec.scheduling.embeddingChunkTokens",
    "min-opportunities": "spec.scheduling.minOpportunities",
    "max-num-seqs": "spec.scheduling.maxSequences",
    "drain-timeout": "spec.drainSeconds",
    "port": "spec.service.port",
}
"""Flags that a field of the spec sets."""

_REASONS = {
    "host": "the operator sets it, since probes and the Service need it",
    "uds": "probes and the Service need a TCP port",
    "config": "a file could set any flag",
    "api-key": "everyone who may read the object could read it",
    "ssl-keyfile": "probes speak plain HTTP; end TLS in front of the Service",
    "ssl-certfile": "probes speak plain HTTP; end TLS in front of the Service",
    "root-path": "probes and the Service need the routes where they are",
    "scheduler-cls": "Orthrus brings its own scheduler",
    "worker-cls": "Orthrus brings its own worker",
    "additional-config": "Orthrus keeps its settings there",
    "runner": "Orthrus serves both tasks from one runner",
    "convert": "Orthrus serves both tasks from one model",
    "pooler-config": "Orthrus pools by spec.embedding.pooling",
    "scheduling-policy": "Orthrus orders requests by spec.scheduling.policy",
    "stream-interval": "embeddings fail with it",
    "enable-chunked-prefill": "Orthrus always cuts prompts into chunks",
    "enable-sleep-mode": "a replica that sleeps cannot answer",
    "tensor-parallel-size": "a replica has exactly one GPU",
    "pipeline-parallel-size": "a replica has exactly one GPU",
    "data-parallel-size": "a replica has exactly one GPU; use spec.replicas",
    "decode-context-parallel-size": "a replica has exactly one GPU",
    "prefill-context-parallel-size": "a replica has exactly one GPU",
    "distributed-executor-backend": "a replica has exactly one GPU",
    "api-server-count": "a replica has exactly one front end",
    "headless": "a replica has exactly one front end",
    "grpc": "clients and probes speak HTTP",
    "speculative-config": "embeddings cannot share a batch with speculative decoding",
    "kv-transfer-config": "embeddings cannot share a batch with KV connectors",
    "ec-transfer-config": "embeddings cannot share a batch with connectors",
    "kv-offloading-size": "embeddings cannot share a batch with KV offloading",
    "kv-sharing-fast-prefill": "pooling needs the states of all tokens",
    "enable-lora": "adapters are not served yet",
    "lora-modules": "adapters are not served yet",
    "embedding-adapter": "adapters are not served yet",
    "adapters-file": "adapters are not served yet",
}
"""Flags that nothing may set, and why."""

REFUSED_FLAGS = frozenset(_FIELDS) | frozenset(_REASONS)

# One rule per flag: constant CEL cost, and a message that names the field to use instead.
ENGINE_ARGUMENT_RULES = (
    Rule(
        "self.all(k, k.matches('^[a-z][a-z0-9]*(-[a-z0-9]+)*$'))",
        "engineArgs keys are long vLLM flags without leading dashes, such as"
        " gpu-memory-utilization; write nested options as one JSON string",
    ),
    Rule(
        "self.all(k, !k.startsWith('no-'))",
        'engineArgs keys may not start with no-: drop the prefix and set the value to "false"',
    ),
    *(
        Rule(f"!('{flag}' in self)", f"engineArgs may not set {flag}; set {field} instead")
        for flag, field in _FIELDS.items()
    ),
    *(
        Rule(f"!('{flag}' in self)", f"engineArgs may not set {flag}: {reason}")
        for flag, reason in _REASONS.items()
    ),
)
