"""An identifier that two replicas share exactly when their vectors may be compared."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orthrus_serving.engine.frontend.checkpoint import Checkpoint
from orthrus_serving.pooling import head_identity

HEADER = "orthrus-embedding-space"
ID_LENGTH = 16
_SAMPLE_BYTES = 256
_CONFIGURATION = ("config.json", "params.json")
_TOKENIZER = (
    "added_tokens.json",
    "merges.txt",
    "special_tokens_map.json",
    "tekken.json",
    "tokenizer.json",
    "tokenizer.model*",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""Names in the forms of Transformers and of Mistral."""


@dataclass(frozen=True)
class EmbeddingSpace:
    """What decides a vector, besides its text."""

    checkpoint: str
    """`checkpoint_digest` of the model."""
    dtype: str
    pooling: str
    normalized: bool
    flags: tuple[str, ...] = ()
    """`name=value` of the flags that change how the checkpoint is read or computed."""
    chat_template: str = ""
    """The text that turns messages into a prompt; empty when there is none."""
    adapter: str = ""
    """Digest of the LoRA adapter's content; empty for the backbone."""
    dimensions: int | None = None
    """Numbers kept of a vector; None for all."""
    end_token: str = ""
    instruction: str = ""

    @property
    def identifier(self) -> str:
        content = asdict(self) | {"pooling": head_identity(self.pooling)}
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


def checkpoint_digest(checkpoint: Checkpoint) -> str:
    """Digest of what is loaded of a model, wherever it lies: hexadecimal SHA-256.

    Configuration and tokenizer are read whole. Of a safetensors file the header (every tensor's
    name, type and shape) and three samples of each tensor are read: megabytes instead of
    gigabytes, and any training run changes samples of the tensors it trains. Weights in other
    formats are read whole.
    """
    digest = hashlib.sha256()
    for file in (
        *_files(checkpoint.configuration, _CONFIGURATION),
        *_files(checkpoint.tokenizer, _TOKENIZER),
        *checkpoint.weights,
    ):
        digest.update(file.name.encode())
        for part in _safetensors_samples(file) if file.suffix == ".safetensors" else _blocks(file):
            digest.update(part)
    return digest.hexdigest()


def _files(folder: Path, patterns: Sequence[str]) -> Sequence[Path]:
    return sorted(file for pattern in patterns for file in folder.glob(pattern))


def _safetensors_samples(file: Path) -> Iterator[bytes]:
    """The header, then start, middle and end of each tensor (format: huggingface/safetensors)."""
    with file.open("rb") as stream:
        header_size = int.from_bytes(stream.read(8), "little")
        header = stream.read(header_size)
        yield header
        for name, tensor in sorted(json.loads(header).items()):
            if name == "__metadata__":
                continue
            begin, end = tensor["data_offsets"]
            last = max(begin, end - _SAMPLE_BYTES)
            for offset in (begin, (begin + last) // 2, last):
                stream.seek(8 + header_size + offset)
                yield stream.read(min(_SAMPLE_BYTES, end - offset))


def _blocks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block
