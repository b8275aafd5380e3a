"""The files of a model that vLLM reads, in a folder on disk or in its caches of the hub.

A cache never holds a whole repository: vLLM asks for the files that it needs, the weights into
`--download-dir` and the rest into the hub's own cache. So does what is here, by vLLM's own code:
its choice among formats of weights is also the truth about which files decide the vectors.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from vllm.config import LoadConfig
from vllm.model_executor.model_loader import get_model_loader
from vllm.model_executor.model_loader.default_loader import DefaultModelLoader
from vllm.transformers_utils.repo_utils import get_non_weight_snapshot_path

from orthrus_serving.engine.start_error import Reason, StartError


@dataclass(frozen=True)
class Location:
    """A folder on disk, or a repository of the hub at a revision."""

    name: str
    revision: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """Where the parts of a model lie."""

    configuration: Path
    """Folder of `config.json`."""
    tokenizer: Path
    """Folder of the tokenizer's files; often the same."""
    weights: tuple[Path, ...]
    """The files that are loaded, and no others; sorted."""


def find_checkpoint(model: Location, tokenizer: Location, load: LoadConfig) -> Checkpoint:
    """Downloads what is not there yet: minutes, blocking.

    Raises StartError, and whatever the hub's client and vLLM raise when there is no such model.
    """
    return Checkpoint(_settings(model), _settings(tokenizer), _weights(model, load))


def _settings(location: Location) -> Path:
    folder = Path(get_non_weight_snapshot_path(location.name, location.revision))
    if not folder.is_dir():  # vLLM answers the name again, and logs why at debug level
        raise StartError(
            Reason.MODEL_NOT_FOUND,
            f"the configuration of {location.name} cannot be downloaded from the Hugging Face Hub",
        )
    return folder


def _weights(model: Location, load: LoadConfig) -> tuple[Path, ...]:
    if load.load_format == "dummy":
        return ()
    loader = get_model_loader(load)
    if not isinstance(loader, DefaultModelLoader):  # another way to read the same files
        loader = DefaultModelLoader(replace(load, load_format="safetensors"))
    _, files, _, _ = loader._prepare_weights(
        model.name,
        subfolder=None,
        revision=model.revision,
        fall_back_to_pt=True,
        allow_patterns_overrides=None,
    )
    return tuple(sorted(map(Path, files)))
