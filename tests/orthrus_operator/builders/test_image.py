"""The parts of an image reference that the spec sets replace the operator's own."""

import pytest

from orthrus_operator.api.pods import Image
from orthrus_operator.builders.image import image_reference

DEFAULT = "registry.example:5000/orthrus/serving:1.0"


@pytest.mark.parametrize(
    ("image", "default", "reference"),
    [
        (None, DEFAULT, DEFAULT),
        (Image(pull_policy="Never"), DEFAULT, DEFAULT),
        (Image(tag="2.0"), DEFAULT, "registry.example:5000/orthrus/serving:2.0"),
        (Image(tag="2.0"), "registry.example:5000/serving", "registry.example:5000/serving:2.0"),
        (Image(tag="2.0"), "serving@sha256:abc", "serving:2.0"),
        (Image(tag="2.0@sha256:def"), "serving:1.0@sha256:abc", "serving:2.0@sha256:def"),
        (Image(repository="other/serving", tag="2.0"), DEFAULT, "other/serving:2.0"),
        (Image(repository="other/serving", tag="2.0"), None, "other/serving:2.0"),
        (Image(tag="2.0"), None, None),
        (None, None, None),
    ],
)
def test_image_reference(image: Image | None, default: str | None, reference: str | None) -> None:
    assert image_reference(image, default) == reference
