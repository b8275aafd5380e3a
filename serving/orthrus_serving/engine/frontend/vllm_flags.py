"""Which flags of `vllm serve` a replica takes, and why it refuses the others."""

ALLOWED = frozenset(
    {
        # the model
        "model_tag",
        "served_model_name",
        "revision",
        "code_revision",
        "tokenizer",
        "tokenizer_mode",
        "tokenizer_revision",
        "trust_remote_code",
        "dtype",
        "quantization",
        "load_format",
        "download_dir",
        "max_model_len",
        "generation_config",
        "override_generation_config",
        "seed",
        # the server
        "help",
        "host",
        "port",
        "api_key",
        "uvicorn_log_level",
        "disable_uvicorn_access_log",
        "disable_log_stats",
        "enable_log_requests",
        "enable_log_outputs",
        "max_log_len",
        "log_error_stack",
        "log_level",
        "otlp_traces_endpoint",
        # generation
        "chat_template",
        "chat_template_content_format",
        "trust_request_chat_template",
        "default_chat_template_kwargs",
        "response_role",
        "enable_auto_tool_choice",
        "exclude_tools_when_tool_choice_none",
        "tool_call_parser",
        "reasoning_parser",
        "structured_outputs_config",
        "max_logprobs",
        "logprobs_mode",
        "return_tokens_as_token_ids",
        "enable_prompt_tokens_details",
        "enable_force_include_usage",
        "sse_keep_alive_interval",
        # the engine
        "max_num_batched_tokens",
        "max_num_seqs",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "kv_cache_dtype",
        "num_gpu_blocks_override",
        "block_size",
        "enable_prefix_caching",
        "prefix_caching_hash_algo",
        "async_scheduling",
        "enforce_eager",
        # adapters
        "enable_lora",
        "max_loras",
        "max_lora_rank",
        "max_cpu_loras",
    }
)
"""By argparse destination."""

UNTESTED = "it was never tested with mixed batches"

_ONE_ACCELERATOR = "a replica is one accelerator: run more replicas instead"
_ONE_PROCESS = "a replica has one HTTP front end: run more replicas instead"
_OURS = "Orthrus sets it"
_SPECULATION = "draft tokens and embedding chunks cannot share a step yet"
_TRANSFER = "embedding state does not travel with the KV cache"
_EDGE = "the routes of a replica are fixed: do this in the proxy in front of it"
_MULTIMODAL = "only text is served"

REFUSED: dict[str, str] = {
    **dict.fromkeys(
        (
            "tensor_parallel_size",
            "pipeline_parallel_size",
            "data_parallel_size",
            "data_parallel_rank",
            "data_parallel_size_local",
            "decode_context_parallel_size",
            "prefill_context_parallel_size",
            "enable_expert_parallel",
            "distributed_executor_backend",
            "nnodes",
            "enable_dbo",
        ),
        _ONE_ACCELERATOR,
    ),
    **dict.fromkeys(("api_server_count", "headless", "grpc", "grpc_port"), _ONE_PROCESS),
    **dict.fromkeys(("scheduler_cls", "worker_cls", "additional_config"), _OURS),
    **dict.fromkeys(
        ("runner", "convert", "pooler_config"),
        "one model both embeds and generates here: choose the head with --embedding-pooling",
    ),
    **dict.fromkeys(
        ("speculative_config", "spec_method", "spec_model", "spec_tokens"), _SPECULATION
    ),
    **dict.fromkeys(
        (
            "kv_transfer_config",
            "ec_transfer_config",
            "kv_offloading_size",
            "kv_offloading_backend",
            "kv_events_config",
        ),
        _TRANSFER,
    ),
    **dict.fromkeys(
        (
            "middleware",
            "root_path",
            "allowed_origins",
            "allowed_methods",
            "allowed_headers",
            "allow_credentials",
            "ssl_keyfile",
            "ssl_certfile",
            "ssl_ca_certs",
            "ssl_cert_reqs",
            "ssl_ciphers",
            "enable_ssl_refresh",
            "uds",
        ),
        _EDGE,
    ),
    **dict.fromkeys(
        ("limit_mm_per_prompt", "mm_processor_kwargs", "enable_mm_embeds", "enable_prompt_embeds"),
        _MULTIMODAL,
    ),
    "kv_sharing_fast_prefill": "it computes only the sampled rows, and embeddings need every row",
    "enable_chunked_prefill": "it is always on: mixed batches are made of chunks",
    "scheduling_policy": "the order inside a batch is chosen by --batch-policy",
    "stream_interval": "vLLM's output path fails on embeddings above 1",
    "enable_sleep_mode": "a sleeping replica would drop the embeddings it is computing",
    "shutdown_timeout": "use --drain-timeout, which also finishes embeddings",
    "enable_request_id_headers": "X-Request-Id is always echoed",
    "lora_modules": "declare adapters in --adapters-file, where each says its task",
    "model": "give the model as the first argument",
    "config": "write the flags out",
}
"""A sentence for each flag that people are likely to try, by destination."""
