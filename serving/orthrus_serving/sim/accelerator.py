"""What a device can do at most, from its data sheet."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Accelerator:
    """Peaks in FLOP/s (dense, 16 bit) and bytes/s; memory in bytes."""

    name: str
    flops: float
    bandwidth: float
    memory: float


A100_40GB = Accelerator("A100-40GB", flops=312e12, bandwidth=1.555e12, memory=40 * 2**30)
A40 = Accelerator("A40", flops=149.7e12, bandwidth=0.696e12, memory=48 * 2**30)
H200 = Accelerator("H200", flops=989e12, bandwidth=4.8e12, memory=141e9)

ACCELERATORS = {each.name.lower(): each for each in (A100_40GB, A40, H200)}
