"""The worker class of this platform, by the names that `--worker-cls` takes."""

from vllm.platforms import current_platform

# Importing vLLM's CPU worker replaces parts of torch.cuda: never import it beside a GPU.
if current_platform.is_cpu():
    from orthrus_serving.engine.cpu_worker import OrthrusCPUWorker

    __all__ = ["OrthrusCPUWorker"]
else:
    from orthrus_serving.engine.gpu_worker import OrthrusGPUWorker

    __all__ = ["OrthrusGPUWorker"]
