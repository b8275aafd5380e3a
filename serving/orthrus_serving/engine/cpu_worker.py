"""vLLM's CPU worker with our model runner."""

import torch
from vllm.v1.worker.cpu_worker import CPUWorker

# vLLM's CPU worker replaces parts of torch as it is imported, before any model runner.
# isort: split
from vllm.v1.worker.cpu_model_runner import CPUModelRunner

from orthrus_serving.engine.runner import OrthrusModelRunner
from orthrus_serving.engine.v1_runner import require_v1_runner


class OrthrusCPUModelRunner(OrthrusModelRunner, CPUModelRunner):
    """Our model runner over vLLM's CPU one."""


class OrthrusCPUWorker(CPUWorker):
    """A CPU worker whose batches may mix generation and embedding requests."""

    def init_device(self) -> None:
        require_v1_runner(self)
        super().init_device()  # type: ignore[no-untyped-call]
        # `CPUWorker` has no hook that makes the runner. One without weights is untouched zero
        # pages, so making a second costs milliseconds and patches nothing.
        self.model_runner = OrthrusCPUModelRunner(self.vllm_config, torch.device("cpu"))
