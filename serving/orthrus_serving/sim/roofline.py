"""The time of a step from what it must read and compute, and what the device can do."""

from dataclasses import dataclass
from functools import cached_property

from orthrus_serving.sim.accelerator import Accelerator
from orthrus_serving.sim.model_shape import ModelShape
from orthrus_serving.sim.step_load import StepLoad


@dataclass(frozen=True)
class Roofline:
    """Two phases, each as long as the slower of its traffic and its arithmetic: the matrices,
    whose weights are read once whatever the batch, and attention, which reads the KV cache.

    Args:
        fixed: seconds of every step that are neither, such as planning and launching kernels.
        bandwidth_share, flops_share: what is reached of the peaks.
    """

    accelerator: Accelerator
    model: ModelShape
    fixed: float
    bandwidth_share: float
    flops_share: float

    def seconds(self, load: StepLoad) -> float:
        tokens = load.chunk_tokens + load.decode_tokens
        matrices = max(self._weights, self._token * tokens)
        attention = max(self._kv_token * load.kv_tokens, self._pair * load.pairs)
        return self.fixed + matrices + attention

    @cached_property
    def _weights(self) -> float:
        return self.model.weight_bytes / self._bandwidth

    @cached_property
    def _token(self) -> float:
        return self.model.flops_per_token / self._flops

    @cached_property
    def _kv_token(self) -> float:
        return self.model.kv_bytes_per_token / self._bandwidth

    @cached_property
    def _pair(self) -> float:
        return self.model.flops_per_pair / self._flops

    @property
    def _bandwidth(self) -> float:
        return self.accelerator.bandwidth * self.bandwidth_share

    @property
    def _flops(self) -> float:
        return self.accelerator.flops * self.flops_share

    def kv_tokens(self, memory_share: float, workspace: float) -> int:
        """Tokens whose keys and values fit beside the weights and `workspace` bytes.

        Raises ValueError when none do.
        """
        free = self.accelerator.memory * memory_share - self.model.weight_bytes - workspace
        if free < self.model.kv_bytes_per_token:
            raise ValueError(f"{self.model.name} does not fit on {self.accelerator.name}")
        return int(free / self.model.kv_bytes_per_token)
