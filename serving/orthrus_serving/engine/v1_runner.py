"""Our runner extends vLLM's V1 model runner: refuse any other at start."""

from vllm.v1.worker.gpu_worker import Worker


def require_v1_runner(worker: Worker) -> None:
    """Raises RuntimeError when vLLM chose its V2 model runner."""
    if worker.use_v2_model_runner:
        raise RuntimeError(
            "vLLM chose its V2 model runner, which Orthrus does not extend: "
            "set VLLM_USE_V2_MODEL_RUNNER=0"
        )
