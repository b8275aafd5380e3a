"""Replicas of Orthrus for a command that needs nothing else to measure."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from orthrus_serving.bench.suite.devices import find_devices
from orthrus_serving.bench.suite.fleet import Fleet
from orthrus_serving.bench.suite.launch import Model, launch
from orthrus_serving.bench.suite.system import orthrus


@contextmanager
def replicas(model: str) -> Iterator[list[str]]:
    """Addresses of one replica on each device.

    Raises:
        EngineFailedError: one cannot be started; ends with the last lines of its log.
    """
    devices = find_devices(None, kv_cache_mib=512, engines_per_device=1, least=1)
    served = Model(model, length=2048, budget=2048, chunk=512, sequences=64)
    with tempfile.TemporaryDirectory() as logs:
        start = partial(launch, model=served, devices=devices, logs=Path(logs))
        with Fleet(devices, start) as fleet:
            yield fleet.urls(orthrus(devices.count).engines)
