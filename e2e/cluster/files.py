"""Writing files that running components watch."""

from pathlib import Path


def write_if_changed(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write `text` whole, and only when it differs: kube-proxy ends when its file is touched."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.touch(mode=mode)
    partial.write_text(text)
    partial.rename(path)
