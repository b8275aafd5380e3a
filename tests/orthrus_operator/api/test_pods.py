"""Which tags the schema takes, by the pattern of its rule."""

import re

import pytest

from orthrus_operator.api.pods import Image
from orthrus_operator.api.schema import structural_schema

DIGEST = f"sha256:{'0a' * 32}"


@pytest.mark.parametrize(
    ("tag", "taken"),
    [
        ("1.2.3", True),
        (f"1.2.3@{DIGEST}", True),
        (f"{'a' * 128}@{DIGEST}", True),
        (f"{'a' * 129}@{DIGEST}", False),
        ("1.2.3@sha256:0", False),
        (f"@{DIGEST}", False),
        (DIGEST, False),
        ("a b", False),
    ],
)
def test_a_tag_may_pin_its_digest(tag: str, taken: bool) -> None:
    schema = structural_schema(Image)["properties"]["tag"]
    (rule,) = schema["x-kubernetes-validations"]
    pattern = rule["rule"].removeprefix("self.matches('").removesuffix("')")
    fits = len(tag) <= schema["maxLength"]
    assert (fits and re.search(pattern, tag) is not None) is taken
