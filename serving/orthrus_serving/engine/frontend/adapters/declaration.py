"""How an adapter is declared: the entries of `--adapters-file`."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.source import check_source
from orthrus_serving.pooling import HEADS

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:-]{0,252}$")]
Size = Annotated[int, Field(strict=True, ge=1)]

_EMBEDDING_FIELDS = ("pooling", "normalize", "end_token", "instruction", "dimensions")


class Adapter(BaseModel):
    """One LoRA adapter and how its requests are answered."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    name: Name
    """What clients send as `model`."""
    source: str
    """An absolute path, hf://ORG/NAME[/FOLDER][@REVISION] or pvc://CLAIM/path."""
    task: Literal["embed", "generate"]
    pooling: str | None = None
    """Head of its vectors; that of the server (`--embedding-pooling`) when not set."""
    normalize: bool = Field(default=True, strict=True)
    """Scale vectors to length 1."""
    end_token: Annotated[str, Field(min_length=1)] | None = None
    """Token of the vocabulary, such as </s>, that is put at the end of every input."""
    instruction: str = ""
    """Text that is put before every text input."""
    dimensions: Size | Annotated[tuple[Size, ...], Field(min_length=1)] | None = None
    """Matryoshka sizes that requests may ask for: a list of them, or every size up to a number."""

    @model_validator(mode="after")
    def _fits_task(self) -> Self:
        check_source(self.source)
        if self.task == "generate":
            set_in_vain = sorted(self.model_fields_set & set(_EMBEDDING_FIELDS))
            if set_in_vain:
                raise ValueError(f"{to_camel(set_in_vain[0])} is only for adapters of task embed")
        if self.pooling is not None and self.pooling not in HEADS:
            raise ValueError(f"pooling {self.pooling!r} is none of {', '.join(HEADS)}")
        return self

    def digest(self) -> str:
        """Hexadecimal SHA-256 of the entry as it was written, which tells whoever wrote it whether
        it has arrived: JSON with sorted keys, nothing that was left out."""
        entry = self.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()

    def allows(self, dimensions: int) -> bool:
        """Whether a request may ask for vectors of this size."""
        if self.dimensions is None:
            return False
        if isinstance(self.dimensions, int):
            return 1 <= dimensions <= self.dimensions
        return dimensions in self.dimensions

    @property
    def largest_size(self) -> int:
        """The largest of `dimensions`; 0 when there are none."""
        if self.dimensions is None:
            return 0
        return self.dimensions if isinstance(self.dimensions, int) else max(self.dimensions)


def parse_adapters(text: str, served_names: Collection[str]) -> tuple[Adapter, ...]:
    """The adapters that a file declares: YAML or JSON, `adapters:` and a list of entries.

    Raises AdapterError with one sentence for the first thing that is wrong.
    """
    try:
        content = yaml.safe_load(text)
    except Exception as error:  # not only YAMLError: a date of the 31st of June is a ValueError
        raise AdapterError(f"it is not YAML: {_one_line(error)}") from error
    entries = content.get("adapters") if isinstance(content, dict) else None
    if not isinstance(entries, list) or set(content) != {"adapters"}:
        raise AdapterError("it must hold the one key `adapters` with a list of entries")
    adapters = tuple(parse_adapter(entry, f"adapter {i}") for i, entry in enumerate(entries))
    for name in _repeated(adapter.name for adapter in adapters):
        raise AdapterError(f"the name {name} is declared twice")
    for adapter in adapters:
        if adapter.name in served_names:
            raise AdapterError(f"{adapter.name} is the name of the served model: choose another")
    return adapters


def require_embeds(adapter: Adapter, embedding_adapter: str | None) -> None:
    """Raises AdapterError for another task under the name that stands for the served names."""
    if adapter.name == embedding_adapter and adapter.task != "embed":
        raise AdapterError(
            f"{adapter.name} has task {adapter.task}, and is the --embedding-adapter: its task "
            "must be embed"
        )


def parse_adapter(entry: Any, where: str) -> Adapter:
    """Raises AdapterError; `where` says which entry it was, for one without a name."""
    try:
        return Adapter.model_validate(entry)
    except ValidationError as error:
        name = entry.get("name", where) if isinstance(entry, dict) else where
        raise AdapterError(f"{name}: {_sentence(error.errors()[0])}") from error


def _sentence(error: ErrorDetails) -> str:
    field = ".".join(str(part) for part in error["loc"] if part != "function-after[_fits_task()]")
    said = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"there is no field {field}"
    if error["type"] == "missing":
        return f"the field {field} is missing"
    return f"{field}: {said}" if field else said


def _repeated(names: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)


def _one_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))
