"""The weights that the soak loads."""

from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from e2e.soak.adapter_loads import new_versions


def test_every_version_has_weights_of_its_own_and_the_last_one_only_is_kept(
    tmp_path: Path,
) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    save_file({"a": torch.ones(2, 2)}, adapter / "adapter_model.safetensors")
    seen = []
    for version in islice(new_versions(adapter, tmp_path), 20):
        assert (version / "adapter_config.json").exists()
        seen.append(float(load_file(version / "adapter_model.safetensors")["a"][0, 0]))
        assert len(list(tmp_path.glob("version-*"))) == 1
    assert len(set(seen)) == len(seen)
