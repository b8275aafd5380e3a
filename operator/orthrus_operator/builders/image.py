"""Which serving image a replica runs."""

from orthrus_operator.api.pods import Image


def image_reference(wanted: Image | None, default: str | None) -> str | None:
    """`default`, the operator's full reference, with the parts that the spec sets replaced.

    None when neither names a repository and a tag.
    """
    if not wanted or not wanted.tag:
        return default
    repository = wanted.repository or (default and _repository(default))
    return f"{repository}:{wanted.tag}" if repository else None


def _repository(reference: str) -> str:
    """`reference` without tag and digest; a colon before the last slash belongs to a port."""
    name = reference.partition("@")[0]
    host, slash, last = name.rpartition("/")
    return f"{host}{slash}{last.partition(':')[0]}"
