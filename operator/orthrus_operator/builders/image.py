"""Which serving image a replica runs."""

from orthrus_operator.api.pods import Image


def image_reference(wanted: Image | None, default: str) -> str:
    """`default`, the operator's full reference, with the parts that the spec sets replaced."""
    if not wanted or not wanted.tag:
        return default
    return f"{wanted.repository or _repository(default)}:{wanted.tag}"


def _repository(reference: str) -> str:
    """`reference` without tag and digest; a colon before the last slash belongs to a port."""
    name = reference.partition("@")[0]
    host, slash, last = name.rpartition("/")
    return f"{host}{slash}{last.partition(':')[0]}"
