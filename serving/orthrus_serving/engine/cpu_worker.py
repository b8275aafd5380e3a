"""vLLM's CPU worker with our model runner."""

import torch
from torch import nn
from vllm.config import VllmConfig
from vllm.v1.worker.cpu_worker import CPUWorker

# vLLM's CPU worker replaces parts of torch as it is imported, before any model runner.
# isort: split
from vllm.v1.worker.cpu_model_runner import CPUModelRunner

from orthrus_serving.engine.cpu_lora import use_runwise_kernels
from orthrus_serving.engine.runner import OrthrusModelRunner
from orthrus_serving.engine.v1_runner import require_v1_runner


class OrthrusCPUModelRunner(OrthrusModelRunner, CPUModelRunner):
    """Our model runner over vLLM's CPU one."""

    def load_lora_model(
        self, model: nn.Module, vllm_config: VllmConfig, device: torch.device
    ) -> nn.Module:
        model = super().load_lora_model(model, vllm_config, device)
        use_runwise_kernels(self.lora_manager._adapter_manager)
        return model


class OrthrusCPUWorker(CPUWorker):
    """A CPU worker whose batches may mix generation and embedding requests."""

    def init_device(self) -> None:
        require_v1_runner(self)
        super().init_device()  # type: ignore[no-untyped-call]
        # `CPUWorker` has no hook that makes the runner. One without weights is untouched zero
        # pages, so making a second costs milliseconds and patches nothing.
        self.model_runner = OrthrusCPUModelRunner(self.vllm_config, torch.device("cpu"))
