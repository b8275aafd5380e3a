"""`spec.engineArgs`: further vLLM flags, and which flags belong to something else."""

from orthrus_operator.api.declare import Rule

_FIELDS = {
    "model": "spec.model.source",
    "revision": "spec.model.revision",
    "served-model-name": "spec.model.servedName",
    "hf-token": "spec.model.tokenSecretRef",
    "download-dir": "spec.model.cache",
    "adapters-file": "spec.adapters",
    "lora-modules": "spec.adapters",
    "enable-lora": "spec.adapters",
    "embedding-adapter": "spec.embedding.adapter",
    "embedding-pooling": "spec.embedding.pooling",
    "embedding-normalize": "spec.embedding.normalize",
    "batch-policy": "spec.scheduling.policy",
    "max-num-batched-tokens": "spec.scheduling.maxBatchedTokens",
    "embedding-chunk-tokens": "spec.scheduling.embeddingChunkTokens",
    "min-opportunities": "spec.scheduling.minOpportunities",
    "max-queued-tokens": "spec.scheduling.maxQueuedTokens",
    "max-inter-token-millis": "spec.scheduling.maxInterTokenMillis",
    "max-num-seqs": "spec.scheduling.maxSequences",
    "drain-timeout": "spec.drainSeconds",
    "port": "spec.service.port",
    "api-key": "spec.auth.apiKeySecretRef",
    "api-key-file": "spec.auth.apiKeySecretRef",
}
"""Flags that a field of the spec sets."""

_REASONS = {
    "host": "the operator sets it, since probes and the Service need it",
    "config": "a file could set any flag",
    **dict.fromkeys(
        ("scheduler-cls", "worker-cls", "additional-config"), "Orthrus brings its own values"
    ),
    **dict.fromkeys(
        ("runner", "convert", "pooler-config"),
        "one model serves both tasks; choose its pooling by spec.embedding.pooling",
    ),
    **dict.fromkeys(
        (
            "tensor-parallel-size",
            "pipeline-parallel-size",
            "data-parallel-size",
            "data-parallel-size-local",
            "data-parallel-rank",
            "decode-context-parallel-size",
            "prefill-context-parallel-size",
            "enable-expert-parallel",
            "distributed-executor-backend",
            "nnodes",
            "enable-dbo",
        ),
        "a replica has exactly one GPU; raise spec.replicas instead",
    ),
    **dict.fromkeys(
        ("api-server-count", "headless", "grpc", "grpc-port"),
        "a replica has exactly one HTTP front end; raise spec.replicas instead",
    ),
    **dict.fromkeys(
        (
            "uds",
            "root-path",
            "middleware",
            "allowed-origins",
            "allowed-methods",
            "allowed-headers",
            "allow-credentials",
            "ssl-keyfile",
            "ssl-certfile",
            "ssl-ca-certs",
            "ssl-cert-reqs",
            "ssl-ciphers",
            "enable-ssl-refresh",
        ),
        "probes and the Service need plain HTTP and the routes where they are; do this in the"
        " proxy in front",
    ),
    **dict.fromkeys(
        ("speculative-config", "spec-method", "spec-model", "spec-tokens"),
        "draft tokens and embedding chunks cannot share a step",
    ),
    **dict.fromkeys(
        (
            "kv-transfer-config",
            "ec-transfer-config",
            "kv-offloading-size",
            "kv-offloading-backend",
            "kv-events-config",
        ),
        "the state of embeddings does not travel with the KV cache",
    ),
    **dict.fromkeys(
        (
            "max-loras",
            "max-cpu-loras",
        ),
        "the operator sets it, with room for adapters to come without a restart",
    ),
    **dict.fromkeys(
        ("limit-mm-per-prompt", "mm-processor-kwargs", "enable-mm-embeds", "enable-prompt-embeds"),
        "only text is served",
    ),
    "kv-sharing-fast-prefill": "pooling needs the states of all tokens",
    "enable-chunked-prefill": "Orthrus always cuts prompts into chunks",
    "scheduling-policy": "the order inside a step is chosen by spec.scheduling.policy",
    "enable-request-id-headers": "X-Request-Id is always echoed",
    "stream-interval": "embeddings fail with it",
    "enable-sleep-mode": "a replica that sleeps cannot answer",
    "shutdown-timeout": "the end of a replica is governed by spec.drainSeconds",
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
