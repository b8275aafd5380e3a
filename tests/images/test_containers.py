"""The built images run their code as a pod would: uid 1000, read-only root, no rights."""

import os
import shutil

import pytest

from e2e.images.check import check

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("buildah"), reason="images are built by root"
    ),
]


@pytest.mark.parametrize("name", ["operator", "serving-cpu"])
def test_the_code_imports_without_rights(name: str) -> None:
    check(name)
