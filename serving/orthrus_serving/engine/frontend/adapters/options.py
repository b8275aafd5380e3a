"""The flags about adapters, read and checked before anything is loaded."""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.frontend.adapters.declared_file import AdaptersFile
from orthrus_serving.engine.frontend.adapters.loader import REPLACEMENTS
from orthrus_serving.engine.sendable_key import can_be_sent
from orthrus_serving.engine.start_error import Reason, StartError

ADMIN_KEY_VARIABLE = "ORTHRUS_ADMIN_KEY"
LEAST_SLOTS = 2
"""One for each task (`scheduling/limits.py`)."""
HEADROOM = 8
"""Adapters that may be added later, when `--max-cpu-loras` is not set."""


@dataclass(frozen=True)
class AdapterOptions:
    """What a replica serves besides the backbone."""

    file: AdaptersFile | None
    declared: tuple[Adapter, ...]
    embedding_adapter: str | None
    admin_keys: tuple[str, ...]

    @property
    def enabled(self) -> bool:
        return self.file is not None or bool(self.admin_keys)


def adapter_options(arguments: Namespace) -> AdapterOptions:
    """Reads the files; fills in vLLM's LoRA flags. Raises StartError (InvalidArguments)."""
    served = arguments.served_model_name or [arguments.model]
    file = _adapters_file(arguments, served)
    try:
        declared = (file.read() or ()) if file else ()
    except AdapterError as error:
        raise _invalid(f"--adapters-file: {error}") from error
    options = AdapterOptions(file, declared, arguments.embedding_adapter, _admin_keys(arguments))
    _check_embedding_adapter(options)
    _fill_in(arguments, options)
    return options


def _adapters_file(arguments: Namespace, served: Sequence[str]) -> AdaptersFile | None:
    if not arguments.adapters_file:
        return None
    return AdaptersFile(Path(arguments.adapters_file), served, arguments.embedding_adapter)


def _admin_keys(arguments: Namespace) -> tuple[str, ...]:
    """One key a line; none leaves the routes that need one away."""
    if arguments.admin_key_file:
        where = f"--admin-key-file {arguments.admin_key_file}"
        try:
            lines = Path(arguments.admin_key_file).read_text().splitlines()
        except OSError as error:
            raise _invalid(f"{where} cannot be read: {error.strerror}") from error
    else:
        where, lines = ADMIN_KEY_VARIABLE, os.environ.get(ADMIN_KEY_VARIABLE, "").splitlines()
    keys = tuple(key for line in lines if (key := line.strip()))
    if not keys and (arguments.admin_key_file or ADMIN_KEY_VARIABLE in os.environ):
        raise _invalid(f"{where} holds no key")
    if not all(map(can_be_sent, keys)):
        raise _invalid(f"{where} holds a key with other characters than printable ASCII")
    return keys


def _check_embedding_adapter(options: AdapterOptions) -> None:
    name = options.embedding_adapter
    # With an admin key it may be loaded over HTTP.
    if name is None or options.admin_keys:
        return
    if name not in {adapter.name for adapter in options.declared}:
        raise _invalid(f"--embedding-adapter {name} is not declared in --adapters-file")


def _fill_in(arguments: Namespace, options: AdapterOptions) -> None:
    """More adapters than slots take turns; more than vLLM keeps would be read in a step."""
    if not options.enabled and not arguments.enable_lora:
        return
    arguments.enable_lora = True
    count = len(options.declared)
    if arguments.max_loras is None:
        tasks = Counter(adapter.task for adapter in options.declared)
        # Those of one task are together at most all slots but the one that the other keeps.
        arguments.max_loras = max(LEAST_SLOTS, count, max(tasks.values(), default=0) + 1)
    if arguments.max_loras < LEAST_SLOTS:
        raise _invalid(
            f"--max-loras {arguments.max_loras} must be at least {LEAST_SLOTS}: each task keeps a "
            "slot, so that neither shuts out the other"
        )
    if arguments.max_cpu_loras is None:
        arguments.max_cpu_loras = max(arguments.max_loras, count) + HEADROOM
    if arguments.max_cpu_loras < max(arguments.max_loras, count):
        raise _invalid(
            f"--max-cpu-loras {arguments.max_cpu_loras} must be at least --max-loras "
            f"{arguments.max_loras} and the number of declared adapters, {count}"
        )
    arguments.max_cpu_loras += REPLACEMENTS


def _invalid(message: str) -> StartError:
    return StartError(Reason.INVALID_ARGUMENTS, message)
