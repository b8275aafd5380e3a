"""API keys of a replica."""

import hashlib
import secrets
from collections.abc import Iterable
from typing import Protocol


class Keys(Protocol):
    """Something that knows which keys open the replica."""

    def accept(self, authorization: str | None) -> bool:
        """Whether this value of the Authorization header opens the replica."""
        ...


class ApiKeys:
    """The keys that open a replica; none given means that it is open to all.

    Digests are compared, in constant time, so that neither length nor prefix of a key leaks.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = [_digest(key) for key in keys if key]

    @property
    def none_set(self) -> bool:
        return not self._digests

    def accept(self, authorization: str | None) -> bool:
        """Whether this value of the Authorization header opens the replica."""
        if not self._digests:
            return True
        scheme, _, key = (authorization or "").partition(" ")
        given = _digest(key)
        matches = [secrets.compare_digest(given, digest) for digest in self._digests]
        return scheme.lower() == "bearer" and any(matches)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
