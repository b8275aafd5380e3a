"""Where an adapter comes from, and bringing it to disk."""

import re
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError, first_line

CLAIMS_FOLDER = Path("/models")
"""Where the operator mounts volume claims, each under its name."""
FILES = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")

_HUB = re.compile(
    r"^hf://(?P<repository>[\w.-]+/[\w.-]+)(?P<folder>(/[\w.-]+)*)(@(?P<revision>[\w./-]+))?$"
)
_CLAIM = re.compile(r"^pvc://(?P<claim>[a-z0-9]([-a-z0-9.]*[a-z0-9])?)(?P<path>/\S*)?$")


@dataclass(frozen=True)
class HubFolder:
    """A folder of a repository of the Hugging Face Hub."""

    repository: str
    folder: str
    """Without slashes around it; empty for the repository itself."""
    revision: str | None


def check_source(source: str) -> None:
    """Raises ValueError for a form that no source has."""
    place = _parse(source)
    if ".." in source.split("/"):
        raise ValueError("source may not contain .. as a path segment")
    if isinstance(place, Path) and not place.is_absolute():
        raise ValueError(
            "source must be an absolute path, hf://ORG/NAME[/FOLDER][@REVISION] or pvc://CLAIM/path"
        )


def is_on_hub(source: str) -> bool:
    """Whether to fetch it takes a network, and any time."""
    return isinstance(_parse(source), HubFolder)


def fetch(source: str) -> Path:
    """The folder that holds the adapter; downloads it when it is on the hub. Blocks.

    Raises AdapterError when there is no such adapter, or it cannot be had.
    """
    place = _parse(source)
    folder = place if isinstance(place, Path) else _download(place)
    if not folder.is_dir():
        raise AdapterError(f"{source} is not there: no folder {folder}", may_pass=True)
    return folder


def _parse(source: str) -> Path | HubFolder:
    if hub := _HUB.match(source):
        return HubFolder(hub["repository"], hub["folder"].strip("/"), hub["revision"])
    if claim := _CLAIM.match(source):
        return CLAIMS_FOLDER / claim["claim"] / (claim["path"] or "").strip("/")
    return Path(source)


def _download(place: HubFolder) -> Path:
    inside = f"{place.folder}/" if place.folder else ""
    try:
        snapshot = huggingface_hub.snapshot_download(
            place.repository,
            revision=place.revision,
            allow_patterns=[inside + file for file in FILES],
        )
    except Exception as error:  # the hub's client lets those of its transport through
        raise AdapterError(
            f"{place.repository} cannot be downloaded: {first_line(error)}", may_pass=True
        ) from error
    return Path(snapshot) / place.folder
