"""vLLM's GPU worker with our model runner. Never run on a GPU so far."""

from vllm.v1.worker.gpu_worker import Worker

from orthrus_serving.engine.runner import OrthrusModelRunner
from orthrus_serving.engine.v1_runner import require_v1_runner


class OrthrusGPUWorker(Worker):
    """A GPU worker whose batches may mix generation and embedding requests."""

    def _make_model_runner(self) -> OrthrusModelRunner:
        require_v1_runner(self)
        return OrthrusModelRunner(self.vllm_config, self.device)
