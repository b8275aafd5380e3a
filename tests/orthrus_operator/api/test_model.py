"""Sources are taken apart as the schema lets them through."""

import pytest

from orthrus_operator.api.model import ClaimSource, HubSource, Model


@pytest.mark.parametrize(
    ("source", "location"),
    [
        ("hf://mistralai/Mistral-7B-v0.3", HubSource("mistralai/Mistral-7B-v0.3")),
        ("pvc://models", ClaimSource("models", "")),
        ("pvc://models/", ClaimSource("models", "")),
        ("pvc://models/a/b/", ClaimSource("models", "a/b")),
    ],
)
def test_location(source: str, location: HubSource | ClaimSource) -> None:
    assert Model(source=source).location() == location
