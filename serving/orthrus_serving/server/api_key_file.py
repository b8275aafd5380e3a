"""API keys in a file that may change while the replica runs: a mounted Secret."""

import logging
import os
from pathlib import Path

from orthrus_serving.engine.sendable_key import can_be_sent
from orthrus_serving.server.api_key import ApiKeys

_Version = tuple[int, int, int]

_logger = logging.getLogger(__name__)


class ApiKeyFile:
    """The keys of a file, one a line; every one of them opens the replica.

    A changed file counts from the next request on. A file that is gone or holds no key changes
    nothing: it never opens the replica to all.

    Raises OSError and ValueError when the file cannot be read at first or holds no key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version = self._present_version()
        self._keys = ApiKeys(read_keys(path))

    def accept(self, authorization: str | None) -> bool:
        """Whether this value of the Authorization header opens the replica."""
        self._refresh()
        return self._keys.accept(authorization)

    def _refresh(self) -> None:
        try:
            version = self._present_version()
            if version == self._version:
                return
            self._keys = ApiKeys(read_keys(self._path))
        except (OSError, ValueError) as error:
            version = None
            if self._version is not None:
                _logger.warning("keeping the present API keys: %s", error)
        else:
            _logger.info("API keys read again from %s", self._path)
        self._version = version

    def _present_version(self) -> _Version | None:
        """Differs between any two contents; kubelet replaces the file, so its inode tells too."""
        found = os.stat(self._path)  # noqa: PTH116 (a few microseconds, at every request)
        return found.st_ino, found.st_mtime_ns, found.st_size


def read_keys(path: Path) -> list[str]:
    """The keys of a file: lines, without the white space around them; empty lines don't count.

    Raises OSError when it cannot be read, ValueError when it is no text, holds no key, or one with
    other characters than printable ASCII.
    """
    keys = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    if not keys:
        raise ValueError(f"{path} holds no API key")
    if not all(map(can_be_sent, keys)):
        raise ValueError(f"{path} holds an API key with other characters than printable ASCII")
    return keys
