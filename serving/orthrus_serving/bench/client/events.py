"""Messages of a server-sent event stream."""

from collections.abc import Iterator


class EventLines:
    """Splits what arrives into the data of messages; the OpenAI API has one line in each."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, received: bytes) -> Iterator[bytes]:
        """Data of the messages that `received` completes."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
