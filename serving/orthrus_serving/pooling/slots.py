"""Where the states of live requests lie: rows of one fp32 device buffer."""

import torch
from torch import Tensor


class StateSlots:
    """Hands out rows of a [capacity, hidden size] fp32 buffer, allocated once."""

    def __init__(self, capacity: int, hidden_size: int, device: torch.device) -> None:
        self._states = torch.zeros(capacity, hidden_size, dtype=torch.float32, device=device)
        self._free = list(range(capacity - 1, -1, -1))

    def __getitem__(self, slot: int) -> Tensor:
        """The state itself, fp32 [hidden size], not a copy."""
        return self._states[slot]

    @property
    def taken(self) -> int:
        return len(self._states) - len(self._free)

    def acquire(self) -> int | None:
        """A free slot, with whatever its last holder left in it; None when all are taken."""
        return self._free.pop() if self._free else None

    def release(self, slot: int) -> None:
        self._free.append(slot)
